# SPDX-License-Identifier: MIT
"""Poses to a peer and into a log: both ends of `rtqual-peer` on this machine, and what is made of what they leave."""

import math
import os
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput, RunFailed
from rtqual.protocols.record.schema import Scalar
from rtqual_docking.air import AGE, CAME, POSES_LOG, SENT
from rtqual_docking.peer_poses import figures
from rtqual_docking.procedures.model import Procedure
from rtqual_docking.procedures.peer import judged
from support.built import built
from support.ground_log import START_STOP, TOP, definition, good, procedure

PEER = '[peer]\nposes = 3\nage = "2 ms"\n'
LINES = "".join(f"{number} {1000 + number} 0 1.000 -20.500 600.125\n" for number in range(3))
LEFT = {CAME: "0 1000000\n1 2000000\n2 1500000\n", SENT: "sent 3 unsent 0 unlogged 0\n", POSES_LOG: LINES}


@pytest.fixture
def asked(tmp_path: Path) -> Procedure:
    return procedure(tmp_path, START_STOP.replace("[[step]]", f"{PEER}[[step]]", 1))


def why(asked: Procedure, **changed: str) -> str:
    left = {CAME: LEFT[CAME], SENT: LEFT[SENT], POSES_LOG: LEFT[POSES_LOG]}
    left |= {{"came": CAME, "sent": SENT, "log": POSES_LOG}[name]: text for name, text in changed.items()}
    return judged(asked, good(asked).text, definition(), figures(left)[1]).why


def test_what_came_whole_and_in_time_passes(asked: Procedure) -> None:
    assert why(asked) == ""
    (ages,), scalars = figures(LEFT)
    assert (ages.info.name, sorted(ages.values.tolist())) == (AGE, [1000000, 1500000, 2000000])
    assert scalars["log_octets"].value == len(LINES)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"came": "0 1000000\n1 1500000\n"}, "poses >= 3: 2 came"),
        ({"came": "0 1000000\n1 1500000\n1 1500000\n"}, "poses >= 3: 2 came"),
        ({"sent": "sent 4 unsent 0 unlogged 0\n"}, "lost <= 0: 1"),
        ({"came": LEFT[CAME].replace("2000000", "2000001")}, "age <= 2 ms: 2.000001 ms"),
        ({"log": LINES[:-1]}, "lines_lost <= 0: 1"),
        ({"log": LINES.replace("600.125", "600", 1)}, "lines_lost <= 0: 1"),
        ({"log": ""}, "lines_lost <= 0: 3"),
    ],
)
def test_what_is_missing_late_or_half_fails(asked: Procedure, changed: dict[str, str], told: str) -> None:
    assert told in why(asked, **changed)


def test_silence_is_no_pass(asked: Procedure) -> None:
    assert judged(asked, good(asked).text, definition(), {}).unsound
    for left in ({}, {**LEFT, SENT: ""}, {**LEFT, CAME: "rtqual-peer: what came was no pose\n"}):
        with pytest.raises(RunFailed, match="left no count of poses"):
            figures(left)


@pytest.mark.parametrize(
    "changed", [{CAME: "3 1000\n4 1000\n5 1000\n"}, {POSES_LOG: LINES.replace("2 1002", "3 1002")}]
)
def test_what_was_not_sent_is_no_pose(changed: dict[str, str]) -> None:
    with pytest.raises(RunFailed, match="of 3 poses sent, number 3 came or was logged"):
        figures({**LEFT, **changed})


@pytest.mark.parametrize("name", ["peer_poses", "peer_lost", "peer_age_most", "log_lines_lost"])
@pytest.mark.parametrize("value", [-1, math.nan, math.inf])
def test_a_count_that_cannot_be_is_no_evidence(asked: Procedure, name: str, value: float) -> None:
    found = figures(LEFT)[1] | {name: Scalar(value=value, unit="1")}
    assert f"stands in a record whose {name} is" in judged(asked, good(asked).text, definition(), found).unsound


def test_a_peer_and_a_reset_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="stands beside resets = true"):
        procedure(tmp_path, START_STOP.replace("[[step]]", f"resets = true\n{PEER}[[step]]", 1))


def test_poses_of_a_fifo_come_numbered_and_aged_and_are_logged(tmp_path: Path) -> None:
    peer = built(TOP / "docking/peer", "rtqual-peer-asan") / "rtqual-peer-asan"
    os.mkfifo(tmp_path / "poses")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = f"--port={free.getsockname()[1]}"
    far = subprocess.Popen([peer, "--listen", port], stdout=subprocess.PIPE, text=True)
    sender = [peer, f"--poses={tmp_path / 'poses'}", "--to=127.0.0.1", port]
    near = subprocess.Popen(sender, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        time.sleep(1)  # both have begun
        with (tmp_path / "poses").open("wb", buffering=0) as fifo:
            for number in range(3):
                told = struct.pack("=QII10d", time.monotonic_ns(), 0, 0, 0.001 * number, -0.0205, 0.6, *[0.0] * 7)
                fifo.write(told)
        time.sleep(1)
    finally:
        for one in (near, far):
            one.send_signal(signal.SIGTERM)
    log, said = near.communicate(timeout=20)
    came, _ = far.communicate(timeout=20)
    (ages,), counts = figures({CAME: came, SENT: said, POSES_LOG: log})
    assert {name: counts[name].value for name in ("peer_poses", "peer_lost", "log_lines", "log_lines_lost")} == {
        "peer_poses": 3, "peer_lost": 0, "log_lines": 3, "log_lines_lost": 0,
    }  # fmt: skip
    assert 0 < min(ages.values) <= max(ages.values) < 10**9
    assert log.splitlines()[2].endswith(" 0 2.000 -20.500 600.000")
    assert (near.returncode, far.returncode) == (0, 0)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--listen", "--to=127.0.0.1"),
        ("--poses=/dev/null", "--to=here"),
        ("--lossy=lo", "--listen"),
        ("--lossy=lo", "--percent=101"),
    ],
)
def test_what_is_asked_wrongly_of_it_is_one_line(arguments: tuple[str, ...]) -> None:
    peer = built(TOP / "docking/peer", "rtqual-peer-asan") / "rtqual-peer-asan"
    done = subprocess.run([peer, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_a_way_that_is_none_loses_nothing_and_is_named() -> None:
    peer = built(TOP / "docking/peer", "rtqual-peer-asan") / "rtqual-peer-asan"
    done = subprocess.run([peer, "--lossy=no-such-way"], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr == (
        "rtqual-peer: no-such-way cannot be made to lose packets (it needs root and sch_netem): No such device\n"
    )
