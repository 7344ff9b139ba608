# SPDX-License-Identifier: MIT
"""Tailoring: what is kept of it, what the report says, missions that ask for it, and the exercise."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.analysis.figure.model import Figure, Group, Interval, Summary
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.folder import Result
from rtqual.engine.mission import Mission, load_mission
from rtqual.parts.tailor.stage import tailored
from rtqual.parts.tailor.tailor_account import ACCOUNTS, Account, Accounts, MenuChange, RemovalEntry
from rtqual.protocols.instrument import NoParameters
from rtqual.protocols.record.schema import Timing
from rtqual_docking.exercise import DISK_B, EXERCISE
from support.command import mission_text
from support.instrument_outputs import NOTHING, captured_text
from support.small_kernel import CONFIG
from support.written_report import write_report

# --- what a campaign keeps ------------------------------------------------------------------------------------------

ACCOUNT = Account(
    candidate="tailored", baseline="debian", source="linux-source-6.12", version="6.12.3", release="6.12.3",
    architecture="amd64", start="minimal", compiler="gcc 12", sha256="c0ffee", files_compiled=1000, symbols_on=700,
    modules=("MAC80211_HWSIM",),
    entries=(
        RemovalEntry(id="bluetooth", menu="Networking support -> Bluetooth", group="networking",
                     state="gone", text="off: BT"),
        RemovalEntry(id="leds", menu="Device drivers -> LED", group="leds", state="kept", text="LEDS is needed",
              held={"LEDS_CLASS": "MAC80211_LEDS selects it"}),
    ),
    changes=(MenuChange(menu="Device Drivers -> USB support", removed=3, added=41),),
    explanations=("USB was off: it depends on USB_SUPPORT; asked for USB_SUPPORT=y",),
)  # fmt: skip


KEPT = {ACCOUNTS.file: Accounts(kernels=(ACCOUNT,))}


def accounts_in(folder: Path) -> tuple[Account, ...]:
    found = kept.before(folder, ACCOUNTS)
    return found.kernels if found else ()


def test_an_account_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "tailor.json"
    assert accounts_in(tmp_path) == ()
    kept.keep(tmp_path, b"", "demo", Result((), {}, {}, KEPT))
    assert accounts_in(tmp_path) == (ACCOUNT,)
    kept.keep(tmp_path, b"", "demo", Result((), {}, {}))
    assert not path.exists()


@pytest.mark.guest
@given(st.one_of(st.binary(max_size=200), st.recursive(st.none() | st.integers() | st.text(), st.lists).map(
    lambda value: json.dumps({"kernels": value}).encode()
)))  # fmt: skip
def test_a_damaged_account_is_named(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("account") / "tailor.json"
    path.write_bytes(content)
    try:
        accounts_in(path.parent)
    except BadInput as error:
        assert str(path) in str(error) and "\n" not in str(error)


def test_a_finished_campaign_keeps_its_accounts(tmp_path: Path) -> None:
    path = tmp_path / "mission.toml"
    path.write_text(mission_text("debian-rt"))
    mission = load_mission(path)
    (tmp_path / "out").mkdir()
    kept.keep(tmp_path / "out", path.read_bytes(), "demo", Result((), {}, {"debian-rt": CONFIG}, KEPT))
    again = kept.load(tmp_path / "out")
    assert again.result.annexes == KEPT and again.mission.sha256 == mission.sha256
    kept.keep(tmp_path / "out", path.read_bytes(), "demo", Result((), {}, {}))
    assert kept.load(tmp_path / "out").result.annexes == {}


# --- the report -----------------------------------------------------------------------------------------------------


def measured(goals: dict[str, str]) -> tuple[Mission, Evidence]:
    plan = {"instruments": ["footprint"], "runs": 1}
    mission = Mission.model_validate(
        {
            "mission": {"name": "docking", "title": "Docking", "purpose": "Docks.", "duration": 10**9},
            "candidate": [
                {"name": "debian", "title": "Debian", "package": "linux-image-rt-amd64"},
                {"name": "tailored", "title": "Tailored", "tailor": {"goals": goals}},
            ],
            "scale": {"tailor": {"plan": [plan]}},
        }
    )
    summaries = []
    for name, factor in (("debian", 4.0), ("tailored", 1.0)):
        sizes = {"image_size": Figure(2_500_000 * factor, "B", 1, 1, None, "1 run"),
                 "start_up": Figure(1e9 * factor, "ns", 1, 1, None, "1 run"),
                 "ram_used": Figure(20e6 * factor, "B", 1, 1, None, "1 run")}  # fmt: skip
        summaries.append(Summary(Group("footprint", "none", "virtual", 1, name), Timing.UNTESTED, 1, 0, sizes, None))
        latency = {"max": Figure(14_000 * factor, "ns", 3000, 10, Interval(1, 2, "order statistics"))}
        summaries.append(
            Summary(Group("cyclictest", "none", "virtual", 1, name), Timing.UNTESTED, 10, 3000, latency, None)
        )
    return mission, Evidence(tuple(summaries), (), (), scale="tailor")


def test_the_report_says_what_tailoring_gained(tmp_path: Path) -> None:
    mission, evidence = measured({"image_size": "3 MB", "ram_used": "10 %", "boot_to_user_space": "33 %"})
    write_report(tmp_path, mission, evidence, [], {}, ("md",), None, KEPT)
    text = (tmp_path / "report.md").read_text().replace("\u00a0", " ")
    rows = {line.split("|")[1].strip(" ᵃᵇᶜ"): line for line in text.splitlines() if line.startswith("| ")}
    assert "at most 3 MB: met" in rows["image size"] and " 0.25 |" in rows["image size"]
    assert "at most 10 % of before: missed" in rows["ram used"]
    assert "at most 33 % of before: not measured" in rows["boot to user space"]
    assert "14 µs" in rows["max"] and "not compared" in rows["max"]
    assert "off: BT" in rows["Networking support → Bluetooth"]
    assert "MAC80211_LEDS selects it" in rows["Device drivers → LED"]
    assert "1 gone, 1 kept" in text and " 41 |" in rows["Device Drivers → USB support"]


@pytest.mark.parametrize(("limit", "said"), [("2 s", "met on the emulator"), ("1 ms", "not met on the emulator"),
                                             ("30 %", "of before: met")])  # fmt: skip
def test_a_goal_in_time_is_no_more_met_by_counted_instructions_than_a_requirement(
    tmp_path: Path, limit: str, said: str
) -> None:
    mission, evidence = measured({"start_up": limit})
    write_report(tmp_path, mission, evidence, [], {}, ("md",), None, KEPT)
    text = (tmp_path / "report.md").read_text().replace("\u00a0", " ")
    (row,) = [line for line in text.splitlines() if "at most" in line and "start up" in line]
    assert said in row
    assert ("on the emulator" in row) != limit.endswith("%")


# --- missions -------------------------------------------------------------------------------------------------------


def test_docking_compares_the_tailored_kernel_with_the_same_version() -> None:
    mission = load_mission(Path(__file__).parents[3] / "docking/missions/docking.toml")
    candidate, *_ = tailored(mission, "tailor")
    assert candidate.tailor and candidate.board == "virtual"
    before = next(c for c in mission.candidates if c.name == mission.baseline(candidate))
    assert before.package == "linux-image-6.12-rt-amd64" and candidate.tailor.source == "linux-source-6.12"
    assert tailored(mission, "demo") == []
    plans = [plan for plan in mission.scale("tailor").plan if candidate in mission.candidates_of(plan)]
    assert {"cyclictest", "footprint"} <= {one for plan in plans for one in plan.instruments}
    for plan in plans:
        assert before in mission.candidates_of(plan) or plan.instruments == ("exercise",)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('package = "linux-image-amd64"\n[candidate.tailor]', "cannot stand beside [candidate.tailor]"),
        ('preempt = "full"\n[candidate.tailor]', "cannot stand beside [candidate.tailor]"),
        ("this-machine = true\n[candidate.tailor]", "cannot stand beside this-machine = true"),
        ('[candidate.tailor]\nbaseline = "other"', "no other candidate with a kernel is 'other'"),
        ('[candidate.tailor]\nforbid = ["CONFIG BT"]', "is not a kernel symbol"),
        ('[candidate.tailor]\narchitecture = "sparc"', "amd64"),
        ('[candidate.tailor]\ngoals.image_size = "small"', "is not a margin"),
    ],
)
def test_a_wrong_tailored_candidate_is_told_by_its_line(tmp_path: Path, written: str, said: str) -> None:
    path = tmp_path / "mission.toml"
    path.write_text(
        '[mission]\nname = "m"\ntitle = "t"\npurpose = "p"\nduration = "1 h"\n'
        f'[[candidate]]\nname = "x"\ntitle = "X"\n{written}\n'
        '[[scale.demo.plan]]\ninstruments = ["footprint"]\nruns = 1\n'
    )
    with pytest.raises(BadInput) as caught:
        load_mission(path)
    assert said in str(caught.value) and "\n" not in str(caught.value)


# --- the exercise ---------------------------------------------------------------------------------------------------

WORKED = captured_text("exercise")


def test_the_exercise_says_how_much_worked() -> None:
    measurement = EXERCISE.read(NoParameters(), replace(NOTHING, stdout=WORKED), cpus=1)
    assert {name: scalar.value for name, scalar in measurement.scalars.items()} == {
        "usb_disk_compared": DISK_B, "usb_camera_frames": 60, "camera_frames": 10, "radios_up": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (replace(NOTHING, stdout=WORKED.replace("radios_up: 2", "radios_up: 1")), "radios_up is 1, at least 2 was due"),
        (replace(NOTHING, stdout=WORKED.replace("camera_frames: 10\n", "")), "says nothing of camera_frames"),
        (replace(NOTHING, exit_code=1, stderr="no camera appeared\n"), "'no camera appeared'"),
    ],
)
def test_what_does_not_work_is_named(changed: object, said: str) -> None:
    with pytest.raises(RunFailed, match=said):
        EXERCISE.read(NoParameters(), changed, cpus=1)  # type: ignore[arg-type]  # of a parameter list
