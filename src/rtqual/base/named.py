# SPDX-License-Identifier: MIT
"""Files and folders that a mission names: they may be a stranger's, and `rtqual mission check` reads them."""

import errno
import os
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from rtqual.base.errors import BadInput

_MOST_B = 256 << 20


def read(path: Path, most_b: int = _MOST_B) -> bytes:
    """Raises OSError, also for what is no file: /dev/zero has no end, a pipe waits for ever."""
    if stat.S_IFMT(path.stat().st_mode) not in (stat.S_IFREG, stat.S_IFDIR):
        raise OSError(errno.EINVAL, "is a pipe or a device, no file", str(path))
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        content = file.read(most_b + 1)
    if len(content) > most_b:
        raise OSError(errno.EFBIG, f"is larger than {most_b >> 20} MiB", str(path))
    return content


def listed(folder: Path, most: int) -> list[Path]:
    """List all below a folder that may be "/", in order, links not followed. Raises BadInput for more than `most`.

    What vanishes meanwhile, as in /proc, is not there.
    """
    closed: list[OSError] = []

    def noted(error: OSError) -> None:
        if not isinstance(error, (FileNotFoundError, ProcessLookupError)):
            closed.append(error)

    def below() -> Iterator[Path]:
        for where, folders, files in os.walk(folder, onerror=noted):
            yield from (Path(where, name) for name in (*folders, *files))

    inside = list(islice(below(), most + 1))
    if len(inside) > most:
        raise BadInput(f"{folder} holds more than {most:,} files")
    if closed:
        raise BadInput(f"{closed[0].filename} cannot be read: {closed[0].strerror}")
    return sorted(inside)
