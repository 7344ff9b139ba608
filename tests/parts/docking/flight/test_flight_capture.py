# SPDX-License-Identifier: MIT
"""ds325-stream on the emulated camera, through Debian's RT kernel's own uvcvideo: poses beside ranges, and each loss.
Full tests: one guest, booted for each test (8 s on a quiet machine)."""

import re
from collections.abc import Callable

import pytest

from rtqual.protocols.board import JobOutcome
from support.camera_guest import camera_guest
from support.flight_programs import program
from support.software_camera import values

# 30 frames at 60 a second, over and over: there and back, since a target that jumps is lost.
COMMON = """\
ds325-emulator --write ring --frames 30 --step 0.016666667 --at '0 0.05 -0.03 0.5 5 3 -4' \
    --at '0.25 0.0475 -0.0275 0.49 4.75 2.75 -3.75' --at '0.5 0.05 -0.03 0.5 5 3 -4'
camera() { plug "$@"; for thread in vhci_rx vhci_tx; do chrt -f -p 50 "$(pidof $thread)"; done; }
gone() { unplug; sed 's/^/log /' log; }
"""
GAP = re.compile(r"^(gap|gap_estimated)=(\d+) (\d+)", re.MULTILINE)
Run = Callable[..., JobOutcome]

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a shell script in the guest."""
    extra = {"usr/bin/ds325-stream": program("ds325-stream")}
    return camera_guest(tmp_path_factory.mktemp("guest"), extra, common=COMMON, options="--priority 70 --replay ring")


def listed(text: str, name: str) -> list[int]:
    line = re.search(rf"^{name}=(.*)$", text, re.MULTILINE)
    assert line, f"no {name} in {text[-500:]}"
    return [int(value) for value in line[1].split()]


def test_each_frame_has_its_pose_or_is_said_to_have_none(run: Run) -> None:
    out = run("camera --stamp\nds325-stream --pose --frames=120 --check=ring\ngone\n").stdout
    seen = values(out)
    assert (seen["frames"], seen["check_good"], seen["lost"], seen["page_faults"]) == (120, 120, 0, 0)
    assert seen["poses_valid"] + seen["poses_degenerate"] + seen["poses_not_found"] == 120
    assert seen["poses_valid"] >= 110
    ranges, poses, cpu = (listed(out, name) for name in ("latency_ns", "pose_latency_ns", "pose_cpu_ns"))
    assert len(ranges) == len(poses) == len(cpu) == 120
    assert all(pose >= to_range + spent * 0.9 for pose, to_range, spent in zip(poses, ranges, cpu, strict=True))


# What the camera counts, and what the length of the silence adds: an unplugged camera is back 0.3 s after its 0.5 s.
LOSSES = {"drop@20": (1, 0, 0), "late@20:50": (3, 0, 0), "stall@20": (1, 0, 0), "unplug@20:500": (1, 29, 70),
          "unplug@20:0": (1, 0, 0)}  # fmt: skip


def test_every_loss_is_counted_and_what_is_estimated_is_said_to_be(run: Run) -> None:
    """With stamps all that the camera counts is counted, with its numbers. Without, silence tells of the same frames. A
    camera that never comes back tells nothing: its frame in flight is an estimate either way."""
    stream = "ds325-stream --frames=60 --rate=60 --timeout-ms=1000 --replug-ms=1500 || true"
    script = "".join(
        f"echo '== {fault} {stamp}'\ncamera {stamp} --fault {fault}\n{stream}\ngone\n"
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
            assert 0 < seen["replug_to_frame_ns"] <= 100e6, said  # from when it streams again


# The kernel's messages about a camera at its port and the driver that took it, beside the clock of the camera's log.
# That clock is read in steps of 10 ms, so differences come out at most that much too large.
CLOCKS = 'read -r seconds idle < /proc/uptime; echo rtqual-clock > /dev/kmsg; echo "clock $seconds"\n'
TOLD = "dmesg | grep -E 'rtqual-clock|sockfd|Found UVC|its ranges'\n"
BACK = {
    "uvc": (("uvcvideo", "vhci-hcd"), "", "--rate=60 --replug-ms=1500", "Found UVC"),
    "driver": (("vhci-hcd",), "insmod /lib/rtqual/ds325-ring.ko; insmod /lib/rtqual/ds325-usb.ko\n",
               "--method=ring --device=/dev/ds325-0 --replug-ms=1500", "its ranges are at"),
}  # fmt: skip


@pytest.mark.parametrize("way", BACK)
def test_frames_come_within_a_tenth_of_a_second_of_the_driver_and_a_second_of_the_replug(run: Run, way: str) -> None:
    """In the guest's time. The first good frame is there when it was sent, and its latency later."""
    modules, load, options, probed = BACK[way]
    script = f"{load}camera --stamp --fault unplug@20:500\nds325-stream --frames=60 {options}\ngone\n{CLOCKS}{TOLD}"
    out = run(script, modules=modules).stdout
    assert len(re.findall(r"^frames=60$", out, re.MULTILINE)) == 1
    messages = [(float(at), text) for at, text in re.findall(r"^\[ *(\d+\.\d+)\] (.*)$", out, re.MULTILINE)]
    clock = re.search(r"^clock (\d+\.\d+)$", out, re.MULTILINE)
    assert clock
    ahead_s = next(at for at, text in messages if "rtqual-clock" in text) - float(clock[1])

    def at_s(what: str) -> float:
        """When that was said of the camera that came back, on the camera's clock."""
        first, second = (at for at, text in messages if what in text)
        assert first < second
        return second - ahead_s

    sent = re.findall(r"^log (\d+) \d+ \S+ (\w+) \d+ \d+ (\d+)$", out, re.MULTILINE)
    cut = next(int(number) for number, outcome, _ in sent if outcome == "cut")
    came_s = [int(ns) / 1e9 for number, outcome, ns in sent if int(number) > cut and outcome == "sent"]
    there_s = came_s[0] + listed(out, "latency_ns")[20] / 1e9
    assert 0 < there_s - at_s(probed) <= 0.1
    assert there_s - at_s("sockfd") <= 1
