# SPDX-License-Identifier: MIT
"""Campaigns: the order of their cells, and that being killed costs nothing but the cells that were running."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest

from rtqual.engine.campaign.cost import cost_of
from rtqual.engine.campaign.plan import plan
from rtqual.engine.campaign.run import Campaign, Watcher
from rtqual.engine.mission import load_mission
from rtqual.protocols.record.schema import SCHEMA_VERSION, Timing
from rtqual.protocols.record.store import MANIFEST, SAMPLES, Store, read
from rtqual.stages import selection
from support.command import Run, children, mission_text, rtqual_command

REPORTS = ("report.html", "report.md")


def mission_at(folder: Path, *candidates: str, loads: tuple[str, ...] = ("none", "hackbench"), runs: int = 2) -> Path:
    path = folder / "tiny.toml"
    path.write_text(mission_text(*candidates, loads=loads, runs=runs))
    return path


# --- the plan


def test_cells_are_interleaved_and_every_virtual_group_has_one_repeat(tmp_path: Path) -> None:
    """A drift of the host must not fall on one candidate: a round goes over all groups before the next begins."""
    cells = plan(load_mission(mission_at(tmp_path, "debian-rt", "debian", runs=3)), "demo")
    groups = {cell.group for cell in cells}
    assert len(groups) == 4
    rounds = [cells[start : start + 4] for start in range(0, len(cells), 4)]
    assert [{cell.group for cell in one} for one in rounds] == [groups] * 4
    assert [{(cell.seed, cell.repeat) for cell in one} for one in rounds] == [{(1, 0)}, {(1, 1)}, {(2, 0)}, {(3, 0)}]
    assert len({id(cell.parameters) for cell in cells}) == 1, "checked once, not for each candidate and load"


def test_this_machine_runs_first_alone_and_is_not_repeated(tmp_path: Path) -> None:
    cells = plan(load_mission(mission_at(tmp_path, "debian-rt", "here")), "demo")
    assert [board for board, _ in groupby(cell.board for cell in cells)] == ["local", "virtual"]
    local = [cell for cell in cells if cell.board == "local"]
    assert {cell.repeat for cell in local} == {0}
    assert {cell.cpus for cell in local} == {len(os.sched_getaffinity(0))}


def test_a_cell_that_two_plans_ask_for_runs_once(tmp_path: Path) -> None:
    path = mission_at(tmp_path, "debian-rt")
    path.write_text(path.read_text() + '\n[[scale.demo.plan]]\ninstruments = ["cyclictest", "footprint"]\nruns = 1\n')
    cells = plan(load_mission(path), "demo")
    assert len(set(cells)) == len(cells) == 6 + 2


def test_the_forecast_grows_with_what_is_left(tmp_path: Path) -> None:
    cells = plan(load_mission(mission_at(tmp_path, "debian-rt", "debian", runs=3)), "demo")
    assert cost_of([], 2).wall_s == 0
    assert cost_of(cells[:4], 2).wall_s < cost_of(cells, 2).wall_s < cost_of(cells, 1).wall_s
    assert cost_of(cells, 2).disk_b > cost_of(cells[:1], 2).disk_b > 0


# --- a campaign as it ended


def test_a_finished_campaign_has_every_record_and_no_guest_left(campaign: Path, mission_file: Path) -> None:
    records = list(Store(campaign / "records").read_all())
    cells = plan(load_mission(mission_file), "demo")
    assert sorted((r.inputs.load, r.inputs.seed, r.manifest.repeat) for r in records) == sorted(
        (cell.load, cell.seed, cell.repeat) for cell in cells
    )
    assert {r.manifest.timing for r in records} == {Timing.INSTRUCTIONS}
    assert [r.manifest.problems for r in records] == [[]] * 6
    assert [path.name for path in (campaign / "scratch").iterdir()] == ["jobs"]
    assert children("qemu-system") == []


def test_repeats_have_the_hash_of_their_first_runs(campaign: Path) -> None:
    by_key: dict[str, set[str]] = {}
    for record in Store(campaign / "records").read_all():
        by_key.setdefault(record.inputs.key(), set()).add(record.manifest.hash)
    assert len(by_key) == 4
    assert all(len(hashes) == 1 for hashes in by_key.values())
    assert len(set.union(*by_key.values())) == 4


def test_provenance_names_everything_that_ran(campaign: Path) -> None:
    for record in Store(campaign / "records").read_all():
        provenance = record.manifest.provenance
        assert provenance.tools["cyclictest"]
        assert "PREEMPT_RT" in (provenance.kernel or "")
        assert provenance.clock_resolution_ns == 1
        assert (provenance.wall_s or 0) > 0
        assert {"kernel", "initramfs", "qemu", "machine", "clock", "kernel parameters"} <= set(record.inputs.artefacts)
        assert any(thread["policy"] == "fifo" for thread in provenance.threads)


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every record's samples (when written, what) and its manifest but for the label that a later repeat gives."""
    found = {}
    for path in Store(folder / "records").paths():
        manifest = json.loads((path / MANIFEST).read_text())
        del manifest["timing"], manifest["manifest_sha256"]
        samples = path / SAMPLES
        found[path.name] = (samples.stat().st_mtime_ns, samples.read_bytes() + json.dumps(manifest).encode())
    return found


def reports(folder: Path) -> dict[str, bytes]:
    """Those that say nothing of when it was measured."""
    return {name: (folder / name).read_bytes() for name in ("metrics.prom", "bencher.json")}


def test_the_same_command_again_runs_nothing_and_reports_the_same(
    rtqual: Run, campaign: Path, mission_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "copy [two]"
    shutil.copytree(campaign, folder)
    before = state(folder)
    for report in REPORTS:
        (folder / report).unlink()
    usage = shutil.disk_usage(folder)
    monkeypatch.setattr(selection.shutil, "disk_usage", lambda _: usage._replace(free=0))  # records need none any more
    done = rtqual("select", mission_file, "--out", folder)
    assert done.returncode == 0, done.stderr
    assert "6 of 6 runs are done already" in done.stderr
    assert "done in" not in done.stderr
    assert state(folder) == before
    assert reports(folder) == reports(campaign)
    assert "Verdict, virtual board" in done.stdout
    assert f"  {folder / 'report.html'}" in done.stdout.splitlines()  # '[two]' is no mark-up


# --- killed


def start(*arguments: object, **how: object) -> subprocess.Popen[str]:
    """As a shell starts it: a process group of its own, which heeds SIGINT."""
    return subprocess.Popen(
        ["env", "--default-signal=INT", *rtqual_command(*arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **how,  # type: ignore[call-overload]
    )


def wait_for(condition: Callable[[], object], what: str, timeout_s: float = 120) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come in {timeout_s} s"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def kill_in_the_middle(mission: Path, folder: Path, records: int) -> None:
    """SIGKILL to rtqual alone, once there are so many records and a guest runs. The guest must die with it."""
    process = start("select", mission, "--out", folder)
    try:
        wait_for(lambda: len(Store(folder / "records").paths()) >= records, f"record {records}")
        wait_for(lambda: children("qemu-system", process.pid), "a running guest")
        guests = children("qemu-system", process.pid)
    finally:
        process.kill()
        process.wait()
    wait_for(lambda: not any(map(alive, guests)), "the end of the guests", 10)


def test_killed_and_corrupted_and_started_again_it_ends_like_an_undisturbed_one(
    rtqual: Run, campaign: Path, mission_file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "killed"
    kill_in_the_middle(mission_file, folder, records=3)
    before = state(folder)
    assert 3 <= len(before) < 6
    corrupt = Store(folder / "records").paths()[0]
    whole = (corrupt / SAMPLES).read_bytes()
    (corrupt / SAMPLES).write_bytes(whole[: len(whole) // 2])
    half = folder / "records" / f".{corrupt.name}.4194305"  # of a process that is dead: no PID is that large
    half.mkdir()

    done = rtqual("select", mission_file, "--out", folder)
    assert done.returncode == 0, done.stderr
    (warning,) = [line for line in done.stderr.splitlines() if line.startswith("warning")]
    assert str(corrupt / SAMPLES) in warning
    assert f"set aside as {corrupt.name}.corrupt" in warning
    assert (corrupt.with_suffix(".corrupt") / SAMPLES).stat().st_size == len(whole) // 2
    assert f"{len(before) - 1} of 6 runs are done already" in done.stderr
    assert not half.exists()
    after = state(folder)
    assert {name: after[name] for name in before if name != corrupt.name} == {
        name: kept for name, kept in before.items() if name != corrupt.name
    }
    hashes = {path.name: read(path).manifest.hash for path in Store(folder / "records").paths()}
    assert hashes == {path.name: read(path).manifest.hash for path in Store(campaign / "records").paths()}
    assert reports(folder) == reports(campaign)


@pytest.mark.full
def test_killed_again_and_again_two_kernels_end_like_an_undisturbed_campaign(rtqual: Run, tmp_path: Path) -> None:
    mission = mission_at(tmp_path, "debian-rt", "debian")
    done = rtqual("select", mission, "--out", tmp_path / "undisturbed")
    assert done.returncode == 0, done.stderr
    for records in (0, 1, 4, 9):
        kill_in_the_middle(mission, tmp_path / "killed", records)
    assert rtqual("select", mission, "--out", tmp_path / "killed").returncode == 0
    assert reports(tmp_path / "killed") == reports(tmp_path / "undisturbed")


@pytest.mark.guest
def test_two_campaigns_do_not_work_in_one_folder_and_an_interrupted_one_says_so(
    fails: Callable[..., str], mission_file: Path, tmp_path: Path
) -> None:
    longer = tmp_path / "longer.toml"  # than a second command takes to start, on a busy machine too
    longer.write_text(mission_file.read_text().replace("cycles = 100", "cycles = 100_000"))
    first = start("select", longer, "--out", tmp_path / "out")
    try:
        wait_for((tmp_path / "out" / ".lock").exists, "the first campaign")
        told = fails(3, "select", longer, "--out", tmp_path / "out")
        assert "another rtqual works there" in told
        assert str(tmp_path / "out") in told
        os.killpg(first.pid, signal.SIGINT)  # what a terminal does for Ctrl-C
        stderr = first.communicate(timeout=60)[1]
    finally:
        first.kill()
    assert first.returncode == 130
    assert "Traceback" not in stderr
    assert stderr.splitlines()[-1] == "rtqual: interrupted; finished records are kept, the same command goes on"


@pytest.mark.guest
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize(("candidate", "program"), [("debian-rt", "qemu-system"), ("here", "hackbench")])
def test_interrupted_alone_it_ends_what_it_started_and_answers_soon(
    candidate: str, program: str, sent: signal.Signals, code: int, tmp_path: Path
) -> None:
    """What a supervisor or an editor sends: a terminal would tell the whole group."""
    mission = mission_at(tmp_path, candidate, loads=("hackbench",))
    mission.write_text(mission.read_text().replace("cycles = 100", "cycles = 100_000"))
    (scratch := tmp_path / "tmp").mkdir()
    process = start("select", mission, "--out", tmp_path / "out", env={**os.environ, "TMPDIR": str(scratch)})
    try:
        wait_for(lambda: children(program, process.pid), "the first run")
        if program == "qemu-system":
            wait_for(lambda: len(children(program, process.pid)) > 1, "two guests at a time", 300)
        started = children("", process.pid)
        began = time.monotonic()
        process.send_signal(sent)
        stderr = process.communicate(timeout=60)[1]
        took_s = time.monotonic() - began
    finally:
        process.kill()
    assert process.returncode == code
    assert stderr.splitlines()[-1] == "rtqual: interrupted; finished records are kept, the same command goes on"
    assert not any(map(alive, started)) and list(scratch.iterdir()) == []
    crowded = max(1, os.getloadavg()[0] / (os.cpu_count() or 1))  # others take their turns
    assert took_s < 2 * crowded


@pytest.mark.guest
def test_a_load_on_this_machine_ends_when_rtqual_is_killed(tmp_path: Path) -> None:
    """Otherwise it would run on until somebody wonders why the fan does not stop."""
    mission = mission_at(tmp_path, "here", loads=("hackbench",))
    mission.write_text(mission.read_text().replace("cycles = 100", "cycles = 100_000"))
    process = start("select", mission, "--out", tmp_path / "out")
    try:
        wait_for(lambda: len(children("hackbench", process.pid)) > 10, "the load")
        started = children("", process.pid)
    finally:
        process.kill()
        process.wait()
    wait_for(lambda: not any(map(alive, started)), "the end of all it had started", 20)


# --- records of others


class Heard(Watcher):
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warning(self, text: str) -> None:
        self.warnings.append(text)


def test_a_record_in_the_place_of_another_is_set_aside(campaign: Path, mission_file: Path, tmp_path: Path) -> None:
    """Sound in itself, but not the run that was asked for."""
    folder = tmp_path / "copy"
    shutil.copytree(campaign / "records", folder / "records")
    one, other = [path for path in Store(folder / "records").paths() if path.name.endswith("-0")][:2]
    wanted = read(one).inputs.key()
    shutil.rmtree(one)
    shutil.copytree(other, one)
    heard = Heard()
    held = {(wanted, 0), (read(other).inputs.key(), 0)}
    done = Campaign(load_mission(mission_file), "demo", folder)._finished(held, heard)
    assert done == {(read(other).inputs.key(), 0)}
    assert len(heard.warnings) == 1
    assert str(one) in heard.warnings[0]


def test_a_record_of_a_newer_rtqual_stops_the_campaign_and_stays(
    fails: Callable[..., str], campaign: Path, mission_file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(campaign, folder)
    path = Store(folder / "records").paths()[0]
    newer = {**json.loads((path / MANIFEST).read_text()), "schema_version": SCHEMA_VERSION + 1}
    (path / MANIFEST).write_text(json.dumps(newer))
    told = fails(2, "select", mission_file, "--out", folder)
    assert str(path) in told
    assert "upgrade" in told
    assert json.loads((path / MANIFEST).read_text()) == newer


@pytest.mark.guest
def test_a_cell_that_fails_stops_no_other_and_runs_again_next_time(rtqual: Run, tmp_path: Path) -> None:
    if shutil.which("cyclictest") is None:
        pytest.skip("cyclictest is not installed here: apt-get install rt-tests")
    mission = mission_at(tmp_path, "here", loads=("none",), runs=1)
    mission.write_text(mission.read_text().replace('["cyclictest"]', '["cyclictest", "footprint"]'))
    bare = tmp_path / "bin"
    bare.mkdir()
    for program in ("awk", "cat", "sh", "wc"):
        (bare / program).symlink_to(shutil.which(program) or "")
    done = rtqual("select", mission, "--out", tmp_path / "out", env={"PATH": str(bare)})
    assert done.returncode == 3
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("failed")]
    assert "here: cyclictest" in line
    assert "cannot run cyclictest: No such file or directory" in line
    assert len(Store(tmp_path / "out" / "records").paths()) == 1
    assert "cyclictest" in (tmp_path / "out" / "report.md").read_text()
    done = rtqual("select", mission, "--out", tmp_path / "out")
    assert "1 of 2 runs are done already" in done.stderr
    assert len(Store(tmp_path / "out" / "records").paths()) == 2
