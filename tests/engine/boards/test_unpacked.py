# SPDX-License-Identifier: MIT
"""A PC's kernel is unpacked by the host where it can start so, and only there."""

import bz2
import ctypes
import gzip
import lzma
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.errors import RunFailed
from rtqual.engine.boards.unpacked import unpacked
from rtqual.engine.boards.virtual import UNPACKED, VirtualBoard
from rtqual.protocols.board import Machine
from rtqual.protocols.board.system import Kernel
from support.small_disk import mounted_disk


def elf(note: int = 18, name: bytes = b"Xen\0") -> bytes:
    """A kernel of two notes, the first of Xen too."""
    content = struct.pack("<III", 4, 8, 3) + b"Xen\0" + bytes(8)
    content += struct.pack("<III", len(name), 8, note) + name + bytes(8)
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return header + struct.pack("<IIQQQQQQ", 4, 4, 120, 0, 0, len(content), len(content), 4) + content + b"code" * 2000


def bzimage(packed: bytes, *, version: int = 0x20F, setup: int = 3, offset: int = 100) -> bytes:
    image = bytearray((setup + 1) * 512 + offset)
    image[0x1F1] = setup
    image[0x202:0x208] = b"HdrS" + struct.pack("<H", version)
    image[0x248:0x250] = struct.pack("<II", offset, len(packed))
    return bytes(image) + packed + b"what follows"


def sized(packed: bytes, kernel: bytes) -> bytes:
    return packed + struct.pack("<I", len(kernel))


def zstd(kernel: bytes) -> bytes:
    target = ctypes.create_string_buffer(len(kernel) + 1024)
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compress.restype = ctypes.c_size_t
    got = library.ZSTD_compress(target, ctypes.c_size_t(len(target)), kernel, ctypes.c_size_t(len(kernel)), 3)
    return target.raw[:got]


def lz4(kernel: bytes) -> bytes:
    target = ctypes.create_string_buffer(len(kernel) + 1024)
    got = ctypes.CDLL("liblz4.so.1").LZ4_compress_default(kernel, target, len(kernel), len(target))
    return b"\x02\x21\x4c\x18" + struct.pack("<I", got) + target.raw[:got]


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "xz": lambda kernel: sized(lzma.compress(kernel), kernel),
    "lzma": lambda kernel: sized(lzma.compress(kernel, lzma.FORMAT_ALONE), kernel),
    "gzip": gzip.compress,  # its own end is the size
    "bzip2": lambda kernel: sized(bz2.compress(kernel), kernel),
    "zstd": lambda kernel: sized(zstd(kernel), kernel),
    "lz4": lambda kernel: sized(lz4(kernel), kernel),
}


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], Path | None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def unpack(image: bytes) -> Path | None:
        (tmp_path / "vmlinuz").write_bytes(image)
        unpacked.cache_clear()
        return unpacked(tmp_path / "vmlinuz")

    return unpack


@pytest.mark.parametrize("how", PACKED)
def test_every_way_to_pack_a_kernel_is_unpacked(how: str, given: Callable[[bytes], Path | None]) -> None:
    found = given(bzimage(PACKED[how](elf())))
    assert found is not None
    assert found.read_bytes() == elf()


@pytest.mark.parametrize(
    "image",
    {
        "no PVH note": bzimage(PACKED["xz"](elf(note=1))),
        "a note of others": bzimage(PACKED["xz"](elf(name=b"GNU\0"))),
        "no ELF": bzimage(PACKED["xz"](b"MZ" + bytes(5000))),
        "an old header": bzimage(PACKED["xz"](elf()), version=0x207),
        "unknown packing": bzimage(sized(b"\x89LZO" + bytes(500), elf())),
        "damaged": bzimage(PACKED["xz"](elf())).replace(b"YZ", b"ZY"),
        "cut": bzimage(PACKED["zstd"](elf()))[:-40],
        "a false size": bzimage(PACKED["xz"](elf())[:-4] + b"\xff\xff\xff\xff"),
        "no bzImage": b"MZ" + bytes(4000),
        "short": b"HdrS",
        "empty": b"",
    }.values(),
)
def test_any_other_kernel_starts_as_it_is(image: bytes, given: Callable[[bytes], Path | None]) -> None:
    assert given(image) is None


def test_a_damaged_copy_in_the_cache_is_made_again(given: Callable[[bytes], Path | None]) -> None:
    image = bzimage(PACKED["xz"](elf()))
    first = given(image)
    assert first is not None
    first.write_bytes(b"damaged")
    again = given(image)
    assert again == first
    assert again.read_bytes() == elf()


def test_the_record_says_what_was_started(
    given: Callable[[bytes], Path | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole boot is that of the kernel's file; another architecture's kernel is never looked into."""
    assert given(bzimage(PACKED["gzip"](elf())))
    (tmp_path / "root").write_bytes(b"initramfs")
    kernel = Kernel("x", tmp_path / "vmlinuz", tmp_path / "root", tmp_path / "root", (), "", "", "", "", 0, 0)
    boards = [VirtualBoard(kernel, Machine(whole_boot=whole), tmp_path) for whole in (False, True)]
    at_once, whole = (board.artefacts() for board in boards)
    assert at_once.pop(UNPACKED)
    assert at_once == whole
    assert [str(kernel.image) in board._command(tmp_path, tmp_path) for board in boards] == [False, True]
    (tmp_path / "vmlinuz").write_bytes(bzimage(PACKED["gzip"](elf(note=1))))
    unpacked.cache_clear()
    other = replace(kernel, candidate="y")
    board = VirtualBoard(other, Machine(), tmp_path)
    assert UNPACKED not in board.artefacts() and str(kernel.image) in board._command(tmp_path, tmp_path)


def test_debians_kernels_start_at_once(kernel: Callable[..., Kernel]) -> None:
    """6.1 is packed with xz, the cloud kernel with LZ4."""
    assert all(unpacked(kernel(name).image) for name in ("debian-rt", "debian-cloud"))


def test_a_disk_that_fills_up_while_a_kernel_is_unpacked_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = elf() + bytes(2**21)
    image = tmp_path / "vmlinuz"
    image.write_bytes(bzimage(PACKED["xz"](kernel)))
    with mounted_disk(tmp_path / "disk", "1m") as disk:
        monkeypatch.setenv("XDG_CACHE_HOME", str(disk))
        with pytest.raises(RunFailed, match=r"vmlinux: the kernel cannot be unpacked there \(No space left.*make room"):
            unpacked(image)
        assert list((disk / "rtqual/vmlinux").glob("*.new")) == []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = unpacked(image)
    assert made and made.read_bytes() == kernel
