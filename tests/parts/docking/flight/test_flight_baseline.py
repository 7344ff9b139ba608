# SPDX-License-Identifier: MIT
"""The published driver's pipeline, rebuilt: its output byte by byte, its instructions, its switches.

With RTQUAL_OPENNI2DS325 naming the folder of its DepthDS325Stream.cpp (Source/Drivers/DS325/DriverImpl of
SIProp/openni2ds325), compared with that source itself, compiled outside this repository.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from support.flight_programs import (
    HEIGHT,
    WIDTH,
    Words,
    instructions_a_frame,
    packed,
    program,
    random_words,
    run,
    scene,
)

STUBS = Path(__file__).parents[3] / "support" / "openni2ds325"
sys.path.insert(0, str(Path(__file__).parents[4] / "docking/bench"))
UNREAD = 8  # pixels at the end that it never decodes

needs_valgrind = pytest.mark.skipif(
    shutil.which("valgrind") is None, reason="instructions are not counted here: apt-get install valgrind"
)


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("frames") / "frames"
    parts = [scene(), random_words(1, 2047), random_words(2, 32767)]
    path.write_bytes(b"".join(packed(i, q) for i, q in parts))
    return path


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = os.environ.get("RTQUAL_OPENNI2DS325")
    if place is None:
        pytest.skip("THE PUBLISHED DECODER IS NOT COMPARED WITH: set RTQUAL_OPENNI2DS325 to its DriverImpl folder")
    folder = tmp_path_factory.mktemp("published")
    for name in ("DepthDS325Stream.cpp", "DepthDS325Stream.h", "DepthDS325StreamData.h"):
        shutil.copy(Path(place) / name, folder)
    compiled = folder / "published"
    flags = ["-O2", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-fpermissive", "-w"]  # its own makefile's
    command: list[str | Path] = [
        "g++",
        *flags,
        f"-I{folder}",
        f"-I{STUBS}",
        STUBS / "main.cpp",
        folder / "DepthDS325Stream.cpp",
    ]
    subprocess.run([*command, "-o", compiled], check=True)
    return compiled


def described(i: Words, q: Words) -> npt.NDArray[np.uint16]:
    """The description's classes, by masks."""
    i_high, q_high = (words.astype(np.uint16) >> 8 for words in (i, q))
    low = q.astype(np.uint16) & 0xFF
    near = np.where(i_high <= 4, i_high, i_high - 4).astype(int)
    mirrored = (255 - 255 * (low.astype(int) + 255 * near) // 1023) & 0xFF
    # C divides towards zero, and what is divided is never negative.
    rules = [
        ((i_high == 0) & (q_high == 0), 0x0F00 | low),
        ((i_high == 0xFF) & (q_high == 0), np.where(low < 0xF0, 0x0700 | low, 0x07FF)),
        ((i_high == 0xFF) & (q_high == 0xFF), (3 + (low > 0x40) + (low > 0x80) + (low > 0xC0)) << 8 | low),
        ((i_high == 0) & (q_high == 0xFF) & (low >= 0xF0), 0x0E00 | low),
        (i_high <= 4, 0x0200 | mirrored),
        (i_high < 8, 0x0100 | mirrored),
    ]
    classes: npt.NDArray[np.uint16] = np.select([rule for rule, _ in rules], [value for _, value in rules], low)
    return classes


@pytest.mark.parametrize("words", [scene(), random_words(1, 2047), random_words(2, 32767)])
def test_classes_are_those_of_the_description(tmp_path: Path, words: tuple[Words, Words]) -> None:
    (tmp_path / "frame").write_bytes(packed(*words))
    assert run("flight_frames", tmp_path / "frame", 1, "baseline", tmp_path / "out").returncode == 0
    out = np.fromfile(tmp_path / "out", "<u2")
    assert (out[:-UNREAD] == described(*words).reshape(-1)[:-UNREAD]).all()
    assert not out[-UNREAD:].any()


@pytest.mark.parametrize("switches", ["decode", "decode,copy", "decode,clear", "decode,clear,copy"])
def test_a_switch_changes_the_cost_and_not_the_ranges(frames: Path, tmp_path: Path, switches: str) -> None:
    for name, method in (("all", "baseline"), ("some", f"baseline:{switches}")):
        assert run("flight_frames", frames, 3, method, tmp_path / name).returncode == 0
    assert (tmp_path / "all").read_bytes() == (tmp_path / "some").read_bytes()


def test_without_its_decoder_the_librarys_ranges_come(frames: Path, tmp_path: Path) -> None:
    for name, method in (("ours", "scalar"), ("baseline", "baseline:clear,copy")):
        assert run("flight_frames", frames, 3, method, tmp_path / name).returncode == 0
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "baseline").read_bytes()


@pytest.mark.parametrize("contour", [{}, {"DS325_CONTOUR": "1"}])
def test_its_output_is_the_published_ones(
    frames: Path, published: Path, tmp_path: Path, contour: dict[str, str]
) -> None:
    assert run("flight_frames", frames, 3, "baseline", tmp_path / "ours", **contour).returncode == 0
    subprocess.run([published, frames, "3", tmp_path / "theirs"], check=True, env=os.environ | contour)
    assert (tmp_path / "ours").stat().st_size == 3 * WIDTH * HEIGHT * 2
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


@pytest.mark.full  # 20 s
@needs_valgrind
def test_its_instructions_are_within_a_fifth_of_the_published_ones(frames: Path, published: Path) -> None:
    ours = instructions_a_frame([program("flight_frames"), frames, "{}", "baseline"])
    theirs = instructions_a_frame([published, frames, "{}"])
    assert abs(ours / theirs - 1) < 0.2, (ours, theirs)


@pytest.mark.guest
@needs_valgrind
def test_vectors_take_a_fifth_of_the_baselines_instructions_and_half_of_scalars(frames: Path) -> None:
    """The slowest vector unit: SSE2 here. Measured from one frame to two, which is enough: nothing in it is random."""
    counts = {
        method: instructions_a_frame([program("flight_frames"), frames, "{}", method], frames=1)
        for method in ("baseline", "scalar", "sse2" if os.uname().machine == "x86_64" else "simd")
    }
    baseline, scalar, vectors = counts.values()
    assert vectors < baseline / 5, counts
    assert vectors < scalar / 2, counts


@pytest.mark.guest  # 5 s
@needs_valgrind
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="SSE2's figures")
def test_what_is_empty_is_not_computed_and_a_full_picture_takes_no_more_for_it(tmp_path: Path) -> None:
    from decode import SCENES, counted

    far, full = (counted("sse2", tmp_path / "frames", SCENES[scene]) for scene in ("1.2 m", "wall"))
    assert far < 164_685, "what a spike of 35 lines took"
    assert full < 690_000, "what every frame took before: 643,260, and 5 % for Debian 13's compiler"
