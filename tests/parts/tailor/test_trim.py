# SPDX-License-Identifier: MIT
"""Evidence-driven trim: what is proposed, which proposals hold, and what is kept and told of them. The trees here
hold a few files; tests/parts/tailor/test_trim_full.py trims a real kernel."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtqual.base.errors import BadInput
from rtqual.engine.analysis.model import Evidence as Analysis
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.folder import Result
from rtqual.engine.mission import Mission
from rtqual.parts.tailor.command import tailor
from rtqual.parts.tailor.configure.kconfig import Kconfig
from rtqual.parts.tailor.configure.rules import Wish
from rtqual.parts.tailor.tailor_account import ACCOUNTS, Account, Accounts, with_trims
from rtqual.parts.tailor.trim.objects import Code
from rtqual.parts.tailor.trim.search import (
    BOOT,
    NEVER,
    REGISTERED,
    KernelEvidence,
    Proposal,
    Protected,
    Trim,
    propose,
    protected_rules,
)
from rtqual.parts.tailor.trim.stage import Trial
from rtqual.parts.tailor.trim.trimmed import (
    ACCEPTED,
    REFUSED,
    TRIMS,
    UNTRIED,
    JudgedSymbol,
    Size,
    Trimmed,
    Trims,
    Unused,
)
from support.kernel_trees import write_tree
from support.written_report import write_report

# --- what is proposed -----------------------------------------------------------------------------------------------

KCONFIG = """
config NET
    bool "Network"
    default y

config WIFI
    tristate "Wi-Fi"
    depends on NET
    default y
    select CIPHERS

config CIPHERS
    bool "Ciphers"

config KEYS
    bool "Keys"
    default y
    select PARSER

config PARSER
    bool

config CERTIFICATES
    bool "Certificates"
    depends on KEYS
    default y

config SPEED
    bool "Congestion control" if ADVANCED
    default y

config ADVANCED
    bool "Choose between congestion controls"

config DOG
    bool "Watchdog"
    default y

config HIDDEN
    def_bool y
"""
GATES = {
    "net.o": {"NET"},
    "wifi.o": {"NET", "WIFI"},
    "ciphers.o": {"CIPHERS"},
    "keys.o": {"KEYS"},
    "parser.o": {"PARSER"},
    "certificates.o": {"CERTIFICATES"},
    "speed.o": {"NET", "SPEED"},
    "dog.o": {"DOG"},
    "hidden.o": {"HIDDEN"},
}
WISHES = [Wish("WIFI", "y", "wifi", "the link between the segments")]
RULES = (Protected(symbols=("DOG",), reason="notices that the computer hangs"),)


def proposed(
    tmp_path: Path, used: dict[str, set[str]], booting: dict[str, set[str]] | None = None
) -> tuple[dict[str, Proposal], dict[str, str], Trim]:
    tree = write_tree(tmp_path / "tree", KCONFIG)
    (tmp_path / ".config").write_text("CONFIG_MODULES=y\n")
    tree.make(tmp_path, "olddefconfig")
    kconfig = Kconfig(tree)
    kconfig.read(tmp_path / ".config")
    before = {name: kconfig.value(name) for name in kconfig}
    code = {
        name: Code(100 * number, {"run": ".text", "setup": ".init.text"}) for number, name in enumerate(sorted(GATES))
    }
    evidence = KernelEvidence(
        {name: frozenset(symbols) for name, symbols in GATES.items()}, code,
        {name: frozenset(functions) for name, functions in (booting or {}).items()},
        {name: frozenset(functions) for name, functions in used.items()},
    )  # fmt: skip
    found = propose(kconfig, evidence, WISHES, RULES)
    assert {name: kconfig.value(name) for name in kconfig} == before, "trying changes nothing"
    return {one.symbol: one for one in found.proposals}, {one.symbol: one.kind for one in found.kept}, found


def test_what_no_need_names_and_no_run_entered_is_proposed_with_what_depends_on_it(tmp_path: Path) -> None:
    booting = {"certificates.o": {"run"}, "speed.o": {"setup"}}
    found, kept, trim = proposed(tmp_path, {"net.o": {"run"}}, booting)
    assert set(found) == {"KEYS", "SPEED"}
    keys, speed = found["KEYS"], found["SPEED"]
    assert keys.takes == ("CERTIFICATES", "PARSER") and keys.brings == ()
    assert set(keys.objects) == {"keys.o", "parser.o", "certificates.o"}
    assert (keys.seen, speed.seen, speed.brings) == (BOOT, REGISTERED, ("ADVANCED",))
    assert kept == {"WIFI": "asked for", "CIPHERS": "held", "DOG": "protected"}
    assert [one.size_b for one in trim.proposals] == sorted((one.size_b for one in trim.proposals), reverse=True)
    assert (trim.objects, trim.entered, trim.functions, trim.functions_entered) == (9, 1, 9, 1)
    assert trim.functions_at_boot == 1


def test_what_something_used_depends_on_stays(tmp_path: Path) -> None:
    found, kept, trim = proposed(tmp_path, {"net.o": {"run"}, "certificates.o": {"run"}})
    assert "KEYS" not in found and kept["KEYS"] == "held"
    (reason,) = (one.reason for one in trim.kept if one.symbol == "KEYS")
    assert reason == "certificates.o would go with it, and was entered"
    assert found["SPEED"].seen == NEVER


def test_every_protection_has_its_reason() -> None:
    assert all(rule.symbols or rule.objects for rule in protected_rules())
    named = [name for rule in protected_rules() for name in (*rule.symbols, *rule.objects)]
    assert len(named) == len(set(named)) and not any(name.startswith("CONFIG_") for name in named)


# --- what holds -----------------------------------------------------------------------------------------------------


def proposal(symbol: str) -> Proposal:
    return Proposal(symbol, "General", symbol.lower(), (), (), (f"{symbol}.o",), 100, NEVER)


def tried(names: str, bad: str, builds: int) -> tuple[str, dict[str, str], list[str]]:
    """Kernels that fail without any of `bad`."""
    seen: list[str] = []

    def passes(without: Sequence[str]) -> str:
        seen.append("".join(without))
        missing = [name for name in without if name in bad]
        return f"no {missing[0]}" if missing else ""

    trial = Trial(passes, builds)
    accepted = trial.run([proposal(name) for name in names])
    return "".join(accepted), {name: state for name, (state, _) in trial.judged.items()}, seen


def test_all_proposals_are_tried_at_once() -> None:
    assert tried("abcd", "", 6) == ("abcd", dict.fromkeys("abcd", ACCEPTED), ["abcd"])
    assert tried("", "", 6) == ("", {}, [])


def test_the_one_that_fails_is_found_by_halving_and_the_others_are_kept() -> None:
    accepted, states, seen = tried("abcd", "c", 6)
    assert accepted == "abd" and states["c"] == REFUSED
    assert seen == ["abcd", "ab", "abcd", "abc", "abd"]


def test_when_the_builds_are_used_up_the_rest_is_not_tried() -> None:
    accepted, states, seen = tried("abcd", "ad", 3)
    assert (accepted, seen) == ("", ["abcd", "ab", "a"])
    assert states == {"a": REFUSED, **dict.fromkeys("bcd", UNTRIED)}


@settings(deadline=None)
@given(st.sets(st.sampled_from("abcdefgh")), st.integers(0, 20))
def test_what_is_accepted_was_tried_together(bad: set[str], builds: int) -> None:
    accepted, states, seen = tried("abcdefgh", "".join(bad), builds)
    assert not set(accepted) & bad and len(seen) <= builds and set(states) == set("abcdefgh")
    assert not accepted or accepted in seen
    assert {name for name, state in states.items() if state == REFUSED} <= bad


# --- what is kept and told ------------------------------------------------------------------------------------------

TRIMMED = Trimmed(
    candidate="tailored", kernel_sha256="c0ffee", scale="tailor", scenario=("cyclictest, load none", "exercise"),
    modules=("vivid",), objects=1337, objects_entered=553, functions=26_596, functions_entered=6_959,
    functions_at_boot=2_629,
    proposals=(
        JudgedSymbol(symbol="KEYS", menu="Security options", prompt="Keys", takes=("PARSER",), brings=("ADVANCED",),
               objects=("keys.o", "parser.o"), size_b=27_200, seen=BOOT, state=ACCEPTED, why=""),
        JudgedSymbol(symbol="RADIO", menu="Device Drivers", prompt="Radio", takes=(), brings=(), objects=("radio.o",),
               size_b=900, seen=NEVER, state=REFUSED, why="exercise: radios_up is 0, at least 2 was due"),
    ),
    kept=(Unused(symbol="DOG", size_b=500, kind="protected", reason="notices that the computer hangs"),),
    builds=3,
    before=Size(image_size_b=2_600_000, installed_size_b=3_700_000, symbols_on=629, ram_used_b=5_200_000,
                kernel_memory_b=None),
    after=Size(image_size_b=2_500_000, installed_size_b=3_600_000, symbols_on=620, ram_used_b=5_100_000,
               kernel_memory_b=None),
)  # fmt: skip
ACCOUNT = Account(
    candidate="tailored", baseline=None, source="linux-source-6.12", version="6.12.3", release="6.12.3",
    architecture="amd64", start="minimal", compiler="gcc 12", sha256="c0ffee", files_compiled=1000, symbols_on=629,
    modules=(), entries=(), changes=(), explanations=(),
)  # fmt: skip


def test_a_trim_is_read_as_it_was_written_and_belongs_to_one_kernel(tmp_path: Path) -> None:
    assert kept.before(tmp_path, TRIMS) is None
    trims = Trims(kernels=(TRIMMED,))
    kept.keep(tmp_path, b"", "demo", Result((), {}, {}, {TRIMS.file: trims}))
    assert kept.before(tmp_path, TRIMS) == trims
    (account,) = with_trims({ACCOUNTS.file: Accounts(kernels=(ACCOUNT,)), TRIMS.file: trims})
    assert account.trim == TRIMMED and "trim" not in json.loads(account.model_dump_json())
    another = Accounts(kernels=(ACCOUNT.model_copy(update={"sha256": "another"}),))
    (other,) = with_trims({ACCOUNTS.file: another, TRIMS.file: trims})
    assert other.trim is None


@pytest.mark.guest
@settings(deadline=None)
@given(st.one_of(st.binary(max_size=200), st.recursive(st.none() | st.integers() | st.text(), st.lists).map(
    lambda value: json.dumps({"kernels": value}).encode()
)))  # fmt: skip
def test_a_damaged_trim_is_named(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("trim")
    (folder / TRIMS.file).write_bytes(content)
    try:
        kept.before(folder, TRIMS)
    except BadInput as error:
        assert str(folder) in str(error) and "\n" not in str(error)


def report_of(folder: Path, found: Trimmed) -> str:
    plan = {"instruments": ["footprint"], "runs": 1}
    mission = Mission.model_validate(
        {
            "mission": {"name": "docking", "title": "Docking", "purpose": "Docks.", "duration": 10**9},
            "candidate": [{"name": "tailored", "title": "Tailored", "tailor": {}}],
            "scale": {"tailor": {"plan": [plan]}},
        }
    )
    annexes = {ACCOUNTS.file: Accounts(kernels=(ACCOUNT,)), TRIMS.file: Trims(kernels=(found,))}
    write_report(folder, mission, Analysis((), (), (), scale="tailor"), [], {}, ("md",), None, annexes)
    return (folder / "report.md").read_text().replace("\u00a0", " ")


def test_the_report_tells_what_could_go_what_could_not_and_what_it_gains(tmp_path: Path) -> None:
    text = report_of(tmp_path, TRIMMED)
    lines = [line.replace("\\", "") for line in text.splitlines() if line.startswith("| ")]
    rows = {line[2:].split(" ")[0]: line for line in lines}
    assert "accepted" in rows["KEYS"] and "takes along PARSER; switches on ADVANCED" in rows["KEYS"]
    assert "refused" in rows["RADIO"] and "radios_up is 0, at least 2 was due" in rows["RADIO"]
    assert "0.9615" in rows["Image"] and "no footprint" in rows["Kernel"]
    assert 'forbid = ["KEYS"]' in text.replace("\\", "") and "notices that the computer hangs" in text


def test_the_report_says_when_nothing_could_go(tmp_path: Path) -> None:
    nothing = TRIMMED.model_copy(update={"proposals": (), "after": None, "builds": 0})
    assert "Nothing is proposed" in report_of(tmp_path, nothing)


def test_trim_and_stepwise_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--trim and --stepwise"):
        tailor(tmp_path / "mission.toml", trim=True, stepwise=True)
