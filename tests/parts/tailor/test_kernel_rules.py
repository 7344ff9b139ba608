# SPDX-License-Identifier: MIT
"""The rules as data: complete, free of contradiction, in step with the study, the gates and the documentation."""

import re
import tomllib
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import pytest

from rtqual.base.architecture import AMD64, ARM64, Architecture
from rtqual.base.errors import BadInput
from rtqual.engine.kernel import needs as gates
from rtqual.engine.mission import Need
from rtqual.parts.tailor.configure.rules import Removal, Wish, groups, needs, removals, wishes
from rtqual.parts.tailor.configure.rules_table import table

ARCHITECTURES = pytest.mark.parametrize("architecture", [AMD64, ARM64], ids=lambda one: str(one.name))


def test_the_removal_list_is_the_studys() -> None:
    text = (files("rtqual.parts.studies") / "data/aarest.toml").read_text()
    menus = tomllib.loads(text)["removed_drivers"]["menus"]
    assert [one.menu for one in removals()] == menus
    assert len(removals()) == 32
    assert len({one.id for one in removals()}) == 32
    assert set(groups()) == {one.group for one in removals()}


def test_every_need_of_a_mission_and_of_the_tailor_has_rules() -> None:
    of_rtqual = {"filesystems", "virtual-board", "test-modules", "resets", "raspberry-pi", "systemd", "userland"}
    assert {*Need, *of_rtqual} == set(needs())


@ARCHITECTURES
def test_what_the_tailor_switches_on_meets_the_gates(architecture: Architecture) -> None:
    for need in Need:
        wanted = wishes([need], architecture, (6, 12))
        config = "".join(f"CONFIG_{one.symbol}={one.value}\n" for one in wanted if one.value != "n")
        (check,) = gates.check_needs([need], config)
        assert check.ok, check.reason


@ARCHITECTURES
def test_no_two_needs_contradict_each_other(architecture: Architecture) -> None:
    for pair in combinations(needs(), 2):
        assert wishes(pair, architecture, (6, 12))
    every = {one.symbol: one for one in wishes(needs(), architecture, (6, 12))}
    assert every["HIGH_RES_TIMERS"] == Wish("HIGH_RES_TIMERS", "y", "realtime", every["HIGH_RES_TIMERS"].reason)
    forbidden = {name for entry in removals() for name in entry.symbols}
    assert not {name for name, wish in every.items() if wish.value != "n"} & forbidden


def test_rules_for_a_version_and_an_architecture() -> None:
    def names(architecture: Architecture, number: tuple[int, int]) -> set[str]:
        return {one.symbol for one in wishes(["realtime", "wifi"], architecture, number)}

    assert "SLUB_TINY" in names(AMD64, (6, 12))
    assert "SLUB_TINY" not in names(AMD64, (6, 1))
    assert "BRCMFMAC" in names(ARM64, (6, 12)) - names(AMD64, (6, 12))


def test_built_in_wins_over_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    from rtqual.parts.tailor.configure import rules

    def rule(**keys: object) -> rules.Rule:
        return rules.Rule.model_validate({"reason": "for a reason", **keys})

    made = {"userland": (rule(module=["A", "B"]),), "usb": (rule(on=["A"]),), "wifi": (rule(off=["B"]),)}
    monkeypatch.setattr(rules, "needs", lambda: made)
    monkeypatch.setattr(gates, "rules", dict)
    assert {one.symbol: one.value for one in wishes(["usb"], AMD64, (6, 12))} == {"A": "y", "B": "m"}
    with pytest.raises(
        BadInput, match=r"the needs userland and wifi contradict each other: B=m .* B=n .*leave one out"
    ):
        wishes(["wifi"], AMD64, (6, 12))


def test_every_rule_has_a_sentence_and_no_symbol_twice() -> None:
    for need, rules in needs().items():
        for rule in rules:
            names = [*rule.on, *rule.module, *rule.off, *rule.set]
            assert names and len(names) == len(set(names)), need
            assert rule.reason == rule.reason.strip()
    assert all(isinstance(one, Removal) and not re.search(r"[.\s]$", one.reason) for one in removals())


def test_the_documentation_has_the_list() -> None:
    text = (Path(__file__).parents[3] / "docs/verification/tailor.md").read_text()
    assert table() in text, "write it anew: python -m rtqual.parts.tailor.rules_table"
