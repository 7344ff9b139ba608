# SPDX-License-Identifier: MIT
"""Files that are mostly holes, as disks and a guest's memory are: only what is not zero is read, kept and hashed."""

import hashlib
import os
from collections.abc import Iterator
from errno import ENXIO
from pathlib import Path

_PIECE_B = 2**20
_ZERO = bytes(_PIECE_B)


def copy_sparse(source: int, target: Path) -> None:
    """Copy a file, of which what is zero takes no room. Raises OSError."""
    with target.open("wb") as file:
        file.truncate(os.fstat(source).st_size)
        for offset, piece in _pieces(source):
            os.pwrite(file.fileno(), piece, offset)


def sparse_sha256(path: Path) -> str:
    """Hash a file's size and what in it is not zero, wherever it has its holes. Raises OSError."""
    with path.open("rb") as file:
        whole = hashlib.sha256(str(os.fstat(file.fileno()).st_size).encode())
        for offset, piece in _pieces(file.fileno()):
            whole.update(offset.to_bytes(8, "little"))
            whole.update(piece)
    return whole.hexdigest()


def _pieces(file: int) -> Iterator[tuple[int, bytes]]:
    """What is not zero, with its offset, in pieces that do not depend on where the file has its holes."""
    offset = 0
    while True:
        try:
            offset = os.lseek(file, offset, os.SEEK_DATA) // _PIECE_B * _PIECE_B
        except OSError as error:
            if error.errno == ENXIO:  # nothing but a hole follows
                return
            raise
        piece = os.pread(file, _PIECE_B, offset)
        if piece != _ZERO[: len(piece)]:
            yield offset, piece
        offset += _PIECE_B
