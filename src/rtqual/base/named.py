# SPDX-License-Identifier: MIT
"""Files that a mission names: it may be a stranger's, and `rtqual mission check` reads them."""

import errno
import os
import stat
from pathlib import Path

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
