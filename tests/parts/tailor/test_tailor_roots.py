# SPDX-License-Identifier: MIT
"""Kernels under the root of a system image: how a mission asks for one, what is measured and what the report says.

The real roots are booted by test_tailor_full.py.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.analysis.figure.model import Figure, Group, Interval, Summary
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.campaign.plan import plan
from rtqual.engine.candidates.roots import MEMORY_MIB
from rtqual.engine.instruments.footprint import FOOTPRINT
from rtqual.engine.mission import Mission, load_mission
from rtqual.parts.tailor.tailor_account import ACCOUNTS, Account, Accounts, JudgedRule
from rtqual.protocols.instrument import NoParameters
from rtqual.protocols.record.schema import Timing
from support.command import mission_text
from support.instrument_outputs import NOTHING, captured_text
from support.written_report import write_report

MISSION = {
    "mission": {"name": "docking", "title": "Docking", "purpose": "Docks.", "duration": 10**9},
    "candidate": [
        {"name": "debian-system", "title": "Debian", "package": "linux-image-rt-amd64", "root": "debian"},
        {"name": "uninstalled", "title": "Uninstalled", "package": "linux-image-rt-amd64", "root": "minimal"},
        {"name": "flight", "title": "Flight", "root": "minimal",
         "tailor": {"baseline": "debian-system", "goals": {"root_size": "4 MB", "installed_size": "2.5 %"}}},
        {"name": "tailored", "title": "Tailored", "tailor": {}},
    ],
    "scale": {"tailor": {"plan": [{"instruments": ["footprint"], "runs": 1}]}},
}  # fmt: skip


def test_a_kernel_under_a_root_gets_the_memory_to_unpack_it() -> None:
    shapes = {cell.candidate.name: cell.machine.memory_mib for cell in plan(Mission.model_validate(MISSION), "tailor")}
    assert shapes == {"debian-system": MEMORY_MIB, "uninstalled": MEMORY_MIB, "flight": MEMORY_MIB, "tailored": 512}


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('this-machine = true\nroot = "minimal"', "root: cannot stand beside this-machine = true"),
        ('rtos = "freertos"\nroot = "debian"', "root: cannot stand beside rtos"),
        ('package = "linux-image-amd64"\nroot = "fedora"', "root: "),
    ],
)
def test_a_root_where_none_can_be_is_told_by_its_line(tmp_path: Path, written: str, said: str) -> None:
    path = tmp_path / "mission.toml"
    text = mission_text("debian-rt").replace('package = "linux-image-rt-amd64"', written, 1)
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        load_mission(path)
    line = next(n for n, one in enumerate(text.splitlines(), 1) if one.startswith("root"))
    assert f"mission.toml:{line}: " in str(caught.value) and said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_footprint_says_what_the_root_takes_to_start() -> None:
    text = captured_text("footprint") + "boot to user space: 1000, until ready: 4500\n"
    facts = {"root_size": "2081814", "installed_with_minbase": "4900000"}
    scalars = FOOTPRINT.read(NoParameters(), replace(NOTHING, stdout=text, facts=facts), cpus=1).scalars
    assert (scalars["start_up"].value, scalars["start_up"].unit) == (3500, "ns")
    assert (scalars["root_size"].value, scalars["root_size"].unit) == (2_081_814, "B")
    assert scalars["installed_with_minbase"].value == 4_900_000


def measured() -> Evidence:
    sizes = {"debian-system": (300e6, 200e6), "uninstalled": (30e6, 2e6), "flight": (6e6, 2e6)}
    summaries = []
    for name, (installed_b, root_b) in sizes.items():
        footprint = {"installed_size": Figure(installed_b, "B", 1, 1, None, "1 run"),
                     "root_size": Figure(root_b, "B", 1, 1, None, "1 run")}  # fmt: skip
        latency = {"p99": Figure(14_000.0, "ns", 3000, 10, Interval(13_000, 15_000, "order statistics"))}
        for instrument, load, figures in (("footprint", "none", footprint), ("cyclictest", "hackbench", latency)):
            group = Group(instrument, load, "virtual", 1, name)
            summaries.append(Summary(group, Timing.UNTESTED, 1, 1, figures, None))
    return Evidence(tuple(summaries), (), (), scale="tailor")


def test_the_report_sets_whole_systems_beside_each_other_and_tells_a_kernel_once(tmp_path: Path) -> None:
    found = JudgedRule(id="huge-pages", title="huge pages", severity="warning", state="found", seen="CONFIG_X is y")
    asked = found.model_copy(update={"id": "governor", "state": "not known"})
    account = Account(
        candidate="tailored", baseline=None, source="linux-source-6.12", version="6.12.3", release="6.12.3",
        architecture="amd64", start="minimal", compiler="gcc 12", sha256="c0ffee", files_compiled=1, symbols_on=1,
        modules=(), entries=(), changes=(), explanations=(), lint=(found, asked), lint_rules=9,
    )  # fmt: skip
    accounts = [account, account.model_copy(update={"candidate": "flight"})]
    write_report(
        tmp_path,
        Mission.model_validate(MISSION),
        measured(),
        [],
        {},
        ("md",),
        None,
        {ACCOUNTS.file: Accounts(kernels=tuple(accounts))},
    )
    text = (tmp_path / "report.md").read_text().replace("\u00a0", " ")
    assert text.count("SHA-256 of its files: c0ffee") == 1
    assert "finds 0 errors, 1 warning, 0 notes" in text and "Of its 9 rules 1 are not answered" in text
    assert "CONFIG_X is y" in text and "governor" not in text
    _, _, systems = text.partition("Whole systems, virtual board")
    rows = {line.split("|")[1].strip(" ᵃᵇᶜ"): line for line in systems.splitlines() if line.startswith("| ")}
    assert "2 %" in rows["installed size"] and "at most 2.5 % of before: met" in rows["installed size"]
    assert "10 %" in rows["installed size"] and "at most 4 MB: met" in rows["root size"]
    assert "Wake-up latency of whole systems, under hackbench" in text
