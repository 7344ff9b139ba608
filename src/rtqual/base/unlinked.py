# SPDX-License-Identifier: MIT
"""Files in a folder that a stranger may have made: what is opened there is what lies there.

A name is followed part by part from the opened folder, and a link on the way is refused (openat, O_NOFOLLOW), as is
what is neither file nor folder: reading a pipe would wait for ever. The folder itself may be named by a link, for the
user names it. A file is written beside its place and renamed, so a hard link in it loses nothing either.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from rtqual.base.errors import BadInput, naming

_LONGEST_NAME_B = 255  # Linux, NAME_MAX
MOST_B = 64 << 20  # of a file that is read whole; a sparse one of terabytes is some KB in an archive
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_OLD = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def read(folder: Path, name: str, most_b: int = MOST_B) -> bytes:
    """Raises BadInput for a link and for more than `most_b`, OSError as any reading."""
    with _above(folder, name) as (above, last):
        _plain(folder / name, above, last)
        with os.fdopen(os.open(last, _OLD, dir_fd=above), "rb") as file:
            content = file.read(most_b + 1) if os.fstat(file.fileno()).st_size <= most_b else None
    if content is None or len(content) > most_b:
        raise BadInput(f"{folder / name}: holds more than {most_b:,} bytes")
    return content


def sha256(folder: Path, name: str, size_b: int | None = None) -> tuple[int, str]:
    """The size of a file, however large, and its hash, which is empty where it is not of `size_b`. Raises as `read`."""
    with _above(folder, name) as (above, last):
        _plain(folder / name, above, last)
        with os.fdopen(os.open(last, _OLD, dir_fd=above), "rb") as file:
            found_b = os.fstat(file.fileno()).st_size
            return found_b, hashlib.file_digest(file, "sha256").hexdigest() if size_b in (None, found_b) else ""


def write(folder: Path, name: str, content: bytes) -> None:
    """In the place of what is there, whole or not at all; folders on the way are made. What is left of
    it where rtqual is killed, the next campaign in the folder clears away (scratch.py)."""
    with _above(folder, name, make=True) as (above, last):
        _plain(folder / name, above, last)
        fresh = f".{last}.{os.getpid()}"
        with suppress(FileNotFoundError):
            os.unlink(fresh, dir_fd=above)  # of one who had this number, and was killed
        try:
            with naming(folder / name), os.fdopen(os.open(fresh, _NEW, 0o666, dir_fd=above), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.rename(fresh, last, src_dir_fd=above, dst_dir_fd=above)
        except OSError:
            with suppress(FileNotFoundError):
                os.unlink(fresh, dir_fd=above)
            raise


def remove(folder: Path, name: str) -> None:
    """Where there is one."""
    with suppress(FileNotFoundError), _above(folder, name) as (above, last):
        _plain(folder / name, above, last)
        os.unlink(last, dir_fd=above)


def names(folder: Path, name: str) -> list[str]:
    """What lies in a folder of it; nothing where there is none."""
    with suppress(FileNotFoundError), _above(folder, f"{name}/x") as (inside, _):
        return sorted(os.listdir(inside))  # noqa: PTH208 a descriptor
    return []


def files(folder: Path) -> list[str]:
    """Of all that lies in it, at any depth, with what is no file; links to folders are not followed.

    An empty folder's name ends with a slash.
    """
    found = []
    for where, below, inside in os.walk(folder):
        place = Path(where).relative_to(folder)
        found += [str(place / name) for name in (*inside, *(name for name in below if Path(where, name).is_symlink()))]
        if place.parts and not below and not inside:
            found.append(f"{place}/")
    return sorted(found)


def require(folder: Path, name: str) -> Path:
    """The path of a file or folder for those who open it themselves; it may not be there yet."""
    with suppress(FileNotFoundError), _above(folder, name) as (above, last):
        _plain(folder / name, above, last, folders=True)
    return folder / name


def require_all(folder: Path, name: str) -> None:
    """Of a folder in it and everything below."""
    for where, folders, files in os.walk(require(folder, name)):
        for text in (*folders, *files):
            require(Path(where), text)


@contextmanager
def _above(folder: Path, name: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """The opened folder that a name lies in, and the name's last part."""
    parts = PurePosixPath(name).parts
    too_long = any(len(os.fsencode(part)) > _LONGEST_NAME_B for part in parts)
    if not parts or name.startswith("/") or ".." in parts or "\0" in name or too_long:
        raise BadInput(f"{folder}: {name[:100]!r} is no place in it")
    opened = os.open(folder, _FOLDER)
    try:
        for number, part in enumerate(parts[:-1], 1):
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=opened)
            try:
                inner = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=opened)
            except OSError as error:
                if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                    raise
                raise _refused(Path(folder, *parts[:number])) from None
            os.close(opened)
            opened = inner
        yield opened, parts[-1]
    finally:
        os.close(opened)


def _plain(path: Path, above: int, last: str, *, folders: bool = False) -> None:
    try:
        mode = os.stat(last, dir_fd=above, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise _refused(path)
    if stat.S_ISDIR(mode) and not folders:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))


def _refused(path: Path) -> BadInput:
    return BadInput(f"{path}: is a link or a device, which rtqual does not follow in its folders: delete it")
