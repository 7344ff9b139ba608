# SPDX-License-Identifier: MIT
"""The hash of a file, by all CPUs: one of hundreds of megabytes is checked in the time it takes to read it."""

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_PIECE_B = 4 << 20
_THREADS = 8


def file_digest(path: Path) -> str:
    """sha256 over the sha256s of the file's pieces of 4 MiB. Raises OSError."""
    with path.open("rb") as file:
        starts = range(0, os.fstat(file.fileno()).st_size, _PIECE_B)

        def piece(start: int) -> bytes:
            return hashlib.sha256(os.pread(file.fileno(), _PIECE_B, start)).digest()

        if len(starts) < 2:
            return hashlib.sha256(b"".join(map(piece, starts))).hexdigest()
        with ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1)) as threads:
            return hashlib.sha256(b"".join(threads.map(piece, starts))).hexdigest()
