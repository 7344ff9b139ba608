# SPDX-License-Identifier: MIT
"""The emulator under the kernel's own uvcvideo, in a guest: every frame by its bytes, every fault by what the driver
makes of it. Full tests: about a minute together on a quiet machine, of which 8 s are boot."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rtqual.base.apt import fetch_closure
from rtqual.base.architecture import AMD64
from rtqual.engine.initramfs.contents import copy_program, find
from rtqual.protocols.board import JobOutcome
from support.camera_guest import camera_guest
from support.software_camera import FRAME_BYTES, Z16_BYTES, Truth

SUPPORT = Path(__file__).parents[3] / "support"
RING = 4
COMMON = "".join(
    f"ds325-emulator --write {name} --frames {RING} --step 6 {more}\n"
    for name, more in (("ring", ""), ("ring16", "--format z16"))
)

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., JobOutcome]:
    """Runs a shell script in Debian's RT kernel; its modules, the emulator and a V4L2 reader are there."""
    folder = tmp_path_factory.mktemp("guest")
    reader = folder / "v4l2_frames"
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-s"]
    subprocess.run(["gcc", *flags, "-o", reader, SUPPORT / "v4l2_frames.c"], check=True)
    standard = folder / "standard"  # the usbip tools, v4l2-ctl and their libraries
    (standard / "usr/bin").mkdir(parents=True)
    packages = [package.tree for package in fetch_closure(("usbip", "v4l-utils"))]
    for name in ("usbip", "v4l2-ctl"):
        copy_program(find(packages, ("usr/sbin", "usr/bin"), name), standard, packages, AMD64.triplet)
    tools = {str(p.relative_to(standard)): p for p in standard.rglob("*") if p.is_file() and not p.is_symlink()}
    return camera_guest(folder / "scratch", {"usr/bin/v4l2_frames": reader, **tools}, common=COMMON)


class Seen:
    """What the reader printed: of each frame V4L2's sequence, bytes, error flag, CRC-32, stamp, latency."""

    def __init__(self, text: str) -> None:
        rows = [line.split() for line in text.splitlines() if line.startswith("frame ")]
        self.sequences = [int(r[2]) for r in rows]
        self.sizes = [int(r[3]) for r in rows]
        self.errors = [int(r[4]) for r in rows]
        self.crcs = [int(r[5], 16) for r in rows]
        self.stamps = [int(r[6]) for r in rows]
        self.latencies_us = [int(r[7]) for r in rows]
        self.ends = re.findall(r"^end (.+)$", text, re.MULTILINE)
        self.report = {k: int(v) for k, v in re.findall(r"^report (\S+) (\d+)$", text, re.MULTILINE)}


def truth(outcome: JobOutcome, name: str, tmp_path: Path) -> Truth:
    path = tmp_path / name
    path.write_text(outcome.files[name])
    return Truth.read(path)


@pytest.mark.parametrize("speed", ["high", "super"])
def test_uvcvideo_streams_every_byte_at_60_frames_a_second(
    run: Callable[..., JobOutcome], tmp_path: Path, speed: str
) -> None:
    outcome = run(
        f"plug --replay ring --speed {speed}\nv4l2_frames /dev/video0 yuyv 60 180\nunplug\n", collect=("ring.truth",)
    )
    seen, crcs = Seen(outcome.stdout), truth(outcome, "ring.truth", tmp_path).crcs
    assert seen.ends == ["done"]
    assert seen.sizes == [FRAME_BYTES] * 180
    assert seen.crcs == [crcs[n % RING] for n in range(180)]
    assert seen.sequences == list(range(180))
    assert sum(seen.errors) == 0
    assert seen.report["frames_lost_without_urb"] == 0


def test_the_standard_usbip_tools_attach_it_over_tcp(run: Callable[..., JobOutcome], tmp_path: Path) -> None:
    outcome = run(
        "ds325-emulator --listen 127.0.0.1:3240 --daemon --priority 60 --replay ring --report report\n"
        "usbip list -r 127.0.0.1\nusbip attach -r 127.0.0.1 -b 1-1 || exit 1\n"
        "tries=0; until [ -e /dev/video0 ] || [ $tries -gt 100 ]; do usleep 10000; tries=$((tries + 1)); done\n"
        "v4l2_frames /dev/video0 yuyv 60 60\nunplug\n",
        collect=("ring.truth",),
    )
    seen, crcs = Seen(outcome.stdout), truth(outcome, "ring.truth", tmp_path).crcs
    assert "2113:0145" in outcome.stdout  # the list
    assert seen.crcs == [crcs[n % RING] for n in range(60)]


def test_v4l2_ctl_streams_every_byte(run: Callable[..., JobOutcome]) -> None:
    """Debian's own tool writes what it got; it is compared with what the camera was given to send."""
    asked = "--set-fmt-video=width=640,height=240,pixelformat=YUYV --set-parm=60 --stream-mmap=4 --stream-count=60"
    outcome = run(
        f"plug --replay ring --speed high\nv4l2-ctl --device=/dev/video0 {asked} --stream-to=got || exit 1\nunplug\n"
        f"for n in $(seq {60 // RING}); do cat ring; done | cmp - got || exit 1\necho got $(wc -c < got)\n"
    )
    assert f"got {60 * FRAME_BYTES}" in outcome.stdout
    assert Seen(outcome.stdout).report["frames_lost_without_urb"] == 0


def test_z16_streams_too_and_all_rates_can_be_asked_for(run: Callable[..., JobOutcome], tmp_path: Path) -> None:
    script = "".join(
        f"plug --replay ring16 --format z16\nv4l2_frames /dev/video0 z16 {rate} 12\nunplug\n" for rate in (25, 60)
    )
    outcome = run(script, collect=("ring16.truth",))
    seen, crcs = Seen(outcome.stdout), truth(outcome, "ring16.truth", tmp_path).crcs
    assert seen.sizes == [Z16_BYTES] * 24
    assert seen.crcs == [crcs[n % RING] for n in range(12)] * 2
    assert seen.ends == ["done"] * 2


def test_unthrottled_and_stamped_it_is_far_faster_than_the_camera(run: Callable[..., JobOutcome]) -> None:
    outcome = run(
        "plug --replay ring --stamp --unthrottled\ndate=$(rtqual-agent now)\n"
        "NO_CRC=1 v4l2_frames /dev/video0 yuyv 60 300\necho elapsed $(($(rtqual-agent now) - date))\nunplug\n"
    )
    seen = Seen(outcome.stdout)
    elapsed = re.search(r"elapsed (\d+)", outcome.stdout)
    assert elapsed
    assert len(seen.stamps) == 300
    assert 300 / (int(elapsed[1]) / 1e9) > 300  # frames/s of guest time; 660 seen


# Fault at frame 5, what the reader's stamps show among 15 frames, and what the emulator reports.
FAULTS = {
    "drop@5": ([*range(5), *range(6, 16)], {"frames_dropped": 1}),
    "short@5": ([*range(5), *range(6, 16)], {"frames_dropped": 0}),
    "corrupt@5": ([*range(15)], {"frames_dropped": 0}),
    "error@5": ([*range(5), *range(6, 16)], {"frames_dropped": 0}),
    "header@5": ([*range(5), *range(6, 16)], {"frames_dropped": 0}),
    "late@5:5": ([*range(15)], {"frames_lost_without_urb": 0}),
    "late@5:20": ([*range(6), *range(7, 16)], {"frames_lost_without_urb": 1}),
    "stall@5": ([*range(5), *range(6, 12)], {"frames_dropped": 1, "streams": 2}),
    "unplug@5:300": ([*range(5), *range(6, 16)], {"frames_cut": 1, "plugged": 2}),
}


def test_each_fault_costs_the_frames_it_should_and_the_stream_goes_on(run: Callable[..., JobOutcome]) -> None:
    script = "".join(
        f"echo case {fault}\nplug --replay ring --stamp --fault {fault}\n"
        f"v4l2_frames /dev/video0 yuyv 60 15 --again\nunplug\n"
        for fault in FAULTS
    )
    cases = run(script).stdout.split("case ")[1:]
    for case, (fault, (stamps, report)) in zip(cases, FAULTS.items(), strict=True):
        seen = Seen(case)
        assert case.startswith(fault)
        assert [s for s, e in zip(seen.stamps, seen.errors, strict=True) if not e] == stamps, fault
        assert report.items() <= seen.report.items(), fault


def test_an_unplugged_reader_is_told(run: Callable[..., JobOutcome]) -> None:
    outcome = run("plug --replay ring --fault unplug@3:0\nv4l2_frames /dev/video0 yuyv 60 15\nunplug\n")
    assert Seen(outcome.stdout).ends == ["unplugged"]


def test_wrong_descriptors_harm_nothing_and_the_right_ones_work_after(run: Callable[..., JobOutcome]) -> None:
    kinds = (
        "truncated total-length zero-length length intervals interval-0 size format no-format no-endpoint endpoint"
        " no-unit loop class"
    )
    outcome = run(
        f"for kind in {kinds}; do\n  ds325-emulator --attach --daemon --replay ring --descriptors $kind || exit 1\n"
        "  usleep 400000\n  [ -e /dev/video0 ] && v4l2_frames /dev/video0 yuyv 60 2 > /dev/null\n"
        '  kill "$(pidof ds325-emulator)"\n'
        "  while pidof ds325-emulator > /dev/null || [ -e /dev/video0 ]; do usleep 10000; done\ndone\n"
        "plug --replay ring\nv4l2_frames /dev/video0 yuyv 60 5\nunplug\n"
    )
    assert Seen(outcome.stdout).ends == ["done"]
