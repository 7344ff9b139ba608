# SPDX-License-Identifier: MIT
"""One thread of a program stopped, as if it hung: ptrace(2), since signals stop all of them."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
ANY_THREAD = 0x40000000  # __WALL of wait(2)
_LIBC = ctypes.CDLL(None, use_errno=True)


def _ptrace(request: int, tid: int) -> None:
    if _LIBC.ptrace(ctypes.c_long(request), ctypes.c_long(tid), None, None):
        raise OSError(ctypes.get_errno(), f"ptrace of {tid}")


@contextmanager
def stopped(tid: int) -> Iterator[None]:
    _ptrace(SEIZE, tid)
    try:
        _ptrace(INTERRUPT, tid)
        os.waitpid(tid, ANY_THREAD)
        yield
    finally:
        _ptrace(DETACH, tid)
