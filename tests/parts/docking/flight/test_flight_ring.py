# SPDX-License-Identifier: MIT
"""The ring of decoded frames: readers see whole frames or know that they missed them, and never hold up the writer."""

import re
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.flight_programs import run

BUILDS = ["flight_ring", "flight_ring-asan", "flight_ring-tsan"]
SLOT_BYTES = 155_648
HEADER = struct.Struct("<8s8I")
GOOD = (b"DS325RNG", 1, 4096, 4, SLOT_BYTES, 64, 1, 320, 240)


@pytest.mark.parametrize("build", BUILDS)
def test_a_slow_reader_is_told_what_it_missed(build: str) -> None:
    done = run(build, "slow")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"as it should be\n", b"")


@pytest.mark.parametrize("build", BUILDS)
def test_readers_of_both_orders_keep_only_whole_frames(build: str) -> None:
    done = run(build, "stress", 500, 2, 4)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = re.findall(r"order=(\d) kept=(\d+) torn=(\d+) missed=(\d+)", done.stdout.decode())
    assert len(lines) == 4
    for _, kept, _, missed in lines:
        assert int(kept) + int(missed) <= 500


def image(path: Path, header: tuple[object, ...], published: int, bytes_: int) -> Path:
    with path.open("wb") as file:
        file.truncate(bytes_)
        file.write((HEADER.pack(*header).ljust(128, b"\0") + struct.pack("<Q", published))[:bytes_])
    return path


def test_a_ring_is_read_as_its_header_says(tmp_path: Path) -> None:
    path = image(tmp_path / "ring", GOOD, 2, 4096 + 4 * SLOT_BYTES)
    with path.open("r+b") as file:
        for number in range(2):
            start = 4096 + number * SLOT_BYTES
            file.seek(start)
            file.write(struct.pack("<QQ", 2 * number + 2, number))
            file.seek(start + 64 + 2 * (320 * 240 - 1))
            file.write(struct.pack("<H", 500 + number))
    done = run("flight_ring", "map", path)
    assert done.stdout == b"frame 0 of range 500\nframe 1 of range 501\n"


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({0: b"DS325RNX"}, "it is no ring of DS325 frames"),
        ({1: 2}, "its version is another than this program's"),
        ({2: 64}, "its layout is not that of its version"),
        ({3: 3}, "its number of slots is no power of two from 2 to 1024"),
        ({3: 8}, "it is shorter than its slots"),
        ({4: 1}, "its layout is not that of its version"),
        ({6: 9}, "its format is none that this program knows"),
        ({7: 640}, "its frames are not 320 x 240"),
    ],
)
def test_what_is_not_a_ring_is_refused(tmp_path: Path, changed: dict[int, object], complaint: str) -> None:
    header = tuple(changed.get(place, value) for place, value in enumerate(GOOD))
    done = run("flight_ring", "map", image(tmp_path / "ring", header, 0, 4096 + 4 * SLOT_BYTES))
    assert (done.returncode, done.stderr.decode()) == (3, f"{complaint}\n")


@settings(max_examples=40, deadline=None)
@example(fields={}, published=2**64 - 1, bytes_=4096 + 4 * SLOT_BYTES)
@example(fields={}, published=1000, bytes_=4096 + 4 * SLOT_BYTES)
@example(fields={}, published=0, bytes_=0)
@given(
    fields=st.dictionaries(st.integers(1, 8), st.integers(0, 2**32 - 1) | st.sampled_from([0, 1, 2, 4, 8, 1024])),
    published=st.integers(0, 2**64 - 1),
    bytes_=st.integers(0, 4096 + 5 * SLOT_BYTES),
)
def test_no_header_makes_a_reader_fault(
    tmp_path_factory: pytest.TempPathFactory, fields: dict[int, int], published: int, bytes_: int
) -> None:
    header = tuple(fields.get(place, value) for place, value in enumerate(GOOD))
    path = image(tmp_path_factory.mktemp("ring") / "ring", header, published, bytes_)
    try:
        done = run("flight_ring-asan", "map", path)
    except subprocess.TimeoutExpired:
        pytest.fail(f"a reader hangs on {header}, published {published}")
    assert done.returncode in (0, 3), done.stderr
