# SPDX-License-Identifier: MIT
"""ds325-stream on the emulated camera, through Debian's RT kernel's own uvcvideo: poses beside ranges, and each loss.
Full tests: one guest, booted for each test (8 s)."""

import re
from collections.abc import Callable

import pytest

from emulator import programs as emulator_programs
from flight_programs import program
from rtqual.architecture import AMD64
from rtqual.board import Command, Job, Machine, Outcome
from rtqual.board.virtual import VirtualBoard
from rtqual.candidate.ready import make_ready
from rtqual.image.guest import TOOL_PACKAGES
from rtqual.packages import fetch, fetch_closure

# 30 frames of an approach at 60 a second, over and over: from the last to the first the target moves by 0.02 m.
COMMON = """\
ds325-emulator --write ring --frames 30 --step 0.016667 --at '0 0.05 -0.03 0.5 5 3 -4' --at '1 0.04 -0.02 0.46 4 2 -3'
plug() {
    ds325-emulator --attach --daemon --priority 70 --report report --log log --replay ring "$@" || exit 1
    until [ -e /dev/video0 ]; do usleep 10000; done
    for thread in vhci_rx vhci_tx; do chrt -f -p 50 "$(pidof $thread)"; done
}
unplug() {
    pid=$(pidof ds325-emulator) && kill "$pid"
    while pidof ds325-emulator > /dev/null || [ -e /dev/video0 ]; do usleep 10000; done
    sed 's/^/report /' report
    sed 's/^/log /' log
}
"""
HEALTH = "\ndmesg | grep -E 'BUG|WARNING|Oops|Call Trace|blocked for' | sed 's/^/kernel /'\n"
GAP = re.compile(r"^(gap|gap_estimated)=(\d+) (\d+)", re.MULTILINE)
Run = Callable[[str], Outcome]

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a shell script in the guest."""
    kernel = make_ready(
        "debian-rt",
        fetch("linux-image-rt-amd64", kernel=True),
        boot=(),
        tools=fetch_closure(TOOL_PACKAGES),
        architecture=AMD64,
        extra={
            "usr/bin/ds325-emulator": emulator_programs() / "ds325-emulator",
            "usr/bin/ds325-stream": program("ds325-stream"),
        },
    )
    board = VirtualBoard(kernel, Machine(), tmp_path_factory.mktemp("guest"))

    def run(script: str) -> Outcome:
        job = Job(measure=Command(("sh", "-c", COMMON + script + HEALTH)), modules=("uvcvideo", "vhci-hcd"))
        outcome = board.run(job, seed=1, timeout_s=300)
        assert outcome.exit_code == 0, outcome.stderr
        assert "kernel " not in outcome.stdout, outcome.stdout
        return outcome

    return run


def values(text: str) -> dict[str, int]:
    """Numbers among `key=value` lines and the emulator's report."""
    found = re.findall(r"^(\w+)=(\d+)$", text, re.MULTILINE) + re.findall(r"^report (\w+) (\d+)$", text, re.MULTILINE)
    return {key: int(value) for key, value in found}


def listed(text: str, name: str) -> list[int]:
    line = re.search(rf"^{name}=(.*)$", text, re.MULTILINE)
    assert line, f"no {name} in {text[-500:]}"
    return [int(value) for value in line[1].split()]


def test_each_frame_has_its_pose_or_is_said_to_have_none(run: Run) -> None:
    out = run("plug --stamp\nds325-stream --pose --frames=120 --check=ring\nunplug\n").stdout
    seen = values(out)
    assert (seen["frames"], seen["check_good"], seen["lost"], seen["page_faults"]) == (120, 120, 0, 0)
    assert seen["poses_valid"] + seen["poses_degenerate"] + seen["poses_not_found"] == 120
    assert seen["poses_valid"] >= 110
    ranges, poses, cpu = (listed(out, name) for name in ("latency_ns", "pose_latency_ns", "pose_cpu_ns"))
    assert len(ranges) == len(poses) == len(cpu) == 120
    assert all(pose >= to_range + spent * 0.9 for pose, to_range, spent in zip(poses, ranges, cpu, strict=True))


# What the camera counts, and what a silence adds to that by time: an unplugged camera is back some 0.3 s after its 0.5.
LOSSES = {"drop@20": (1, 0, 0), "late@20:50": (3, 0, 0), "stall@20": (1, 0, 0), "unplug@20:500": (1, 29, 70),
          "unplug@20:0": (1, 0, 0)}  # fmt: skip


def test_every_loss_is_counted_and_what_is_estimated_is_said_to_be(run: Run) -> None:
    """With stamps all that the camera counts is counted, with its numbers. Without, silence tells of the same frames. A
    camera that never comes back tells nothing: its frame in flight is an estimate either way."""
    stream = "ds325-stream --frames=60 --rate=60 --timeout-ms=1000 --replug-ms=1500 || true"
    script = "".join(
        f"echo '== {fault} {stamp}'\nplug {stamp} --fault {fault}\n{stream}\nunplug\n"
        for stamp in ("", "--stamp") for fault in LOSSES
    )  # fmt: skip
    parts = re.split(r"^== (.*)\n", run(script).stdout, flags=re.MULTILINE)[1:]
    for said, out in zip(parts[::2], parts[1::2], strict=True):
        fault, _, stamp = said.partition(" ")
        seen, (real, least, most) = values(out), LOSSES[fault]
        camera = seen["frames_lost_without_urb"] + seen["frames_dropped"] + seen["frames_cut"]
        counted = seen["lost"] + seen["lost_unseen_by_driver"] + seen["refused"]
        gaps = [(kind, int(first), int(count)) for kind, first, count in GAP.findall(out)]
        assert camera == real, said
        assert sum(count for *_, count in gaps) == counted + seen["lost_estimated"], said
        if stamp and fault != "unplug@20:0":
            assert (counted, gaps[0][1:]) == (camera, (20 if fault != "late@20:50" else 21, camera)), said
            assert least <= seen["lost_estimated"] <= most, said
        else:
            assert counted == 0, said
            assert real + least <= seen["lost_estimated"] <= real + most, said
            assert all(kind == "gap_estimated" for kind, *_ in gaps), said
            assert gaps[0][1] == 20, said
        if fault.startswith("unplug@20:5"):
            assert 0 < seen["replug_to_frame_ns"] <= 100e6, said  # from the node's being there
