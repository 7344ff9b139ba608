# SPDX-License-Identifier: MIT
"""The failures a user sees: one line that says what, where and what to do."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rtqual.base.words import clean

_MOST = 2000  # characters


class RtqualError(Exception):
    """A failure to print as one line, without a traceback."""

    exit_code = 1

    def __str__(self) -> str:
        """One line that can be read, whatever names a stranger gave to what it is about."""
        text = " ".join(clean(super().__str__()).split())
        return text if len(text) <= _MOST else f"{text[: _MOST // 2]} [...] {text[-_MOST // 3 :]}"


class BadInput(RtqualError):
    """What the user gave cannot be used (a mission, a record, a package name)."""

    exit_code = 2


class NewerVersion(BadInput):
    """A file of a newer rtqual: sound, and not to be replaced."""


class RunFailed(RtqualError):
    """A run did not give a result: the guest died, an instrument failed, the disk is full."""

    exit_code = 3


class SystemDied(RunFailed):
    """The system under test ended a run without a result: it hung, panicked or restarted. It counts against it."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """An error while a file is written names no file: give it this one."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def told(error: OSError) -> str:
    """The line for an error of the system that nobody foresaw."""
    what = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        what = "the disk is full: make room and run the same command again; what was finished is kept"
    elif error.errno == errno.ENOENT and os.sep not in str(error.filename or os.sep):
        what = "is not here; if it is a program, `rtqual doctor` says what installs it"
    return f"{error.filename}: {what}" if error.filename else what


def first_line(error: BaseException) -> str:
    """Of what an error says; the errors of libraries may say nothing, and are then called by their name."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def damaged(path: Path, error: Exception, mend: str) -> BadInput:
    """For a file of our own that cannot be read: the first problem, its place in the file, and how to `mend` it."""
    from pydantic import ValidationError  # noqa: PLC0415 - slow to load, and rarely raised

    if isinstance(error, ValidationError):
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))[:80]  # keys may be anybody's
        return BadInput(f"{path}: damaged: {where}: {first['msg']}; {mend}")
    return BadInput(f"{path}: damaged: {first_line(error)}; {mend}")
