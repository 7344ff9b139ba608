# SPDX-License-Identifier: MIT
"""A PC's kernel unpacked by the host, so that the guest need not.

A bzImage (Documentation/arch/x86/boot.rst) holds the kernel packed, as an ELF file. QEMU starts such a file as it is
where it has a PVH entry (note 18 of Xen: XEN_ELFNOTE_PHYS32_ENTRY, CONFIG_PVH). The guest then runs the same kernel
from a tenth of a second after power-on, not after nine seconds of firmware and unpacking.
"""

import bz2
import ctypes
import hashlib
import io
import lzma
import struct
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path

from elftools.elf.segments import NoteSegment

from rtqual.base.cache import cache_dir, locked, settle, sha256_file
from rtqual.base.elf_file import DAMAGED, opened
from rtqual.base.errors import RunFailed

_MAGIC, _MAGIC_AT = b"HdrS", 0x202
_SETUP_SECTORS_AT, _VERSION_AT, _PAYLOAD_AT = 0x1F1, 0x206, 0x248
_WITH_PAYLOAD = 0x208  # the first version of the header that tells where it is
_AT_MOST_B = 2**30
_LZ4_BLOCK_B = 8 * 2**20  # of the legacy format, that kernels are packed in
_XEN, _PVH = "Xen", "18"  # other types of notes have names in pyelftools


@cache
def unpacked(image: Path) -> Path | None:
    """The kernel of a bzImage as an ELF file with a PVH entry, from the cache; None where it has no such entry."""
    folder, packed = cache_dir() / "vmlinux", sha256_file(image)[:32]
    with locked(folder / packed):
        for kept in folder.glob(f"{packed}-*.elf"):
            if sha256_file(kept) == kept.stem.partition("-")[2]:
                return kept
            kept.unlink()
        kernel = unpack(image.read_bytes())
        if kernel is None or not _has_pvh(kernel):
            return None
        kept = folder / f"{packed}-{hashlib.sha256(kernel).hexdigest()}.elf"
        fresh = kept.with_suffix(".new")
        try:
            fresh.write_bytes(kernel)
            settle(fresh)
            return fresh.rename(kept)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            why = f"the kernel cannot be unpacked there ({error.strerror})"
            raise RunFailed(f"{folder}: {why}: make room or set XDG_CACHE_HOME") from None


def unpack(image: bytes) -> bytes | None:
    """The kernel in a bzImage; None where it is no bzImage, or packed in a way that is not known here."""
    if len(image) < _PAYLOAD_AT + 8 or image[_MAGIC_AT : _MAGIC_AT + 4] != _MAGIC:
        return None
    version: int = struct.unpack_from("<H", image, _VERSION_AT)[0]
    offset, length = struct.unpack_from("<II", image, _PAYLOAD_AT)
    start = (image[_SETUP_SECTORS_AT] + 1) * 512 + offset
    payload = image[start : start + length]
    if version < _WITH_PAYLOAD or len(payload) < length or length < 8:
        return None
    size: int = struct.unpack("<I", payload[-4:])[0]
    if not 0 < size <= _AT_MOST_B:
        return None
    with suppress(lzma.LZMAError, zlib.error, OSError, EOFError, ValueError):
        kernel = _decompress(payload, size)
        return kernel if kernel is not None and len(kernel) == size else None
    return None


def _decompress(payload: bytes, size: int) -> bytes | None:
    """What the kernel's own build packs with; behind the packed data stands its size."""
    if payload.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(wbits=31).decompress(payload, size)
    if payload.startswith(b"BZh"):
        return bz2.BZ2Decompressor().decompress(payload, size)
    if payload.startswith((b"\xfd7zXZ\0", b"\x5d\0\0")):
        return lzma.LZMADecompressor().decompress(payload, size)
    if payload.startswith(b"\x28\xb5\x2f\xfd"):
        return _zstd(payload[:-4], size)
    if payload.startswith(b"\x02\x21\x4c\x18"):
        return _lz4(payload, size)
    return None


def _zstd(packed: bytes, size: int) -> bytes:
    function = _library("libzstd.so.1").ZSTD_decompress
    function.restype, function.argtypes = ctypes.c_size_t, [ctypes.c_void_p, ctypes.c_size_t] * 2
    target = ctypes.create_string_buffer(size)
    done = function(target, size, packed, len(packed))
    return target.raw if done == size else b""


def _lz4(packed: bytes, size: int) -> bytes:
    """The legacy format: a magic number, then blocks, each behind its packed size."""
    function = _library("liblz4.so.1").LZ4_decompress_safe
    function.restype, function.argtypes = ctypes.c_int, [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int]
    block, target, place = ctypes.create_string_buffer(_LZ4_BLOCK_B), io.BytesIO(), 4
    while target.tell() < size and place + 4 < len(packed):
        length: int = struct.unpack_from("<I", packed, place)[0]
        got = function(packed[place + 4 : place + 4 + length], block, min(length, len(packed)), _LZ4_BLOCK_B)
        if got <= 0:
            break
        target.write(block.raw[:got])
        place += 4 + length
    return target.getvalue()


def _library(name: str) -> ctypes.CDLL:
    """apt itself rests on both, so a system with Debian's kernels has them."""
    try:
        return ctypes.CDLL(name)
    except OSError:
        raise RunFailed(f"{name}, which unpacks the kernel, is missing: `apt-get install --reinstall apt`") from None


def _has_pvh(kernel: bytes) -> bool:
    try:
        segments = [s for s in opened(io.BytesIO(kernel)).iter_segments("PT_NOTE") if isinstance(s, NoteSegment)]
        return any(note["n_name"] == _XEN and str(note["n_type"]) == _PVH for s in segments for note in s.iter_notes())
    except DAMAGED:
        return False
