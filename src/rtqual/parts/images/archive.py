# SPDX-License-Identifier: MIT
"""An initial RAM file system: a cpio archive in the kernel's form "newc" with every file's owner and mode.

Documentation/driver-api/early-userspace/buffer-format of the kernel. GNU cpio takes owners from the disk or gives all
to one; a Debian root has others besides root.
"""

import gzip
import stat
from pathlib import Path
from typing import IO

from rtqual.parts.images.root import Attributes, Root, epoch_s

_TRAILER = "TRAILER!!!"


def write_cpio(root: Root, out: Path, *, compress: bool) -> Path:
    """Write the archive, gzipped if asked for: the kernel must then have RD_GZIP."""
    with out.open("wb") as file:
        if compress:
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=9) as packed:
                _write(root, packed)
        else:
            _write(root, file)
    return out


def _write(root: Root, file: IO[bytes] | gzip.GzipFile) -> None:
    console = _header(1, "dev/console", stat.S_IFCHR | 0o600, Attributes(0o600), 0, (5, 1))
    written_b = file.write(_header(2, "dev", stat.S_IFDIR | 0o755, Attributes(0o755), 0))
    written_b += file.write(console)  # the first process has no output without it
    for number, place in enumerate(root.paths(), 3):
        if place == "dev":
            continue
        path, attributes = root.folder / place, root.attributes(place)
        kind = stat.S_IFMT(path.lstat().st_mode)
        content = b""
        if stat.S_ISLNK(kind):
            content = str(path.readlink()).encode()
        elif stat.S_ISREG(kind):
            content = path.read_bytes()
        written_b += file.write(_header(number, place, kind | attributes.mode, attributes, len(content)))
        written_b += file.write(content + bytes(-len(content) % 4))
    written_b += file.write(_header(0, _TRAILER, 0, Attributes(0), 0))
    file.write(bytes(-written_b % 512))


def _header(
    number: int, name: str, mode: int, attributes: Attributes, size_b: int, device: tuple[int, int] = (0, 0)
) -> bytes:
    encoded = name.encode("utf-8", "surrogateescape") + b"\0"
    links = 2 if stat.S_ISDIR(mode) else 1
    owner = (attributes.uid, attributes.gid)
    fields = (number, mode, *owner, links, epoch_s() if mode else 0, size_b, 0, 0, *device, len(encoded), 0)
    head = b"070701" + b"".join(b"%08x" % value for value in fields) + encoded
    return head + bytes(-len(head) % 4)
