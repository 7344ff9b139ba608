# SPDX-License-Identifier: MIT
"""OpenNI2's driver: Debian's runtime loads it here, and in a guest OpenNI2's own sample and a reader of ours see every
pixel of the emulated camera's frames. The full tests take about a minute together, of which 8 s are boot."""

import atexit
import os
import re
import shutil
import subprocess
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import numpy.typing as npt
import pytest
from elftools.elf.elffile import ELFFile

from rtqual.base.apt import fetch_closure
from rtqual.base.architecture import AMD64
from rtqual.engine.initramfs.contents import copy_program, find, guest_file
from rtqual.protocols.board import JobOutcome
from support.camera_guest import camera_guest
from support.flight_programs import FLIGHT, ROOT
from support.flight_programs import run as run_here
from support.software_camera import FRAME_BYTES, HEIGHT, WIDTH

SUPPORT = Path(__file__).parents[3] / "support"
LIBRARIES = f"lib/{AMD64.triplet}"
URI = "2113/0145@2-1"  # the first port of the SuperSpeed bus
FRAMES = 16
SATURATED = 32002
MOST_MM = 2998  # c / 2f at 50 MHz, rounded up
# Near enough and bright enough for saturated pixels, and every frame another depth in the middle.
SCENE = ("--frames", str(FRAMES), "--step", "1.2", "--amplitude", "320")
# The runtime itself leaks a little: what it allocated itself, and nothing else, is not held against the driver.
SANITIZED = f"""\
echo leak:libOpenNI2 > suppressions
export LD_LIBRARY_PATH=/usr/lib/asan LSAN_OPTIONS=suppressions=suppressions:print_suppressions=0
export ASAN_OPTIONS=malloc_context_size=2
LD_PRELOAD=/{LIBRARIES}/libasan.so.8 """


@cache
def trees() -> list[Path]:
    return [package.tree for package in fetch_closure(("libopenni2-dev", "libasan8", "libubsan1"))]


@cache
def build(target: str) -> Path:
    """`libDS325.so.0` or, with sanitizers, `asan/libDS325.so.0`; `frames`, our reader; `SimpleRead`, OpenNI2's own."""
    folder = Path(_folder())
    include = find(trees(), ("usr/include",), "openni2")
    if target.endswith(".so.0"):
        options = [f"BUILD={folder}", f"OPENNI2_INCLUDE={include}"]
        subprocess.run(["make", "-s", "-C", FLIGHT / "openni2", *options, folder / target], check=True)
        return folder / target
    samples = find(trees(), ("usr/share/doc/libopenni2-dev/examples",), "Samples")
    sources = {
        "frames": [SUPPORT / "openni2_frames.cpp", "-std=c++17", "-Wall", "-Wextra", "-Werror"],
        "SimpleRead": [samples / "SimpleRead/main.cpp", f"-I{samples / 'Common'}"],
    }
    runtime = find(trees(), (f"usr/{LIBRARIES}",), "libOpenNI2.so.0")
    linked = [runtime, "-Wl,--allow-shlib-undefined"]
    subprocess.run(["g++", "-O2", "-isystem", include, *sources[target], *linked, "-o", folder / target], check=True)
    return folder / target


@cache
def _folder() -> str:
    folder = mkdtemp(prefix="rtqual-openni2-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def exported(library: Path) -> set[str]:
    with library.open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        return {s.name for s in symbols if s["st_shndx"] != "SHN_UNDEF" and s.name.startswith("oniDriver")}


@pytest.mark.guest
def test_it_exports_what_debians_own_drivers_export() -> None:
    drivers = find(trees(), (f"usr/{LIBRARIES}/OpenNI2",), "Drivers")
    assert exported(build("asan/libDS325.so.0")) == exported(drivers / "libDummyDevice.so.0")


@pytest.mark.guest
def test_the_runtime_loads_it_and_finds_no_camera_here(tmp_path: Path) -> None:
    """With sanitizers, so that starting and ending leak nothing."""
    drivers = tmp_path / "OpenNI2/Drivers"
    drivers.mkdir(parents=True)
    shutil.copy(find(trees(), (f"usr/{LIBRARIES}",), "libOpenNI2.so.0"), tmp_path)
    shutil.copy(build("asan/libDS325.so.0"), drivers)
    library = subprocess.run(["g++", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout
    jpeg = find(trees(), (f"usr/{LIBRARIES}",), "libjpeg.so.62").parent
    environment = {"LD_LIBRARY_PATH": f"{tmp_path}:{jpeg}", "LD_PRELOAD": library.strip()}
    done = subprocess.run(
        [build("frames"), "1"], env=os.environ | environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert "no devices found" in done.stdout
    assert "AddressSanitizer" not in done.stderr
    assert done.returncode == 1, done.stderr


@pytest.mark.guest  # OpenNI2's headers come from apt, and a compiler of C++ takes five seconds
def test_a_listener_may_open_and_close_devices_while_its_thread_is_awaited(tmp_path: Path) -> None:
    include, driver = find(trees(), ("usr/include",), "openni2"), FLIGHT / "openni2"
    sources = [SUPPORT / "openni2_driver.cpp", driver / "driver.cpp", driver / "device.cpp"]
    seen = [f"-I{ROOT / folder}" for folder in ("docking", "docking/camera", "target")]
    options = ["-std=c++17", "-g", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-pthread", *seen]
    command = ["g++", *options, "-DDS325_VERSION=0,0,0", "-isystem", include, *sources, "-o", tmp_path / "driver"]
    subprocess.run(command, check=True)
    done = subprocess.run([tmp_path / "driver"], capture_output=True, text=True, timeout=60, check=False)
    assert "failures 0" in done.stdout, done.stdout


# --- in a guest -------------------------------------------------------------------------------------------------------


@cache
def scene() -> Path:
    """The recording that is sent, made by the emulator as it is in the guest."""
    path = Path(_folder()) / "scene"
    subprocess.run([guest_file("ds325-emulator"), *SCENE, "--write", path], check=True)
    return path


@cache
def depths() -> npt.NDArray[np.uint16]:
    """What the flight library's reference decodes, (frames, 240, 320): mm along the axis, saturated pixels as 0."""
    frames = scene().read_bytes()
    decoded = []
    for at in range(0, len(frames), FRAME_BYTES):
        one = Path(_folder()) / "one"
        one.write_bytes(frames[at : at + FRAME_BYTES])
        done = run_here("flight_decode", "file", one, "scalar", "geometry=1")
        decoded.append(np.frombuffer(done.stdout, "<u2").reshape(3, HEIGHT, WIDTH)[0])
    raw = np.stack(decoded)
    assert (raw == SATURATED).sum() > 100  # else nothing shows that they become 0
    return np.where(raw == SATURATED, 0, raw).astype("<u2")


def crcs(frames: npt.NDArray[np.uint16]) -> list[int]:
    return [zlib.crc32(frame.tobytes()) for frame in frames]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], JobOutcome]:
    """Runs a shell script in Debian's RT kernel with Debian's OpenNI2, all its drivers and ours."""
    folder = tmp_path_factory.mktemp("guest")
    root = folder / "root"
    for place in ("usr/bin", f"{LIBRARIES}/OpenNI2/Drivers", "usr/lib/asan/OpenNI2/Drivers"):
        (root / place).mkdir(parents=True)
    for name in ("frames", "SimpleRead"):
        copy_program(build(name), root, trees(), AMD64.triplet)
    drivers = find(trees(), (f"usr/{LIBRARIES}/OpenNI2",), "Drivers").glob("lib*.so.0")
    for driver in (*drivers, build("libDS325.so.0")):
        copy_program(driver, root, trees(), AMD64.triplet)  # for what it needs
        (root / "usr/bin" / driver.name).rename(root / LIBRARIES / "OpenNI2/Drivers" / driver.name)
    # The runtime looks for drivers beside itself.
    copy_program(build("asan/libDS325.so.0"), root, trees(), AMD64.triplet)
    (root / "usr/bin/libDS325.so.0").rename(root / "usr/lib/asan/OpenNI2/Drivers/libDS325.so.0")
    shutil.copy(root / LIBRARIES / "libOpenNI2.so.0", root / "usr/lib/asan")
    sent = {"usr/share/scene": scene(), "usr/share/scene.truth": scene().with_suffix(".truth")}
    files = {str(p.relative_to(root)): p for p in root.rglob("*") if p.is_file() and not p.is_symlink()}
    guest = camera_guest(folder / "scratch", sent | files, options="--priority 60 --replay /usr/share/scene")

    def run(script: str) -> JobOutcome:
        outcome = guest(script)
        assert "failed" not in outcome.stdout, outcome.stdout
        return outcome

    return run


class Seen:
    """What our reader printed: index, time in us and CRC-32 of each frame; the other lines as they are."""

    def __init__(self, outcome: JobOutcome) -> None:
        lines = outcome.stdout.splitlines()
        frames = [line.split()[1:] for line in lines if line.startswith("frame ")]
        self.indices = [int(f[0]) for f in frames]
        self.times_us = [int(f[1]) for f in frames]
        self.crcs = [int(f[2], 16) for f in frames]
        self.others = [line for line in lines if not line.startswith("frame ")]
        assert self.others[-1:] == ["end"], outcome.stdout + outcome.stderr


def assert_spaced(times_us: list[int], rate: int) -> None:
    """By the camera's clock; a frame is stamped when its first packet comes, so some jitter stays."""
    steps = np.diff(times_us)
    assert np.abs(steps - 1e6 / rate).max() < 1000, steps
    assert abs(steps.mean() - 1e6 / rate) < 50, steps


@pytest.mark.full
def test_openni2s_own_sample_prints_the_scenes_depths(run: Callable[[str], JobOutcome]) -> None:
    """SimpleRead as Debian ships it, ended by a key. It prints the pixel at (240 + 1) * 320 / 2."""
    outcome = run("plug\n(usleep 1500000; echo) | SimpleRead > out || exit 1\ncat out\n")
    lines = outcome.stdout.splitlines()
    printed = [re.fullmatch(r"\[(\d+)\] +(\d+)", line) for line in lines]
    assert len(lines) > 35
    assert all(printed), lines
    middle = depths()[:, 120, 160].tolist()
    assert len(set(middle)) == FRAMES
    assert [int(p[2]) for p in printed if p] == [middle[n % FRAMES] for n in range(len(lines))]
    assert_spaced([int(p[1]) for p in printed if p], 30)


@pytest.mark.full
@pytest.mark.parametrize(("rate", "driver"), [(25, "asan"), (60, "")])
def test_every_pixel_of_every_frame_is_the_decoded_scenes(
    run: Callable[[str], JobOutcome], rate: int, driver: str
) -> None:
    seen = Seen(run(f"plug\n{SANITIZED if driver else ''}frames 60 rate={rate} || exit 1\n"))
    assert seen.crcs == [crcs(depths())[n % FRAMES] for n in range(60)]
    assert seen.indices == list(range(60))
    assert_spaced(seen.times_us, rate)
    modes = [f"mode 100 320 240 {fps}" for fps in (30, 25, 50, 60)]
    assert seen.others[:-1] == [
        f"device {URI} SoftKinetic DS325 2113:0145",
        *modes,
        "fov 1.291544 1.012291",
        f"values 0 {MOST_MM}",
        "world 753.554 0.000 1000.000",  # tan 37 degrees
        "wrong-rate 3",
        "while-streaming 5",
        "cropping 0",
    ]


def test_the_decoded_scene_is_what_the_camera_itself_would_send_as_depth(tmp_path: Path) -> None:
    """Z16 is computed in floating point by the emulator: another way to the same depths."""
    subprocess.run([guest_file("ds325-emulator"), *SCENE, "--format", "z16", "--write", tmp_path / "z16"], check=True)
    z16 = np.frombuffer((tmp_path / "z16").read_bytes(), "<u2").reshape(-1, HEIGHT, WIDTH).astype(int)
    z16[z16 == SATURATED] = 0
    assert ((z16 == 0) == (depths() == 0)).all()
    assert np.abs(z16 - depths()).max() <= 1
    assert 0 < depths().max() <= MOST_MM


@pytest.mark.full
def test_mirrored_frames_are_the_same_from_right_to_left(run: Callable[[str], JobOutcome]) -> None:
    seen = Seen(run("plug\nframes 20 mirror=1 || exit 1\n"))
    assert seen.crcs == [crcs(depths()[:, :, ::-1])[n % FRAMES] for n in range(20)]


@pytest.mark.full
def test_a_frame_without_a_buffer_is_dropped_and_its_index_is_missing(run: Callable[[str], JobOutcome]) -> None:
    seen = Seen(run("plug\nframes 20 rate=60 refuse=4 || exit 1\n"))
    assert seen.indices == [n for n in range(26) if n % 4 != 3]
    assert seen.crcs == [crcs(depths())[n % FRAMES] for n in seen.indices]


@pytest.mark.full
@pytest.mark.parametrize(("reopen", "driver"), [(0, ""), (1, ""), (1, "asan")])
def test_an_unplugged_camera_is_told_and_streams_again_when_it_is_back(
    run: Callable[[str], JobOutcome], reopen: int, driver: str
) -> None:
    """On the stream that was open, and on one opened anew while the old one still waits."""
    seen = Seen(
        run(f"plug --fault unplug@10:400\n{SANITIZED if driver else ''}frames 40 rate=25 reopen={reopen} || exit 1\n")
    )
    events = [line for line in seen.others if line.startswith(("connected", "disconnected", "reopened"))]
    assert events == [f"disconnected {URI}", f"connected {URI}", *["reopened"] * reopen]
    expected = crcs(depths())
    assert seen.crcs[:10] == expected[:10]
    first = expected.index(seen.crcs[10])
    assert seen.crcs[10:] == [expected[(first + n) % FRAMES] for n in range(30)]
    assert 400_000 < seen.times_us[10] - seen.times_us[9] < 1_400_000
    if not reopen:
        assert seen.indices == list(range(40))
