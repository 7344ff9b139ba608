# SPDX-License-Identifier: MIT
"""The vectors that the virtual PC's processor lacks, in kernels: AVX2 on another processor, NEON on the ARM board."""

import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from rtqual.base.architecture import AMD64, ARM64, Architecture
from rtqual.engine.initramfs.contents import guest_file
from support.kmod_guest import KMOD, Guest, boot, exact, hashed
from support.software_camera import values

pytestmark = pytest.mark.full  # a minute and a half, a third of it boots
ROUNDED = 468  # a frame with a pixel whose range is another if divisions are rounded upwards


@dataclass(frozen=True)
class Place:
    """A kernel on a processor, what vectors it has, and how many frames go through them."""

    kernel: str
    architecture: Architecture
    vectors: str
    frames: int
    cpu: str = ""


AVX2 = Place("linux-image-rt-amd64", AMD64, "avx2", 1000, "Haswell")
NEON = Place("linux-image-rt-arm64", ARM64, "neon", 2500)
NEON_LATER = Place("linux-image-6.12-rt-arm64", ARM64, "neon", 250)  # leaves preemption on beside vectors
PLACES = {f"{place.vectors} {place.kernel}": place for place in (AVX2, NEON, NEON_LATER)}
ON_ARM = [NEON, NEON_LATER]


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Place], Guest]:
    folder = tmp_path_factory.mktemp("vectors")

    def on(place: Place) -> Guest:
        return boot(place.kernel, folder, programs(place.architecture, folder), place.architecture, place.cpu)

    return cache(on)


def programs(architecture: Architecture, folder: Path) -> Mapping[str, Path]:
    """Name in the guest -> file."""
    rounding = folder / f"ds325_rounding{architecture.suffix}"
    subprocess.run(["make", "-s", "-C", KMOD / "test", f"BUILD={folder}", rounding], check=True)
    own = {name: guest_file(name + architecture.suffix) for name in ("ds325-stream", "ds325-emulator")}
    return {"ds325_rounding": rounding, **own}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_ranges_in_the_kernel_are_the_scalar_references(
    place: Place, guest: Callable[[Place], Guest], tmp_path: Path
) -> None:
    """Random words and edge cases: with the vectors asked for, with `auto`, which takes them, and without."""
    script = exact(place.vectors, place.frames) + exact("auto", 60, first=9000) + exact("scalar", 30, first=400)
    lines = guest(place)(script).stdout.splitlines()
    told = [line for line in lines if "ds325_exact:" in line]
    asked = [(place.frames, 0), (60, 9000), (30, 400)]
    for line, (frames, first) in zip(told, asked, strict=True):
        assert hashed(frames, tmp_path, first=first) in line
    by_vectors, by_auto, by_scalar = (
        int(re.findall(r" (\d+) ns", line)[0]) / frames for line, (frames, _) in zip(told, asked, strict=True)
    )
    print(f"{place}: ns a frame {by_vectors:.0f}, auto {by_auto:.0f}, scalar {by_scalar:.0f}")  # for docs: pytest -s
    assert by_auto == pytest.approx(by_vectors, rel=0.3)
    assert by_vectors < by_scalar / 3


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_program_that_rounds_otherwise_changes_no_range_and_goes_on_so(
    place: Place, guest: Callable[[Place], Guest], tmp_path: Path
) -> None:
    script = exact(place.vectors, 1, first=ROUNDED)
    rounded = re.sub(r"insmod (\S+exact.ko) (\S+ \S+) ", r"ds325_rounding \1 '\2' ", script)
    assert rounded != script
    assert hashed(1, tmp_path, first=ROUNDED) in guest(place)(rounded).stdout


@pytest.mark.parametrize("how", ["", "in_completion=1"])
@pytest.mark.parametrize("place", ON_ARM, ids=lambda place: place.kernel)
def test_the_cameras_frames_arrive_whole_on_arm(place: Place, how: str, guest: Callable[[Place], Guest]) -> None:
    seen = values(
        guest(place)(f"load {how}\nplug\nchecked --device=/dev/ds325-0 --frames=120\nunplug\nunload\n").stdout
    )
    assert (seen["check_good"], seen["check_wrong"]) == (120, 0)
    assert (seen["ring_missed"], seen["ring_lost"], seen["ring_refused"]) == (0, 0, 0)
    assert seen["frames_lost_without_urb"] == 0
