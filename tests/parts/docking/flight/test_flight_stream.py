# SPDX-License-Identifier: MIT
"""ds325-stream: what it refuses here, and the emulated camera's frames through the real uvcvideo driver in a guest."""

import re
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from support.flight_programs import FRAME_BYTES, program, run

MOST_BYTES = 200 * 1024  # gcc 12 makes fewer than 190 KiB, gcc 14 (Debian 13) 198 of the same


def test_the_program_is_small_and_static() -> None:
    stream = program("ds325-stream")
    assert stream.stat().st_size <= MOST_BYTES
    with stream.open("rb") as file:
        elf = ELFFile(file)
        assert not [segment for segment in elf.iter_segments() if segment["p_type"] in ("PT_INTERP", "PT_DYNAMIC")]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["mmap"], "mmap is no option: these have the form --KEY=VALUE"),
        (["--frames"], "--frames needs a value"),
        (["--frames=0"], "--frames=0: a number from 1 to 10000000 is needed"),
        (["--frames=1e3"], "--frames=1e3: a number from 1 to 10000000 is needed"),
        (["--frames= 5"], "--frames= 5: a number from 1 to 10000000 is needed"),
        (["--fr\nmes=5"], "--fr?mes is no option; --help lists them"),
        (["--frames", ""], "--frames=: a number from 1 to 10000000 is needed"),
        (["--offset-um=-2000000001"], "--offset-um=-2000000001: a number from -2000000000 to 2000000000 is needed"),
        (["--method=magic"], "--method=magic is none of those that --help lists"),
        (["--decode=neon3"], "--decode=neon3 is none of those that --help lists"),
        (["--priority=99"], "--priority=99: a number from 0 to 98 is needed"),
        (["--baseline-switches=decode,"],
         "--baseline-switches=decode,: all, none, or of decode,clear,copy,sleep,command,stamp"),
        (["--loops=3"], "--loops is no option; --help lists them"),
        (["--output=/nowhere/out"], "--output=/nowhere/out: No such file or directory"),
        (["--modulation-hz=1"], "the modulation frequency must be 5 to 200 MHz"),
        (["--device=" + "x" * 128], f"--device={'x' * 128} is too long a name"),
        (["--check=/nowhere/file"], "--check=/nowhere/file: No such file or directory"),
        (["--check=/dev/zero"],
         "--check=/dev/zero: this is a pipe, a socket or a device, and a file is needed"),
        (["--decode=kernel"],
         "--decode=kernel needs --method=dmabuf: it takes a video node's buffers as dma-bufs"),
        (["--method=ring", "--decode=kernel"],
         "--decode=kernel needs --method=dmabuf: it takes a video node's buffers as dma-bufs"),
        (["--method=ring", "--decode=baseline"],
         "--method=ring: ranges come decoded, so nothing is left for --decode=baseline"),
        (["--pose", "--decode=none"], "--pose needs ranges, so not --decode=none"),
        (["--pose", "--decode=baseline"],
         "--pose needs ranges, and --decode=baseline makes none: choose others of --baseline-switches than decode"),
        (["--pose", "--geometry=depth"], "--pose needs ranges along each pixel's ray, so not --geometry=depth"),
        (["--pose=yes"], "--pose is no option; --help lists them"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(arguments: list[str], complaint: str) -> None:
    done = run("ds325-stream", *arguments)
    assert (done.returncode, done.stdout, done.stderr.decode()) == (2, b"", f"ds325-stream: {complaint}\n")


def test_a_check_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    (tmp_path / "frames").write_bytes(bytes(FRAME_BYTES + 1))
    done = run("ds325-stream", f"--check={tmp_path}/frames")
    assert (done.returncode, done.stdout) == (2, b"")
    assert f"{FRAME_BYTES + 1} bytes are no frames of {FRAME_BYTES}".encode() in done.stderr


@pytest.mark.parametrize(
    ("device", "complaint"),
    [
        ("/dev/nothing", "opening it: No such file or directory"),
        ("/dev/null", "it is no video device: Not a tty"),  # in musl's words
    ],
)
@pytest.mark.parametrize("method", ["mmap", "userptr"])
def test_what_is_not_a_camera_ends_the_run_with_the_reason(device: str, complaint: str, method: str) -> None:
    done = run("ds325-stream", f"--device={device}", f"--method={method}", "--priority=0")
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.decode() == f"ds325-stream: {device}: {complaint}\n"


def test_what_is_not_a_ring_ends_the_run_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "ring").write_bytes(bytes(4096))
    done = run("ds325-stream", f"--device={tmp_path}/ring", "--method=ring", "--priority=0")
    assert (done.returncode, done.stderr.decode()) == (
        3,
        f"ds325-stream: {tmp_path}/ring: it is no ring of DS325 frames\n",
    )


def test_it_says_its_version_and_how_it_is_called() -> None:
    assert re.fullmatch(rb"ds325-stream \d+\.\d+\.\d+\n", run("ds325-stream", "--version").stdout)
    assert run("ds325-stream", "--help").stdout.startswith(b"ds325-stream [--KEY=VALUE]")
