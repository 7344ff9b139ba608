# SPDX-License-Identifier: MIT
"""A board over ssh on the stand-in: two kernels and one that panics, judged; and what is refused before a restart."""

import json
import shlex
import time
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.errors import RunFailed
from rtqual.engine.boards.remote import lease, staged
from rtqual.engine.boards.remote.check import check
from rtqual.engine.boards.remote.link import Ssh
from rtqual.engine.boards.remote.remote_board import RemoteBoard
from rtqual.engine.boards.remote.session import Session
from rtqual.engine.boards.remote.settings import BoardRefused, Settings, Unreachable
from rtqual.engine.boards.remote.tune import reset, tune
from rtqual.engine.boards.remote.unnamed import ask
from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST, CyclictestParameters
from rtqual.protocols.board.system import Kernel
from rtqual.protocols.record.store import Store, read
from support.command import Run
from support.stand_in import BOTH, KERNELS, NAME, RT, SERIAL, StandIn, candidate, mission_of, settings_of, stand_in

# Another user of the board: he ends cyclictest, which says nothing of it, or sets another clock source, run by run.
MEDDLER = """\
cd /sys/devices/system/clocksource/clocksource0
turn=0
while sleep 1; do
	pid=$(pidof cyclictest) && grep -q json /proc/$pid/cmdline || continue
	turn=$((1 - turn))
	if [ $turn = 1 ]; then
		kill $pid
	else
		for one in $(cat available_clocksource); do
			[ $one = $(cat current_clocksource) ] || other=$one
		done
		echo $other > current_clocksource
	fi
	while [ -d /proc/$pid ]; do sleep 0.2; done
done
"""
# The system's own kernel tells why its samples were late.
LATE = f"""
[parameters.timerlat-late]
cycles = 100

[[scale.demo.plan]]
boards = ["{NAME}"]
candidates = ["debian-rt"]
instruments = ["timerlat-late"]
runs = 1
"""

pytestmark = [pytest.mark.full]  # a machine that starts several times: 6 minutes


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    with stand_in(tmp_path_factory.mktemp("stand-in")) as board:
        board.wait_up()
        yield board


@pytest.fixture
def settings(there: StandIn) -> Settings:
    return settings_of(there)


@pytest.fixture
def session(settings: Settings, tmp_path: Path) -> Iterator[Session]:
    one = Session(settings, "test", tmp_path / "console.log")
    one.open()
    yield one
    one.close()


def boot_id(there: StandIn) -> str:
    return there.ssh("cat /proc/sys/kernel/random/boot_id").stdout


def test_check_tells_what_is_there_and_what_is_missing(there: StandIn, settings: Settings) -> None:
    found = {one.name: one for one in check(settings)}
    assert [one for one in found.values() if not one.good] == []
    assert (found["serial"].what, found["boot partition"].what, found["lease"].what) == (SERIAL, "/boot", "free")
    assert "clock source ," not in found["time"].what
    other = {one.name: one for one in check(replace(settings, good="6.9", power_on=(), console=""))}
    assert [name for name, one in other.items() if not one.good] == ["system", "power", "console"]
    assert other["system"].mend == f'write good = "{there.release}", or boot 6.9'


def test_a_board_says_what_it_is_for_a_missions_table(there: StandIn) -> None:
    asked = ask(f"root@127.0.0.1:{there.port}", "root", "127.0.0.1", there.port, there.identity)
    (table,) = tomllib.loads(asked.table)["board"]
    told = (table["host_key"], table["good"], table["serial"], table["switch"], table["architecture"])
    assert told == (there.host_key, there.release, SERIAL, "systemd-boot", "amd64")


def test_another_host_key_or_serial_number_is_refused(settings: Settings, there: StandIn, tmp_path: Path) -> None:
    another = (there.folder / "identity.pub").read_text().strip()
    for other, why in (
        (replace(settings, host_key=another), "another host key answers"),
        (replace(settings, serial="S2"), f"serial number {SERIAL}, not S2: it is another board"),
        (replace(settings, identity=there.folder / "hostkey"), "does not let us in"),
    ):
        stranger = Session(other, "test", tmp_path / "log")
        with pytest.raises(BoardRefused, match=why):
            stranger.open()
        stranger.close()
    assert not there.ssh("ls -d /boot/rtqual/lease-*").stdout


def test_no_call_outlives_its_deadline_where_the_board_froze(
    there: StandIn, settings: Settings, tmp_path: Path
) -> None:
    link = Ssh(settings, tmp_path)
    assert link.run("echo there") == b"there\n"
    there.qmp("stop")
    try:
        started = time.monotonic()
        with pytest.raises(Unreachable):
            link.run("echo there", deadline_s=8)
        # Its deadline, that of taking the connection down, and what a busy host adds; ssh's own end is no sooner.
        assert time.monotonic() - started < 40
    finally:
        there.qmp("cont")
        link.drop()


def test_who_is_overtaken_commands_no_more(session: Session, settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(BoardRefused, match=r"in use by test; if that has died: `rtqual board restore stand-in --take`"):
        Session(replace(settings, console=""), "second", tmp_path / "2.log").open()
    second = Session(settings, "second", tmp_path / "2.log")
    second.open(force=True)
    try:
        with pytest.raises(BoardRefused, match="somebody else has taken the board"):
            session.lease.run("touch /boot/rtqual/no")
        assert second.lease.run("ls /boot/rtqual").decode().split()[0].startswith("lease-")
    finally:
        second.close()
        session._lease = lease.take(session._ssh(), session.store, "test", NAME)


def test_a_full_boot_partition_or_a_damaged_upload_restarts_nothing(
    there: StandIn, session: Session, kernel: Callable[..., Kernel], monkeypatch: pytest.MonkeyPatch
) -> None:
    candidate = RemoteBoard(session, kernel("debian-rt"), "test").candidate
    before = boot_id(there)
    sent = staged.put

    def damaged(link: lease.Lease, content: bytes, path: str) -> None:
        sent(link, content[:-1] + b"?" if path.endswith("kernel") else content, path)

    with monkeypatch.context() as patch:
        patch.setattr(staged, "put", damaged)
        with pytest.raises(RunFailed, match="what arrived on its boot partition is not what was sent"):
            session.put_on(candidate)
    there.ssh("dd if=/dev/zero of=/boot/filler bs=1M count=65; sync")
    with pytest.raises(RunFailed, match=r"its boot partition has \d+ MiB free of the \d+ MiB"):
        session.put_on(candidate)
    there.ssh("rm -f /boot/filler; sync")
    assert boot_id(there) == before
    left = there.ssh("ls /boot/rtqual /boot/loader/entries; ls /sys/firmware/efi/efivars | grep OneShot").stdout
    assert "rtqual-candidate" not in left and "OneShot" not in left and ".new" not in left


def test_a_candidate_is_let_come_to_rest_and_one_that_is_kept_busy_has_a_problem(
    there: StandIn, session: Session, kernel: Callable[..., Kernel]
) -> None:
    board, parameters = RemoteBoard(session, kernel("debian-rt"), "test"), CyclictestParameters(cycles=20)
    job = CYCLICTEST.job(parameters, cpus=1, seed=1)
    outcome = board.run(job, seed=1, timeout_s=120)
    assert [one for one in outcome.problems if "rest" in one] == []
    assert int(outcome.facts["rest_ns"]) >= 2 * int(outcome.facts["rest_window_ns"])
    session.restore()
    with ThreadPoolExecutor() as pool:
        running = pool.submit(board.run, job, seed=2, timeout_s=120)
        while not running.done() and "rtqual.candidate=" not in there.ssh("cat /proc/cmdline", 600).stdout:
            time.sleep(0.5)
        there.ssh("setsid sh -c 'while :; do :; done' > /dev/null 2>&1 < /dev/null &")
        busy = running.result()
    (problem,) = (one for one in busy.problems if "rest" in one)
    assert busy.facts["rest_awaited"].startswith("sh, ") and busy.facts["rest_awaited"] in problem


def test_two_kernels_are_judged_over_ssh_and_one_that_panics_is_told(
    there: StandIn, rtqual: Run, tmp_path: Path
) -> None:
    """Ends on the known-good system, its default entry untouched."""
    entries = there.ssh("sha256sum /boot/loader/loader.conf /boot/loader/entries/*").stdout
    mission = tmp_path / "bench.toml"
    broken = candidate("broken", "Panics", KERNELS["stock"], 'boot = ["rdinit=/none"]')
    mission.write_text(mission_of(there, broken + BOTH) + LATE)
    done = rtqual("select", mission, "--out", tmp_path / "out", "--json", env={})
    assert done.returncode == 3, done.stderr  # a candidate failed
    said = json.loads(done.stdout)
    assert "Kernel panic" in json.dumps(said["failures"]) and "fell back to its known-good system" in done.stderr
    paths = Store(tmp_path / "out/records").paths()
    (traced,) = (path for path in paths if read(path).inputs.instrument == "timerlat-late")
    told = rtqual("explain", traced, "--worst", "1")
    assert told.returncode == 0 and "debian-rt idle on the qemu-pc board" in told.stdout
    assert "Watching moves what it watches" in told.stdout and "count instructions" not in told.stdout
    assert "until the timer's interrupt" in told.stdout
    records = [read(path).manifest for path in paths if path != traced]
    assert sorted(one.inputs.candidate for one in records) == ["debian"] * 6 + ["debian-rt"] * 6
    assert "own" not in there.ssh("ls /boot/rtqual").stdout.split(), "its host key stays on no partition"
    for one in records:
        facts = one.provenance.facts
        assert (one.timing, one.problems, one.inputs.board) == ("real", [], "qemu-pc")
        assert "of the host's over" in facts["clock_rate"]
        assert facts["board"] == NAME and facts["serial"] == SERIAL and len(facts["boot_id"]) == 36
        assert f"rtqual.candidate={facts['candidate_nonce']}" in (one.provenance.kernel_cmdline or "")
        assert ("PREEMPT_RT" in (one.provenance.kernel or "")) == (one.inputs.candidate == "debian-rt")
    report = (tmp_path / "out/report.md").read_text()
    assert "qemu-pc board" in report
    (verdict,) = said["verdicts"]
    assert (verdict["board"], verdict["ground"]) == ("qemu-pc", "real time")  # which is what may say "fly"
    assert "debian-rt and debian meet the one requirement" in verdict["headline"]  # nothing ranks them
    assert there.ssh("uname -r").stdout.strip() == there.release
    assert there.ssh("sha256sum /boot/loader/loader.conf /boot/loader/entries/*").stdout == entries
    (left,) = (one for one in check(settings_of(there)) if one.name == "room")
    assert left.good and "MiB of candidates that may go" in left.what


def test_missing_samples_and_another_clock_source_are_problems_and_no_verdict(
    there: StandIn, rtqual: Run, tmp_path: Path
) -> None:
    """Both happen on the candidate, in every other run."""
    mission, out = tmp_path / "bench.toml", tmp_path / "out"
    mission.write_text(mission_of(there, RT, cycles=1000))
    with ThreadPoolExecutor() as pool:
        selecting = pool.submit(rtqual, "select", mission, "--out", out, "--json", env={})
        while not selecting.done() and "rtqual.candidate=" not in there.ssh("cat /proc/cmdline", 600).stdout:
            time.sleep(0.5)
        there.ssh(f"setsid sh -c {shlex.quote(MEDDLER)} > /dev/null 2>&1 < /dev/null &")
        done = selecting.result()
    assert done.returncode == 0, done.stderr
    (verdict,) = json.loads(done.stdout)["verdicts"]
    (standing,) = verdict["standings"]
    (gate,) = standing["gates"]
    problems = [read(path).manifest.problems for path in Store(out / "records").paths()]
    short, other = (
        sum(any(sign in one for one in of) for of in problems)
        for sign in ("samples instead of 1000", "the clock source changed in the run")
    )
    assert len(problems) == 6 and short >= 2 and other >= 2, problems
    assert verdict["fly"] is None and gate["outcome"] == "undecided", verdict["headline"]
    assert gate["reason"].startswith("refused: ") and "the clock source changed" in gate["reason"]
    assert "samples instead of 1000" in gate["reason"]


def test_settings_are_steadied_and_put_back_or_go_with_the_next_start(session: Session) -> None:
    limit = "cat /proc/sys/kernel/sched_rt_runtime_us"
    (first,) = (one for one in tune(session.lease) if one.name.startswith("limit of real-time"))
    assert (first.before, first.after) == ("950000", "-1") and session.lease.run(limit) == b"-1\n"
    assert tune(session.lease) == []
    reset(session.lease)
    assert session.lease.run(limit) == b"950000\n"
