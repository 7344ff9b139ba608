# SPDX-License-Identifier: MIT
"""What all readers of dictionaries share: bounded files, and a fault of one element that leaves the rest usable."""

import errno
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from rtqual.base import named
from rtqual.base.errors import BadInput
from rtqual.protocols.dictionary import Refused

MOST_LINES = 200_000  # of a text that is read line by line
MOST_OCTETS = 16 << 20  # of a file; the largest database met has 2.3 MB
FAULTS = (LookupError, ValueError, TypeError, AttributeError, OverflowError, RecursionError)
Value = TypeVar("Value")
Given = ParamSpec("Given")


def text(path: Path, charset: str = "utf-8") -> str:
    return octets(path).decode(charset, "replace")


def lines(path: Path, content: str) -> list[str]:
    """Raises BadInput where there are more than in any dictionary."""
    found = content.splitlines()
    if len(found) > MOST_LINES:
        raise BadInput(f"dictionary {str(path)!r}: more than {MOST_LINES:,} lines; leave out what is not commanded")
    return found


def octets(path: Path) -> bytes:
    """Return what is in a file. Raises BadInput where it is none, cannot be read or is larger than any dictionary."""
    try:
        return named.read(path, MOST_OCTETS)
    except OSError as error:
        more = "; leave out what is not commanded" if error.errno == errno.EFBIG else ""
        raise BadInput(f"dictionary {str(path)!r}: {error.strerror or error}{more}") from error


def attempt(what: str, read: Callable[Given, Value], *args: Given.args, **more: Given.kwargs) -> Value | Refused:
    """Read an element of a stranger's file: its value, or why it has none."""
    try:
        return read(*args, **more)
    except Refused as why:
        return why
    except KeyError as error:
        return Refused(f"{what} lacks {error.args[0]!r}"[:200])
    except FAULTS as error:
        return Refused(f"{what} cannot be read: {error}"[:200])
