# SPDX-License-Identifier: MIT
"""The hash of a file, by all CPUs: one of hundreds of megabytes is checked in the time it takes to read it."""

import errno
import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_PIECE_B = 4 << 20
_THREADS = 8
_MOST_B = 8 << 30  # of raw samples: ten times as many as anybody measured; sparse files claim anything


def file_digest(path: Path) -> str:
    """sha256 over the sha256s of the file's pieces of 4 MiB. Raises OSError, also for one beyond all measure."""
    with path.open("rb") as file:
        size_b = os.fstat(file.fileno()).st_size
        if size_b > _MOST_B:
            raise OSError(errno.EFBIG, f"is larger than {_MOST_B >> 30} GiB", str(path))
        starts = range(0, size_b, _PIECE_B)

        def piece(start: int) -> bytes:
            return hashlib.sha256(os.pread(file.fileno(), _PIECE_B, start)).digest()

        if len(starts) < 2:
            return hashlib.sha256(b"".join(map(piece, starts))).hexdigest()
        with ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1)) as threads:
            return hashlib.sha256(b"".join(threads.map(piece, starts))).hexdigest()
