# SPDX-License-Identifier: MIT
"""`rtqual verify` from a mission to its verification control document, with the real flight program in a guest."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rtqual.base.cache import sha256_of
from rtqual.base.errors import BadInput
from rtqual.engine.campaign.folder import CAMPAIGN, DERIVED, Result
from rtqual.engine.campaign.manifest import CampaignFile
from rtqual.engine.campaign.run import Watcher
from rtqual.engine.mission import load_mission
from rtqual.engine.procedure.compliance import Compliance
from rtqual.engine.procedure.played_log import PREFIX, log_of
from rtqual.protocols.record.schema import Record, Series, Timing
from rtqual.protocols.record.store import Store
from rtqual.reports.verification import Verified, latencies
from rtqual.stages import verify as stage
from rtqual_docking import camera_files
from rtqual_docking.procedures import model
from support.analysis_records import record
from support.built import built
from support.command import Run
from support.ground_log import TOP, procedure
from support.made_campaign import sealed

MISSION = TOP / "docking/missions/docking.toml"
SABOTAGED = {
    1: "camera-start-stop",
    2: "kernel-hang",
    3: "stream-steady",
    4: "packets-twice",
    5: "kernel-panic",
    7: "file-down",
    8: "file-lossy",
    9: "tags",
}  # docking/flight/program/sabotage.h


def test_the_list_is_what_is_played(rtqual: Run) -> None:
    done = rtqual("verify", MISSION, "--list", "--json")
    assert done.returncode == 0, done.stderr
    names = {one["name"] for one in json.loads(done.stdout)}
    assert {path.stem for path in (TOP / "docking/procedures").glob("*.toml")} == names


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--only", "camera-unplugged"), "there is no such procedure in .*; did you mean 'camera-unplug'"),
        (("--scale", "smok"), "--scale 'smok': did you mean 'smoke'"),
        (("--jobs", "3"), "at most two guests"),
        (("--candidate", "tailord"), "--candidate tailord: no candidate with a kernel is .*; did you mean 'tailored'"),
        (("--candidate", "this-machine"), "--candidate this-machine: no candidate with a kernel is"),
        (("--candidate", "debian-system"), "candidate debian-system: procedures are played under a minimal root"),
        (("--seeds", "0"), "--seeds 0: write 1 to"),
        (("--camera", "drive"), "--camera 'drive': did you mean 'driver'"),
    ],
)
def test_what_is_asked_wrongly_is_one_line(fails: Callable[..., str], options: tuple[str, ...], told: str) -> None:
    assert re.search(told, fails(2, "verify", MISSION, *options))


def test_a_mission_that_says_nothing_of_it_is_told(fails: Callable[..., str], mission_file: Path) -> None:
    assert "has no [verify]" in fails(2, "verify", mission_file)


def test_another_candidate_is_what_is_played_and_what_the_folder_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = stage.plan(load_mission(MISSION), stage.SMOKE, candidate="tailored")
    made = stage.campaign(asked, tmp_path, 1)
    assert {cell.candidate.name for cell in made.cells} == {"tailored"}
    monkeypatch.setattr(made, "run", lambda _: Result((), {}, {}))
    stage.verify(asked, made, Watcher())
    assert stage.verified_in(tmp_path).candidate == "tailored"


def test_another_way_of_the_camera_is_what_is_played_and_what_the_folder_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = {}
    for camera in (None, "uvcvideo", "driver"):
        asked = stage.plan(load_mission(MISSION), stage.FULL, camera=camera)
        made = stage.campaign(asked, tmp_path / str(camera), 1)
        cells[camera] = made.cells
        monkeypatch.setattr(made, "run", lambda _: Result((), {}, {}))
        stage.verify(asked, made, Watcher())
        assert stage.verified_in(made.folder).camera == (camera or "uvcvideo")
        assert (made.folder / DERIVED).exists() == (camera == "driver")
    assert [cell.job() for cell in cells[None]] == [cell.job() for cell in cells["uvcvideo"]]
    for usual, other in zip(cells[None], cells["driver"], strict=True):
        assert usual.parameters.model_dump() == {} and usual.instrument.beside == ()
        assert other.parameters.model_dump() == {"camera": "driver"}
        assert "uvcvideo" in usual.job().modules and "uvcvideo" not in other.job().modules
        assert "ds325-usb.ko" in other.instrument.beside
        run = " ".join(other.job().measure.argv)
        assert "ds325-flight --camera=driver " in run and "/dev/video0" not in run.replace("ls /dev/video*", "")


def test_a_record_of_another_way_of_the_camera_is_no_evidence() -> None:
    asked = stage.plan(load_mission(MISSION), stage.SMOKE, camera="driver")
    one = record(instrument=f"{PREFIX}packets-twice", candidate=asked.verify.candidate, load="hackbench")
    (run,) = stage.judged(asked, [one], {}).runs
    assert run.problems[0] == "frames came by uvcvideo"


def _changed(text: str, *place: str, to: object) -> str:
    """JSON with another value in one place."""
    document = json.loads(text)
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = to
    return json.dumps(document)


@pytest.mark.parametrize(
    ("place", "to"),
    [
        (("verify", "candidate"), "nowhere"),
        (("verify", "candidate"), "this-machine"),
        (("verify", "load"), "none"),
        (("mission", "needs"), ["realtime"]),
    ],
)
def test_a_folder_whose_mission_was_changed_in_more_than_the_candidate_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: tuple[str, ...], to: object
) -> None:
    """All hashes made anew."""
    asked = stage.plan(load_mission(MISSION), stage.SMOKE, candidate="tailored")
    made = stage.campaign(asked, tmp_path, 1)
    monkeypatch.setattr(made, "run", lambda _: Result((), {}, {}))
    stage.verify(asked, made, Watcher())
    derived = _changed((tmp_path / DERIVED).read_text(), *place, to=to)
    (tmp_path / DERIVED).write_text(derived)
    path = tmp_path / CAMPAIGN
    hashed = _changed(path.read_text(), "files", DERIVED, to=sha256_of(derived.encode()))
    path.write_text(CampaignFile.model_validate_json(hashed).hashed().model_dump_json())
    with pytest.raises(BadInput, match=r"derived\.json: is not mission\.toml with another of its candidates"):
        stage.verified_in(tmp_path)
    (tmp_path / DERIVED).unlink()
    with pytest.raises(BadInput, match=r"derived\.json: is missing"):
        stage.verified_in(tmp_path)


def _played(folder: Path, *names: str, candidate: str | None = None) -> Verified:
    asked = stage.plan(load_mission(MISSION), stage.FULL, names, candidate)
    return stage.verify(asked, stage.campaign(asked, folder, 2), Watcher())


def test_a_second_run_that_was_another_is_judged_too(tmp_path: Path) -> None:
    """Boards that are reset wait for disks, so their runs differ: one of them may fail alone."""
    store = Store(tmp_path)
    runs = [
        sealed(record(Series.raw(np.array([value]), name="log"), instrument=name, repeat=repeat))
        for name, *values in (("same", 1, 1), ("other", 1, 2))
        for repeat, value in enumerate(values)
    ]
    for one in runs:
        store.write(one)
    firsts = [one for one in runs if not one.manifest.repeat]
    assert [one.manifest.hash for one in stage.unlike(store, firsts)] == [runs[3].manifest.hash]
    lost = runs[1].manifest.model_copy(update={"problems": ["the second run lost packets"]})
    store.write(replace(runs[1], manifest=lost))
    assert [one.manifest.problems for one in stage.unlike(store, firsts)] == [lost.problems, []]


@pytest.mark.full
def test_the_smoke_scale_passes_twice_alike_and_says_so(rtqual: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = rtqual("verify", MISSION, "--scale", "smoke", "--out", out, "--json")
    said = json.loads(done.stdout)
    assert {one["procedure"]: one["why"] for one in said["procedures"] if not one["passed"]} == {}
    assert (done.returncode, said["passed"]) == (0, True)
    assert {one["timing"] for one in said["procedures"]} == {Timing.INSTRUCTIONS}, "both logs were equal"
    of = {one["id"]: one for one in said["requirements"]}
    assert of["TC-020"]["compliance"] == Compliance.YES
    assert of["TC-020"]["close_out"] == "open: the virtual board closes no requirement"
    assert of["FDIR-060"]["compliance"] == Compliance.OPEN, "its procedure is not played at this scale"
    records = list(Store(out / "records").read_all())
    assert {record.manifest.hash for record in records} >= {hash_ for one in of.values() for hash_ in one["evidence"]}
    assert 'failures="0"' in (out / "junit.xml").read_text().splitlines()[1]
    assert "closes no requirement" in (out / "report.md").read_text()
    _a_record_without_its_log_is_no_evidence(records)


@pytest.mark.full
def test_files_come_whole_twice_alike_though_packets_are_lost(tmp_path: Path) -> None:
    verified = _played(tmp_path, "file-down", "file-lossy")
    assert verified.passed, (verified.failures, [run.why for run in verified.runs])
    assert {(run.procedure, run.timing) for run in verified.runs} == {
        (name, Timing.INSTRUCTIONS) for name in ("file-down", "file-lossy")
    }


@pytest.mark.full
def test_by_the_camera_s_own_driver_procedures_pass_twice_alike(tmp_path: Path) -> None:
    """Idle beside them, for the sake of time: the camera goes and comes, stalls, and a frame of ranges comes down."""
    names = ("camera-stall", "camera-unplug", "file-down")
    before, after = MISSION.read_text().split("[verify]\n")
    said = after.replace('"../procedures"', f'"{TOP}/docking/procedures"', 1).replace(
        '"hackbench"', '"none"\ncamera = "driver"', 1
    )
    mission = tmp_path / "docking.toml"
    mission.write_text(f"{before}[verify]\n{said}")
    asked = stage.plan(load_mission(mission), stage.FULL, names)
    verified = stage.verify(asked, stage.campaign(asked, tmp_path / "out", 2), Watcher())
    assert verified.passed, (verified.failures, [run.why for run in verified.runs])
    assert {(run.procedure, run.timing) for run in verified.runs} == {(name, Timing.INSTRUCTIONS) for name in names}
    assert "the camera's own driver" in (tmp_path / "out/report.md").read_text()


def _a_record_without_its_log_is_no_evidence(records: list[Record]) -> None:
    asked = stage.plan(load_mission(MISSION), stage.SMOKE)
    cut = [replace(one, series=one.series[1:]) for one in records]
    assert all(log_of(one) for one in records)
    assert not any(run.passed for run in stage.judged(asked, cut, {}).runs)
    swapped = [
        replace(one, series=other.series)
        for one in records
        for other in records
        if one.inputs.instrument != other.inputs.instrument
    ]
    assert not any(run.passed for run in stage.judged(asked, swapped, {}).runs), "nor is another procedure's log"
    assert all(one.inputs.instrument.startswith(PREFIX) for one in records)


@pytest.mark.manual
@pytest.mark.parametrize("name", ["kernel-hang", "kernel-panic", "program-hung"])
def test_a_board_that_is_reset_goes_on_with_its_state(tmp_path: Path, name: str) -> None:
    verified = _played(tmp_path, name)
    assert verified.passed, (verified.failures, [run.why for run in verified.runs])


@pytest.mark.manual
@pytest.mark.parametrize("which", SABOTAGED)
def test_a_sabotaged_program_fails_by_the_right_procedure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: int
) -> None:
    name = f"ds325-flight-sabotage{which}"
    program, real = built(TOP / "docking/flight/program", name) / name, camera_files.guest_file
    monkeypatch.setattr(camera_files, "guest_file", lambda file: program if file == "ds325-flight" else real(file))
    verified = _played(tmp_path, SABOTAGED[which])
    assert {run.procedure for run in verified.runs} == {SABOTAGED[which]}
    assert not verified.passed
    assert all(run.judgement.checks for run in verified.runs), "the log is sound: the program is not"


@pytest.mark.manual
def test_999_of_1000_telecommands_are_accepted_within_a_millisecond(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3,800 PINGs in two runs under load; procedures of users are shorter, which --seeds makes up for."""
    monkeypatch.setattr(model, "STEPS_MOST", 4_000)
    monkeypatch.setattr(model, "EXPECTS_MOST", 20_000)
    pings = "".join(
        f'[[step]]\nat = "{1500 + 380 * number} ms"\ntimes = 190\nevery = "2 ms"\nsend = "PING"\n'
        for number in range(10)
    )
    start = '[[step]]\nat = "100 ms"\nsend = "LIDAR_START"\n'
    text = f'title = "Many telecommands"\nverifies = ["TC-010"]\nends = "7 s"\n{start}{pings}'
    asked = stage.plan(load_mission(MISSION))
    procedures = (procedure(tmp_path, text, "many"),)
    asked = replace(asked, played=procedures)
    made = stage.campaign(asked, tmp_path / "out", 2, seeds=2)
    made.cells = [cell for cell in made.cells if not cell.repeat]
    verified = stage.verify(asked, made, Watcher())
    assert verified.passed, (verified.failures, [run.why for run in verified.runs])
    (found,) = (one for one in latencies(verified) if one.name == "accepted PING")
    print(found)
    p999 = found.figures["p99.9"]
    assert found.samples == 3_800 and p999 is not None and p999.value <= found.most <= 1_000_000
    assert p999.interval is None and p999.why_no_interval == "2 runs; an interval needs 10"
