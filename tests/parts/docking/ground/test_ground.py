# SPDX-License-Identifier: MIT
"""The ground plays its script and logs what happens: a server here stands for the flight program."""

import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from rtqual_docking.packets.codec import telemetry
from support.built import built
from support.flight_link import DEFINITION, Program, command, start
from support.flight_programs import flight_program
from support.ground_log import TOP

__all__ = ["start"]  # a fixture

PACKET = bytes.fromhex("1842c00000062b110100005cce")


@pytest.fixture(scope="session")
def ground() -> Path:
    return built(TOP / "docking/ground", "rtqual-ground-asan") / "rtqual-ground-asan"


@contextmanager
def server(*answers: bytes) -> Iterator[int]:
    """Each connection gets an answer to its first packet, and is closed; the last one stays."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        for answer in answers:
            with listener.accept()[0] as link:
                if link.recv(4096):
                    link.sendall(answer)
                if answer is answers[-1]:
                    with suppress(ConnectionResetError):  # by a ground that is killed
                        while link.recv(4096):
                            pass

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with listener:
        yield listener.getsockname()[1]


def played(ground: Path, folder: Path, script: str, port: int) -> tuple[subprocess.CompletedProcess[str], str]:
    (folder / "script").write_text(script)
    log = folder / "log"
    command = [ground, f"--port={port}", f"--script={folder}/script", f"--log={log}", "--patience-ms=100"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done, log.read_text() if log.exists() else ""


def test_packets_are_cut_by_their_length_and_a_lost_link_comes_back(ground: Path, tmp_path: Path) -> None:
    script = f"0 send {PACKET.hex()}\n150000000 send {PACKET.hex()}\n2000000000 end\n"
    with server(PACKET + PACKET + PACKET[:5], PACKET) as port:
        done, log = played(ground, tmp_path, script, port)
    assert done.returncode == 0, done.stderr
    said = [row.split(" ", 1)[1] for row in log.splitlines()]
    got = f"recv {PACKET.hex()}"
    assert said == ["up", f"send 1 {PACKET.hex()}", got, got, "lost 5", "up", f"send 2 {PACKET.hex()}", got, "end 2 3"]
    times = [int(row.split(" ")[0]) for row in log.splitlines()]
    assert times == sorted(times)
    assert times[6] >= 150_000_000


def test_what_cannot_be_done_is_logged(ground: Path, tmp_path: Path) -> None:
    fifo, full = tmp_path / "none", tmp_path / "there"
    full.write_text("")
    script = f"0 write {fifo} unplug\n0 signal no-such-program-runs 9\n0 fill {full}\n0 free {full}\n"
    script += f"0 close\n0 send {PACKET.hex()}\n0 open\n0 end\n"
    with server(b"") as port:
        done, log = played(ground, tmp_path, script, port)
    assert done.returncode == 0, done.stderr
    said = [row.split(" ", 1)[1] for row in log.splitlines()]
    assert said[1] == "failed 1 No such file or directory"
    assert said[2] == "failed 2 no such program runs"
    assert said[3] == "failed 3 File exists", "a file that is there is never overwritten"
    assert said[4] == "did 4"
    assert not full.exists()
    assert said[5:8] == ["closed", "did 5", "unsent 6"]


@pytest.mark.guest
@pytest.mark.skipif(os.geteuid() != 0, reason="only root writes another program's memory: FLIPS UNTRIED")
@pytest.mark.parametrize(("bits", "mode"), [("0:1", "STANDBY"), ("1:1", "STANDBY"), ("0:0 1:1", "SAFE")])
def test_a_bit_of_the_flight_programs_state_flips_and_is_mended(
    ground: Path, start: Callable[..., Program], tmp_path: Path, bits: str, mode: str
) -> None:
    """Of the mode STANDBY, in one of its two copies; in both, none is sound."""
    name = f"flight-{os.getpid()}"  # no other one's
    program = start(executable=shutil.copy(flight_program("ds325-flight"), tmp_path / name))
    link = program.connect()
    link.send(command("HK_ONCE", 1, structure="CAMERA"))
    link.until("HK_CAMERA")  # it has begun: what it writes as it begins would undo the flip
    while not (tmp_path / "state").exists():
        link.take(0.1)
    _, log = played(ground, tmp_path, f"0 flip {tmp_path}/state {name} {bits}\n1 end\n", program.port)
    assert " did 1" in log, log
    link.until("EVENT_LOW", event="STATE_MENDED", event_value=1)
    link.send(command("HK_ONCE", 2, structure="CAMERA"))
    assert link.until("HK_CAMERA", count=2)[1].fields["mode"] == mode


@pytest.mark.guest
@pytest.mark.skipif(os.geteuid() != 0, reason="only root writes another program's memory: FLIPS UNTRIED")
@pytest.mark.parametrize(
    ("bits", "why"),
    [("2:0", "no bit of a state"), ("0:512", "no bit of a state"), ("0", "no bit of a state")],
)
def test_a_bit_that_cannot_be_flipped_is_told(
    ground: Path, start: Callable[..., Program], tmp_path: Path, bits: str, why: str
) -> None:
    name = f"flight-{os.getpid()}"
    program = start(executable=shutil.copy(flight_program("ds325-flight"), tmp_path / name))
    link = program.connect()
    while not (tmp_path / "state").exists():
        link.take(0.1)
    flips = f"{tmp_path}/state {name} {bits}", f"{tmp_path}/none {name} 0:0", f"{tmp_path}/state no-such-program 0:0"
    script = "".join(f"0 flip {one}\n" for one in flips) + "1 end\n"
    _, log = played(ground, tmp_path, script, program.port)
    failed = [row.split(" ", 1)[1] for row in log.splitlines() if " failed " in row]
    assert failed == [f"failed 1 {why}", "failed 2 No such file or directory", "failed 3 No such process"]


@pytest.mark.parametrize(
    "script",
    ["", "0 end", "0 send\n0 end\n", "0 send 1\n0 end\n", "0 send 1G\n0 end\n", "5 close\n1 end\n", "0 close\n",
     "-1 end\n", "0 signal x\n0 end\n", "0 signal x 9 9\n0 end\n", "0 boil x\n0 end\n", "9999999999999999999 end\n",
     "0 end x\n", "0 write a\n0 end\n"],
)  # fmt: skip
def test_a_script_that_is_none_is_refused_in_a_line(ground: Path, tmp_path: Path, script: str) -> None:
    done, log = played(ground, tmp_path, script, 1)
    if script == "0 end":  # without its line's end it is whole nevertheless
        assert done.returncode == 3
        return
    assert (done.returncode, log, done.stderr.count("\n")) == (2, "", 1), done.stderr


def test_nobody_who_listens_is_told(ground: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    done, _ = played(ground, tmp_path, "0 end\n", port)
    assert (done.returncode, done.stderr) == (3, f"rtqual-ground: nobody listens at 127.0.0.1:{port}\n")


def test_a_log_outlives_a_reset_of_the_machine(ground: Path, tmp_path: Path) -> None:
    """SIGKILL stands for the reset, zeros for room taken beforehand. Half a line is none, no step is done twice,
    and time goes on."""
    (tmp_path / "script").write_text(
        f"0 send {PACKET.hex()}\n100000000 fill {tmp_path}/none/x\n20000000000 send {PACKET.hex()}\n20000000000 end\n"
    )
    log, room = tmp_path / "log", 2**16
    log.write_bytes(bytes(room))

    def kept() -> str:
        return log.read_text().replace("\0", "")

    with server(PACKET, PACKET) as port:
        command, begun_ns = (
            [ground, f"--port={port}", f"--script={tmp_path}/script", f"--log={log}"],
            time.monotonic_ns(),
        )
        first = subprocess.Popen([*command, "--now-ns=5000000000"])
        while not ("recv" in kept() and "failed 2" in kept()):
            assert first.poll() is None
            time.sleep(0.01)
        first.kill()
        first.wait()
        before = kept()
        log.write_text((before + "19999 re").ljust(room, "\0"))
        done = subprocess.run([*command, "--now-ns=26000000000"], capture_output=True, text=True, check=False)
        ended = kept()
        subprocess.run([*command, "--now-ns=40000000000"], check=True)
        assert kept() == ended, "what has ended is not played again"
    assert done.returncode == 0, done.stderr
    rows = kept().removeprefix(before).splitlines()
    said = [row.split(" ", 1)[1] for row in rows]
    assert said[0] == "reset" and said[1] == "up" and said[2] == f"send 3 {PACKET.hex()}"
    assert said[-1].startswith("end 2 ")
    assert abs(int(rows[0].split(" ")[0]) - 21 * 10**9) <= time.monotonic_ns() - begun_ns
    assert [row for row in before.splitlines() if "send" in row] == [before.splitlines()[1]]


def test_a_stranger_comes_and_goes_while_the_link_stands(
    ground: Path, start: Callable[..., Program], tmp_path: Path
) -> None:
    program = start()
    program.connect()
    asks = [command("HK_ONCE", number, structure="LINK").hex() for number in range(3)]
    script = "0 stranger waits\n0 stranger comes\n"
    script += f"3000000000 send {asks[0]}\n3000000000 stranger goes\n4000000000 send {asks[1]}\n"
    script += f"5000000000 send {asks[2]}\n6000000000 end\n"
    done, log = played(ground, tmp_path, script, program.port)
    assert done.returncode == 0, done.stderr
    said = [row.split(" ", 1)[1] for row in log.splitlines()]
    assert "failed 1 a stranger comes or goes" in said and {"did 2", "did 4"} <= {*said}
    assert not [one for one in said if one.startswith(("lost", "up "))]
    reports = [telemetry(DEFINITION, bytes.fromhex(one[5:])) for one in said if one.startswith("recv ")]
    link = [one.fields for one in reports if one.name == "HK_LINK"]
    assert link[0]["rejected"] > 20 and link[0]["connections"] > 6
    assert link[2]["rejected"] == link[1]["rejected"], "it is gone"
    assert {one.name for one in reports} <= {
        "ACCEPTED",
        "STARTED",
        "HK_LINK",
        "COMPLETED",
        "EVENT_INFO",
        "EVENT_MEDIUM",
    }
