# SPDX-License-Identifier: MIT
"""Ranges from I and Q: the same bits by every way to decode, near to the truth, and nothing but whole frames."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.flight_programs import (
    DS325,
    FRAME_BYTES,
    HEIGHT,
    TURN_MM,
    WIDTH,
    packed,
    program,
    random_words,
    run,
    scene,
)

SATURATED = 32002
PHASE_ERROR_MM = 0.13  # docs/docking/lidar.md
FX, FY, CX, CY = 160 / np.tan(np.radians(37)), 120 / np.tan(np.radians(29)), 159.5, 119.5

Ranges = npt.NDArray[np.uint16]


def decoded(path: Path, frame: bytes, method: str = "scalar", **calibration: int) -> tuple[Ranges, Ranges, Ranges]:
    """Ranges, phases and amplitudes of one frame."""
    path.write_bytes(frame)
    done = run("flight_decode", "file", path, method, *(f"{key}={value}" for key, value in calibration.items()))
    assert (done.returncode, done.stderr) == (0, b"")
    ranges, phases, amplitudes = np.frombuffer(done.stdout, "<u2").reshape(3, HEIGHT, WIDTH)
    return ranges, phases, amplitudes


def wrapped(difference_mm: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Of ranges, which start again at a whole turn."""
    return np.abs((difference_mm + TURN_MM / 2) % TURN_MM - TURN_MM / 2)


def rays() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    v, u = np.mgrid[0:HEIGHT, 0:WIDTH]
    return (u - CX) / FX, (v - CY) / FY


@pytest.mark.guest
def test_every_pair_of_words_is_near_its_true_angle_and_the_same_by_every_way() -> None:
    done = run("flight_decode", "all")
    assert (done.returncode, done.stderr) == (0, b"")
    figures = dict(re.findall(r"(\w+)=([-\d.]+)", done.stdout.decode()))
    assert int(figures["pairs"]) > 4093**2
    assert 0.05 < float(figures["phase_error_max_mm"]) < PHASE_ERROR_MM
    assert abs(float(figures["phase_error_mean_mm"])) < 0.001
    assert float(figures["range_error_max_mm"]) < PHASE_ERROR_MM + 0.5


@pytest.mark.parametrize("build", ["flight_decode", "flight_decode-asan"])
def test_ways_agree_in_slices_of_any_size_at_any_address(build: str) -> None:
    done = run(build, "slices")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"slices the same\n", b"")


def test_ways_agree_on_random_frames_and_calibrations() -> None:
    done = run("flight_decode", "random", 60, 3)
    assert (done.returncode, done.stderr) == (0, b"")
    assert re.fullmatch(rb"60 frames the same in [12] ways\n", done.stdout)


@pytest.mark.full  # 30 s
def test_ways_agree_on_ten_thousand_random_frames() -> None:
    done = subprocess.run(
        [program("flight_decode"), "random", "10000", "11"], capture_output=True, timeout=600, check=True
    )
    assert done.stdout.startswith(b"10000 frames the same in")


@pytest.mark.full  # 40 s
@pytest.mark.skipif(
    not (shutil.which("qemu-aarch64") and shutil.which("aarch64-linux-gnu-gcc")),
    reason="NEON is not checked here: apt-get install qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
)
def test_neon_agrees_too() -> None:
    check = program("flight_decode-arm64")
    for arguments in (["all"], ["slices"], ["random", "100", "5"]):
        done = subprocess.run(["qemu-aarch64", check, *arguments], capture_output=True, timeout=600, check=True)
        assert b"same" in done.stdout or b"phase_error_max_mm=0.12" in done.stdout


def test_ranges_are_those_of_the_contract(tmp_path: Path) -> None:
    """docs/docking/emulator.md, computed here in floating point."""
    i, q = scene()
    ranges, phases, amplitudes = decoded(tmp_path / "frame", packed(i, q))
    amplitude = np.hypot(i.astype(float), q)
    turns = np.arctan2(q, i.astype(float)) / (2 * np.pi) % 1
    valid = (amplitude >= 10) & (np.maximum(np.abs(i), np.abs(q)) < 2047)
    assert valid.sum() > 20_000
    assert not ranges[~valid].any()
    assert (amplitudes == np.floor(amplitude)).all()
    assert wrapped(ranges - turns * TURN_MM)[valid].max() < 0.5 + PHASE_ERROR_MM
    assert wrapped((phases / 65536 - turns) * TURN_MM)[valid].max() < PHASE_ERROR_MM


def test_saturated_pixels_have_no_range(tmp_path: Path) -> None:
    i, q = random_words(4, 100)
    i[0, :8] = [2047, -2047, 2046, -2046, 32767, -32768, 0, 0]
    q[0, :8] = [0, 0, 0, 0, 0, 0, 2047, -32768]
    ranges, phases, amplitudes = decoded(tmp_path / "frame", packed(i, q))
    assert (ranges[0, :8] == SATURATED).tolist() == [True, True, False, False, True, True, True, True]
    assert not phases[0, [0, 1, 4, 5, 6, 7]].any()
    assert amplitudes[0, :8].tolist() == [2047, 2047, 2046, 2046, 2047, 2047, 2047, 2047]


def test_offset_drift_and_temperature_are_taken_off(tmp_path: Path) -> None:
    frame = packed(*scene())
    plain, _, _ = decoded(tmp_path / "frame", frame)
    moved, _, _ = decoded(tmp_path / "frame", frame, offset_um=12_000, drift_um_per_k=-500, temperature_mc=41_000)
    valid = plain > 0
    assert wrapped(plain[valid] - moved[valid].astype(float) - (12 - 0.5 * 16)).max() <= 1


def test_another_modulation_gives_another_range(tmp_path: Path) -> None:
    frame = packed(*scene())
    plain, _, _ = decoded(tmp_path / "frame", frame)
    double, _, _ = decoded(tmp_path / "frame", frame, modulation_hz=25_000_000)
    assert np.abs(double.astype(int) - 2 * plain.astype(int)).max() <= 2


@pytest.mark.parametrize("k", [(0, 0), (-150_000, 20_000), (120_000, 0)])
def test_depth_is_the_range_along_the_axis_with_distortion_undone(tmp_path: Path, k: tuple[int, int]) -> None:
    frame = packed(*scene())
    radial, _, _ = decoded(tmp_path / "frame", frame)
    depth, _, _ = decoded(tmp_path / "frame", frame, geometry=1, k1_ppm=k[0], k2_ppm=k[1])
    measured_x, measured_y = rays()
    x, y = measured_x, measured_y
    for _ in range(100):
        stretch = 1 + k[0] / 1e6 * (x**2 + y**2) + k[1] / 1e6 * (x**2 + y**2) ** 2
        x, y = measured_x / stretch, measured_y / stretch
    expected = radial / np.sqrt(x**2 + y**2 + 1)
    assert np.abs(depth - expected).max() < 1.1


def test_a_confidence_threshold_is_one_of_amplitude(tmp_path: Path) -> None:
    i, q = random_words(5, 200)
    ranges, _, _ = decoded(tmp_path / "frame", packed(i, q), confidence=150)
    assert ((np.hypot(i.astype(float), q) >= 150) >= (ranges > 0)).all()
    assert (ranges > 0).sum() > 10_000


@pytest.mark.parametrize(
    ("calibration", "complaint"),
    [
        ({"modulation_hz": 1_000_000}, "the modulation frequency must be 5 to 200 MHz"),
        ({"confidence": 0}, "the confidence threshold must be 1 to 2047 counts"),
        ({"confidence": 2048}, "the confidence threshold must be 1 to 2047 counts"),
        ({"offset_um": 1_000_001}, "offset and drift together must be at most 1 m"),
        ({"drift_um_per_k": 2**31 - 1, "temperature_mc": 2**31 - 1}, "offset and drift together must be at most 1 m"),
        ({"fx_upx": 0}, "the focal lengths must be 50 to 2000 pixels"),
        ({"k1_ppm": -1_000_001}, "the distortion's coefficients must be -1 to 1"),
        ({"k1_ppm": -1_000_000, "k2_ppm": -1_000_000}, "the distortion is too strong to be undone"),
    ],
)
def test_a_calibration_that_cannot_be_is_refused(tmp_path: Path, calibration: dict[str, int], complaint: str) -> None:
    (tmp_path / "frame").write_bytes(bytes(FRAME_BYTES))
    arguments = [f"{key}={value}" for key, value in calibration.items()]
    done = run("flight_decode-asan", "file", tmp_path / "frame", "scalar", *arguments)
    assert (done.returncode, done.stdout, done.stderr.decode()) == (2, b"", f"calibration: {complaint}\n")


@settings(max_examples=25, deadline=None)
@given(
    bytes_=st.one_of(st.integers(1, 100), st.integers(FRAME_BYTES - 40, FRAME_BYTES - 1), st.integers(1, FRAME_BYTES)),
    method=st.sampled_from(["scalar", "simd"]),
)
def test_a_frame_of_another_size_is_refused(tmp_path_factory: pytest.TempPathFactory, bytes_: int, method: str) -> None:
    path = tmp_path_factory.mktemp("short") / "frame"
    path.write_bytes(bytes(bytes_))
    done = run("flight_decode-asan", "file", path, method)
    if bytes_ == FRAME_BYTES:
        assert done.returncode == 0
    else:
        assert (done.returncode, done.stderr) == (3, b"frame of %d bytes\n" % bytes_)
        assert done.stdout == b""


@settings(max_examples=20, deadline=None)
@given(frame=st.binary(min_size=64, max_size=4096), method=st.sampled_from(["scalar", "simd"]))
def test_no_bytes_make_the_decoder_fault(tmp_path_factory: pytest.TempPathFactory, frame: bytes, method: str) -> None:
    path = tmp_path_factory.mktemp("bytes") / "frame"
    path.write_bytes((frame * (FRAME_BYTES // len(frame) + 1))[:FRAME_BYTES])
    done = run("flight_decode-asan", "file", path, method)
    assert (done.returncode, done.stderr, len(done.stdout)) == (0, b"", 3 * FRAME_BYTES // 2)


def test_the_reference_needs_neither_a_library_nor_floating_point(tmp_path: Path) -> None:
    """As a kernel module compiles it: its own types, general registers only."""
    (tmp_path / "linux").mkdir()
    (tmp_path / "linux/types.h").write_text(
        "#pragma once\n"
        "typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;"
        "typedef unsigned long long uint64_t; typedef short int16_t; typedef int int32_t; typedef long long int64_t;"
        "typedef unsigned long size_t, uintptr_t; typedef _Bool bool; enum { false, true };\n"
        "#define NULL ((void *)0)\n"
    )
    (tmp_path / "linux/math64.h").write_text("long long div64_s64(long long, long long);\n")
    (tmp_path / "linux/string.h").write_text("")
    (tmp_path / "linux/ioctl.h").write_text("#define _IOW(type, number, size) 0\n")
    (tmp_path / "ring.c").write_text('#include <linux/types.h>\n#include "ring.h"\n')
    for source in (DS325 / "decode.c", DS325 / "calibrate.c", tmp_path / "ring.c"):
        object_ = tmp_path / f"{source.stem}.o"
        flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-nostdinc", "-D__KERNEL__"]
        general = ["-mgeneral-regs-only"]
        subprocess.run(
            ["gcc", *flags, *general, f"-I{tmp_path}", f"-I{DS325}", "-c", source, "-o", object_], check=True
        )
        wants = subprocess.run(["nm", "-u", object_], capture_output=True, text=True, check=True).stdout.split()
        assert set(wants[1::2]) <= {"div64_s64", "ds325_blocks_scalar"}
