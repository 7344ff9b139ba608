# SPDX-License-Identifier: MIT
"""Streams as long as an approach: no frame may be lost. By hand: 10 minutes of a guest, 5 to 25 of ours, for each."""

import re
from collections.abc import Callable

import pytest

from rtqual.base.apt import fetch_closure
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.candidates.debian import prepare
from rtqual.engine.initramfs.contents import TOOL_PACKAGES
from rtqual.protocols.board import Command, Job, Machine
from rtqual.protocols.load.all_loads import all_loads
from rtqual_docking.guest_script import COMMON, DRIVER_MODULE, rendered
from rtqual_docking.ways import DRIVER, MMAP_RAISED, MMAP_SIMD, LidarParameters, Way

pytestmark = pytest.mark.manual
Stream = Callable[..., dict[str, int]]
# Of each list of figures its quantiles, in ns: the whole lists would be megabytes over a serial line.
TOLD = """\
grep -v '_ns=.* \\|^frame_number=' stream
tr ' ' '\\n' < stream | sed -n '/^latency_ns=/,/=/{s/.*=//;p}' | sed '$d' | sort -n > sorted; n=$(wc -l < sorted)
for q in 50 99 100; do echo p$q=$(sed -n "$((n * q / 100))p" sorted); done
sed 's/ /=/' report
"""


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Stream:
    """Streams by one way under Debian's PREEMPT_RT kernel; what ds325-stream and the emulator counted."""
    tools = fetch_closure(TOOL_PACKAGES)
    kernel = prepare("debian-rt", "linux-image-rt-amd64", preempt=None, boot=(), tools=tools, programs=(DRIVER_MODULE,))
    board = VirtualBoard(kernel, Machine(), tmp_path_factory.mktemp("long"))

    def run(way: Way, frames: int, load: str) -> dict[str, int]:
        asked = LidarParameters(frames=frames)
        inserted = [f"insmod /lib/rtqual/{module} || exit 1" for module in way.own_modules]
        setup = [COMMON, rendered(1), *inserted, way._plugged(asked, "frames")]
        command = f"{way._stream(asked, frames)} --check=frames --output=stream || {{ tail -n 1 stream; exit 1; }}"
        job = Job(
            setup=(Command(("sh", "-c", "\n".join(setup))),),
            measure=Command(("sh", "-c", "\n".join((COMMON, command, "unplug", TOLD))), fifo=1),
            loads=all_loads()[load].background,
            modules=way.modules,
        )
        outcome = board.run(job, seed=1, timeout_s=3600)
        assert outcome.exit_code == 0, outcome.stderr + outcome.stdout[-300:]
        print(outcome.stdout)  # the figures, for the documentation: pytest -s
        return {key: int(value) for key, value in re.findall(r"^(\w+)=(\d+)$", outcome.stdout, re.MULTILINE)}

    return run


def assert_none_lost(told: dict[str, int], frames: int) -> None:
    assert (told["check_good"], told["check_wrong"], told["frames_lost_without_urb"]) == (frames, 0, 0)
    lost = ("lost", "lost_unseen_by_driver", "refused", "ring_missed", "ring_torn", "ring_lost", "ring_refused")
    assert {name: told[name] for name in lost if told.get(name)} == {}


@pytest.mark.parametrize("way", [DRIVER, MMAP_SIMD], ids=lambda way: way.name)
def test_ten_minutes_lose_no_frame(way: Way, stream: Stream) -> None:
    told = stream(way, 36_000, "none")
    assert_none_lost(told, 36_000)
    assert told["p99"] <= 2e6


@pytest.mark.parametrize("way", [DRIVER, MMAP_RAISED], ids=lambda way: way.name)
def test_600_frames_under_load_lose_none(way: Way, stream: Stream) -> None:
    """uvcvideo as it comes loses some, for its workers wait for the load; with raised priority they do not."""
    assert_none_lost(stream(way, 600, "hackbench"), 600)
