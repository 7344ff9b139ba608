# SPDX-License-Identifier: MIT
"""What strangers at ds325-flight's links, and losses of what it keeps, do to its operator."""

import os
import signal
import socket
import struct
import subprocess
import threading
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

import pytest

from rtqual.engine.dialogue.octets import cobs
from rtqual_docking.packets import packet_octets as octets
from rtqual_docking.packets.codec import Value, telecommand
from support.flight_link import DEFINITION, PATIENCE_S, Ground, Program, command, dog, fed, start
from support.flight_programs import run_flight

__all__ = ["dog", "start"]  # fixtures

pytestmark = pytest.mark.guest

COPIES = 3
NONE = {"challenge_high": 0, "challenge_low": 0}
KEY = b"a key for tests, worth nothing"
REFUSED = octets.damaged(command("PING", 3), "apid")  # a sound packet for another process


@contextmanager
def beside(once: Callable[[], object]) -> Iterator[None]:
    """Does something again and again meanwhile."""
    ended = threading.Event()

    def run() -> None:
        while not ended.is_set():
            once()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def slow_line() -> Iterator[tuple[str, Ground]]:
    """A serial line's name, and the ground at its end, to which 115,200 baud carry 11,520 octets a second."""
    ours, theirs = os.openpty()
    tty.setraw(ours)
    come, go = os.pipe()
    os.set_blocking(ours, False)

    def carry() -> None:
        time.sleep(0.01)
        with suppress(BlockingIOError):
            os.write(go, os.read(ours, 115))

    with beside(carry):
        yield os.ttyname(theirs), Ground(lambda one: os.write(ours, cobs(one)), come, serial=True)
    for fd in (ours, theirs, come, go):
        os.close(fd)


def flood(program: Program, packet: Callable[[], bytes]) -> Callable[[], None]:
    """A stranger who sends as fast as he can, and reads."""
    one = socket.create_connection(("127.0.0.1", program.port))
    program.sockets.append(one)
    one.setblocking(False)

    def send() -> None:
        try:
            one.send(packet())
        except BlockingIOError:
            time.sleep(0.001)
        with suppress(BlockingIOError):
            one.recv(1 << 16)

    return send


def answer(ground: Ground, packet: bytes) -> str:
    """The failure, or what the telecommand's completion is called."""
    before = len(ground.reports)
    ground.send(packet)
    end = time.monotonic() + PATIENCE_S
    while True:
        for one in ground.reports[before:]:
            if one.request == packet[:4] and one.name in ("NOT_ACCEPTED", "COMPLETED"):
                return str(one.fields.get("failure", one.name))
        assert time.monotonic() < end
        ground.take(1)


def housekeeping(ground: Ground) -> None:
    entries: list[dict[str, Value]] = [{"structure": "CONTROL", "interval_ms": 100}]
    ground.send(telecommand(DEFINITION, "HK_INTERVAL", None, entries, sequence=1))
    ground.send(command("HK_ON", 2, structure="CONTROL"))
    ground.until("HK_CONTROL")


def listen(ground: Ground, seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        ground.take(left)


def most_late_s(ground: Ground) -> float:
    """Between two reports of what is reported every 100 ms."""
    times = [one.time_ns for one in ground.reports if one.name == "HK_CONTROL"]
    return max(after - before for before, after in pairwise(times)) / 1e9


def test_what_a_stranger_has_refused_takes_nothing_from_a_slow_serial_line(start: Callable[..., Program]) -> None:
    with slow_line() as (name, ground):
        program = start(f"--serial={name}", "--baud=0")
        housekeeping(ground)
        before = [one.name for one in ground.reports].count("EVENT_INFO")
        stranger = program.connect()
        greeted = stranger.until("EVENT_INFO", event="BOOTED")
        with beside(flood(program, lambda: REFUSED * 20)):
            listen(ground, 4)
            ground.send(command("PING", 9))
            began = time.monotonic()
            ground.until("PONG")
            assert time.monotonic() - began < 1
        names = {one.name for one in ground.reports}
        assert "NOT_ACCEPTED" not in names and most_late_s(ground) < 1
        counts = [one.sequence for one in ground.reports]
        assert counts == [(counts[0] + number) % (1 << 14) for number in range(len(counts))], "none is missing"
        while stranger.take(0):
            pass
        assert len(greeted) == 1 and "NOT_ACCEPTED" not in {one.name for one in stranger.reports}
        assert [one.name for one in ground.reports].count("EVENT_INFO") == before, "others are greeted alone"


def test_refusals_are_told_to_who_earned_them_and_only_so_many_a_second(start: Callable[..., Program]) -> None:
    program = start()
    ground, other = program.connect(), program.connect()
    began = time.monotonic()
    for _ in range(300):
        ground.send(REFUSED)
        other.take(0)
    ground.until("NOT_ACCEPTED", 20)
    listen(ground, 2)
    took_s = time.monotonic() - began
    ground.send(command("PING", 9))
    ground.until("PONG")
    other.until("PONG")
    assert 20 <= [one.name for one in ground.reports].count("NOT_ACCEPTED") <= 20 * (took_s + 2)
    assert "NOT_ACCEPTED" not in [one.name for one in other.reports]
    for one in (ground, other):
        counts = [report.sequence for report in one.reports]
        assert counts == list(range(counts[0], counts[0] + len(counts)))


def test_what_others_ask_for_leaves_a_slow_serial_line_its_own_answers(start: Callable[..., Program]) -> None:
    """Without a key all may command: ten times what the line carries comes of it."""
    with slow_line() as (name, ground):
        program = start(f"--serial={name}", "--baud=0")
        housekeeping(ground)
        number = 0

        def ping() -> bytes:
            nonlocal number
            number += 1
            return telecommand(DEFINITION, "PING", sequence=number, source=7)

        with beside(flood(program, ping)):
            listen(ground, 2)
            assert {answer(ground, command("PING", 100 + one)) for one in range(20)} == {"COMPLETED"}
        assert most_late_s(ground) < 1


def test_who_may_not_command_throws_nobody_off(start: Callable[..., Program]) -> None:
    program = start()
    operators = [program.connect() for _ in range(4)]
    for source, one in enumerate(operators):
        one.send(telecommand(DEFINITION, "PING", sequence=1, source=source))
        one.until("PONG")
    opened: list[socket.socket] = []

    def stranger() -> None:
        opened.append(socket.create_connection(("127.0.0.1", program.port)))
        opened[-1].sendall(REFUSED)
        if len(opened) > 8:
            opened.pop(0).close()
        time.sleep(0.02)

    with beside(stranger):
        for number in range(12):
            time.sleep(0.25)
            for source, one in enumerate(operators[1:], 1):
                one.send(telecommand(DEFINITION, "PING", sequence=2 + number, source=source))
        # A ground that comes meanwhile gets its turn, and the place of the one that said nothing for longest.
        late = program.connect()
        late.send(telecommand(DEFINITION, "PING", sequence=1, source=9))
        late.until("PONG")
        operators[0].until_closed()
        for source, one in enumerate(operators[1:], 1):
            one.send(telecommand(DEFINITION, "PING", sequence=99, source=source))
            one.until("PONG", 13)
    for each in opened:
        each.close()


def test_no_flood_keeps_the_watchdog_from_being_fed(start: Callable[..., Program], tmp_path: Path, dog: int) -> None:
    program = start(f"--watchdog={tmp_path}/dog")
    program.connect().until("EVENT_INFO", event="BOOTED")
    resets = 0

    def reset() -> None:
        nonlocal resets
        with suppress(OSError), socket.create_connection(("127.0.0.1", program.port)) as caller:
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            resets += 1

    with beside(flood(program, lambda: REFUSED * 20)), beside(reset):
        for _ in range(20):
            assert fed(dog, PATIENCE_S)
    assert resets


# --- what came before ---


def kept(folder: Path, packet: bytes) -> None:
    """Waits until a telecommand stands in the state's file."""
    whose = struct.pack("<I", int.from_bytes(packet[9:11], "big") << 16 | int.from_bytes(packet[2:4], "big") & 0x3FFF)
    end = time.monotonic() + PATIENCE_S
    while not (folder / "state").exists() or whose not in (folder / "state").read_bytes():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_telecommand_that_came_before_runs_once_whatever_came_between(
    start: Callable[..., Program], tmp_path: Path
) -> None:
    program = start()
    ground = program.connect()
    first, other = (telecommand(DEFINITION, "PING", sequence=5, source=one) for one in (1, 2))
    assert [answer(ground, one) for one in (first, first, other, first, other)] == [
        "COMPLETED", "DUPLICATE", "COMPLETED", "DUPLICATE", "DUPLICATE",
    ]  # fmt: skip
    kept(tmp_path, other)
    program.again(signal.SIGKILL)
    ground = program.connect()
    assert [answer(ground, one) for one in (first, other)] == ["DUPLICATE", "DUPLICATE"]
    # RESTART itself, which could else be recorded and repeated for ever.
    again = command("RESTART", 9)
    ground.send(again)
    ground.until_closed()
    while not (ground := program.connect()).take(1) and not ground.open:
        pass
    assert answer(ground, again) == "DUPLICATE"


# --- the counter ---


def tagged(name: str, counter: int, **arguments: int) -> bytes:
    return telecommand(DEFINITION, name, arguments, sequence=counter & 0x3FFF, key=KEY, counter=counter)


@pytest.fixture
def keyed(start: Callable[..., Program], tmp_path: Path) -> Callable[[], Program]:
    (tmp_path / "key").write_bytes(KEY)
    assert run_flight(f"--state={tmp_path}/state", "--counter=10").returncode == 0
    return lambda: start(f"--key={tmp_path}/key")


def copies(folder: Path) -> list[Path]:
    return [folder / f"state.counter{one}" for one in range(1, COPIES + 1)]


def told(folder: Path, counter: int) -> None:
    """Waits until the files say it."""
    end = time.monotonic() + PATIENCE_S
    said = struct.pack("<II", *divmod(counter, 1 << 32))
    while not all(one.exists() and one.read_bytes().startswith(said) for one in copies(folder)):
        assert time.monotonic() < end
        time.sleep(0.02)


def challenge(ground: Ground) -> dict[str, int]:
    fields = ground.until("EVENT_MEDIUM", event="COUNTER_LOST")[-1].fields
    return {"challenge_high": fields["event_value"], "challenge_low": fields["event_detail"]}


def test_a_lost_state_does_not_let_recorded_telecommands_run_again(
    keyed: Callable[[], Program], tmp_path: Path
) -> None:
    program = keyed()
    ground = program.connect()
    recorded, newest = tagged("PING", 1000), tagged("PING", 5 << 32)
    assert [answer(ground, one) for one in (recorded, newest)] == ["COMPLETED", "COMPLETED"]
    told(tmp_path, 5 << 32)
    for state in (b"of another program, or of nobody's", None):
        program.process.kill()
        program.process.wait()
        (tmp_path / "state").unlink(missing_ok=True)  # or not written yet
        if state:
            (tmp_path / "state").write_bytes(state)
        copies(tmp_path)[0].write_bytes(bytes(12))  # and two of the copies
        copies(tmp_path)[1].unlink()
        program.process = subprocess.Popen(program.command)
        ground = program.connect()
        assert [answer(ground, one) for one in (recorded, newest)] == ["DUPLICATE", "DUPLICATE"]
        told(tmp_path, 5 << 32)  # mended
    assert answer(ground, tagged("PING", (5 << 32) + 1)) == "COMPLETED"
    told(tmp_path, (5 << 32) + 1)
    done = run_flight(f"--state={tmp_path}/state", "--counter=0")
    assert (done.returncode, b"it is not lowered" in done.stderr) == (2, True)


def test_without_a_sound_counter_only_who_has_the_key_sets_it_and_no_record_does(
    keyed: Callable[[], Program], tmp_path: Path
) -> None:
    program = keyed()
    ground = program.connect()
    recorded = [tagged("PING", 1000)]
    assert answer(ground, recorded[0]) == "COMPLETED"
    for counter in (2000, 3000):
        program.process.kill()
        program.process.wait()
        for one in copies(tmp_path):
            one.write_bytes(bytes(12))
        program.process = subprocess.Popen(program.command)
        ground = program.connect()
        said = challenge(ground)
        assert {answer(ground, one) for one in (*recorded, tagged("PING", 10**6))} == {"NO_COUNTER"}
        wrong = {**said, "challenge_low": said["challenge_low"] ^ 1}
        assert answer(ground, tagged("SET_COUNTER", 10**6, **wrong)) == "NO_COUNTER"
        forged = telecommand(DEFINITION, "SET_COUNTER", said, sequence=77, key=b"another key, as long", counter=counter)
        assert answer(ground, forged) == "BAD_TAG"
        sets = tagged("SET_COUNTER", counter, **said)
        assert [answer(ground, one) for one in (sets, sets, *recorded)] == [
            "COMPLETED", *["DUPLICATE"] * (1 + len(recorded)),
        ]  # fmt: skip
        recorded += [sets, tagged("PING", counter + 1)]
        assert answer(ground, recorded[-1]) == "COMPLETED"
        told(tmp_path, counter + 1)
    program.again(signal.SIGKILL)
    assert {answer(program.connect(), one) for one in recorded} == {"DUPLICATE"}


def _memory(process: int, copy: bytes) -> int:
    """Where the copies lie in the program's memory, one behind the other."""
    for line in Path(f"/proc/{process}/maps").read_text().splitlines():
        place, may, *_ = line.split()
        begin, end = (int(one, 16) for one in place.split("-"))
        if may == "rw-p":
            with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
                memory.seek(begin)
                at = memory.read(end - begin).find(copy * COPIES)
            if at >= 0:
                return begin + at
    raise AssertionError("no copies in memory")


@pytest.mark.parametrize("flipped", [1, 2, 3])
def test_flipped_bits_do_not_let_recorded_telecommands_run_again(
    keyed: Callable[[], Program], tmp_path: Path, flipped: int
) -> None:
    program = keyed()
    ground = program.connect()
    recorded = tagged("PING", 1000)
    assert [answer(ground, one) for one in (recorded, tagged("PING", 5000))] == ["COMPLETED", "COMPLETED"]
    told(tmp_path, 5000)
    copy = copies(tmp_path)[0].read_bytes()
    program.process.send_signal(signal.SIGSTOP)
    at = _memory(program.process.pid, copy)
    with Path(f"/proc/{program.process.pid}/mem").open("r+b", buffering=0) as memory:
        for one in range(flipped):
            memory.seek(at + one * len(copy) + 4 + one)
            memory.write(bytes([copy[4 + one] ^ 1]))
    program.process.send_signal(signal.SIGCONT)
    if flipped < COPIES:
        ground.until("EVENT_LOW", event="STATE_MENDED")
        assert answer(ground, recorded) == "DUPLICATE"
    else:
        ground.until("EVENT_MEDIUM", event="COUNTER_LOST")
        assert answer(ground, recorded) == "NO_COUNTER"
    assert answer(ground, tagged("SET_COUNTER", 6000, **(challenge(ground) if flipped == COPIES else NONE))) == (
        "COMPLETED"
    )
    assert answer(ground, recorded) == "DUPLICATE"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--counter=1"], "--counter is kept beside the state: --state is needed"),
        (["--counter=-1"], "--counter=-1"),
        (["--counter=1", "--state=/nowhere/state"], "--state=/nowhere/state: its counter could not be kept: No such"),
    ],
)
def test_a_counter_that_cannot_be_kept_is_one_line(arguments: list[str], complaint: str) -> None:
    done = run_flight(*arguments)
    assert done.returncode in (2, 3) and done.stdout == b""
    assert done.stderr.decode().startswith(f"ds325-flight: {complaint}") and done.stderr.count(b"\n") == 1
