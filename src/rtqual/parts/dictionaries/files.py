# SPDX-License-Identifier: MIT
"""What all readers of dictionaries share: bounded files, and a fault of one element that leaves the rest usable."""

from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from rtqual.base.errors import BadInput
from rtqual.protocols.dictionary import Refused

MOST_OCTETS = 16 << 20  # of a file; the largest database met has 2.3 MB
_FAULTS = (LookupError, ValueError, TypeError, AttributeError, OverflowError, RecursionError)
Value = TypeVar("Value")
Given = ParamSpec("Given")


def text(path: Path, charset: str = "utf-8") -> str:
    return octets(path).decode(charset, "replace")


def octets(path: Path) -> bytes:
    """Return what is in a file. Raises BadInput where it cannot be read or is larger than any dictionary."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_OCTETS + 1)
    except OSError as error:
        raise BadInput(f"dictionary {str(path)!r}: {error.strerror or error}") from error
    if len(data) > MOST_OCTETS:
        raise BadInput(f"dictionary {str(path)!r}: more than {MOST_OCTETS >> 20} MiB; leave out what is not commanded")
    return data


def attempt(what: str, read: Callable[Given, Value], *args: Given.args, **more: Given.kwargs) -> Value | Refused:
    """Read an element of a stranger's file: its value, or why it has none."""
    try:
        return read(*args, **more)
    except Refused as why:
        return why
    except KeyError as error:
        return Refused(f"{what} lacks {error.args[0]!r}"[:200])
    except _FAULTS as error:
        return Refused(f"{what} cannot be read: {error}"[:200])
