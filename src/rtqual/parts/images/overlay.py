# SPDX-License-Identifier: MIT
"""Files laid over a root: read without following a link of the overlay, written without leaving the root."""

import os
import stat
from pathlib import Path

from rtqual.base.errors import BadInput, RunFailed
from rtqual.parts.images.root import Root

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def lay_over(root: Root, overlay: Path) -> None:
    """Files, folders and links; of a file's mode only whether it can be run. Raises BadInput for anything else."""
    try:
        for here, folders, files, folder in os.fwalk(overlay, follow_symlinks=False, onerror=_raise):
            folders.sort()
            for name in sorted((*folders, *files)):
                path = Path(here) / name
                try:
                    _lay(root, folder, name, str(path.relative_to(overlay)))
                except RunFailed as error:
                    raise BadInput(f"--overlay {str(path)!r}: {error}") from None
    except OSError as error:
        raise BadInput(f"--overlay {overlay}: {error.strerror or error}") from None


def _lay(root: Root, folder: int, name: str, place: str) -> None:
    """`folder`: opened, so that nobody can put a link in its place."""
    if not place.isprintable():  # a line end, or bytes that are not text
        raise RunFailed("a name that no list of contents can hold: rename it")
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        root.link(place, os.readlink(name, dir_fd=folder))
    elif stat.S_ISDIR(mode):
        root.make(place)
    elif stat.S_ISREG(mode):
        with os.fdopen(os.open(name, _FILE, dir_fd=folder), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise RunFailed("it was changed while it was read")
            root.take(file, place)
    else:
        raise RunFailed("neither a file, a folder nor a link")


def _raise(error: OSError) -> None:
    raise error
