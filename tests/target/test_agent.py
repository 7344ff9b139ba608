# SPDX-License-Identifier: MIT
"""rtqual-agent's frame: whole, with its CRC, or an error."""

import subprocess
import zlib
from pathlib import Path

import pytest

from rtqual.engine.initramfs.contents import guest_file


def send(content: bytes, to: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([guest_file("rtqual-agent"), "send", to], input=content, capture_output=True, check=False)


@pytest.mark.parametrize("content", [b"", b"123456789", bytes(range(256)) * 300])
def test_a_frame_is_a_line_with_size_and_crc_then_the_content(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "port").touch()
    assert send(content, tmp_path / "port").returncode == 0
    assert (tmp_path / "port").read_bytes() == f"RTQUAL1 {len(content)} {zlib.crc32(content):08x}\n".encode() + content


@pytest.mark.parametrize("content", [b"", b"x"])
def test_a_port_that_takes_nothing_is_an_error(content: bytes) -> None:
    done = send(content, Path("/dev/full"))
    assert (done.returncode, done.stderr) == (
        125,
        b"rtqual-agent: cannot send on /dev/full: No space left on device\n",
    )
