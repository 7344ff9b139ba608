# SPDX-License-Identifier: MIT
"""A flashable disk: a boot partition (FAT) and the root, put together from ordinary files.

An MBR names the partitions: the Raspberry Pi 3's first boot stage reads no other table, and UEFI reads it as well.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from rtqual.base.program import run
from rtqual.base.scratch import scratch
from rtqual.parts.images.root import write

_ALIGN_B = 2**20
PART = _ALIGN_B  # where the boot partition begins, for mtools
_SECTOR_B = 512
_FAT_LEAST_B = (
    36 * 2**20
)  # FAT32 has 65,525 clusters at least; a smaller partition gets FAT16, which firmwares read too
_COPY_B = 4 * 2**20


@dataclass(frozen=True)
class Identity:
    """The identifiers of a disk and its file systems, made from the contents: equal contents, equal identifiers."""

    uuid: UUID

    @property
    def disk(self) -> str:
        """The MBR's signature, eight hexadecimal digits."""
        return f"{(self.uuid.int & 0xFFFFFFFF) or 1:08x}"

    @property
    def boot(self) -> str:
        """The FAT's volume number."""
        return f"{(self.uuid.int >> 32) & 0xFFFFFFFF:08x}"

    @property
    def root_partition(self) -> str:
        """What root=PARTUUID= takes: the kernel's name for the second partition."""
        return f"{self.disk}-02"


def write_fat(files: Mapping[str, Path], out: Path, volume: str, *, spare_b: int = 0) -> Path:
    """The boot partition, with `spare_b` left free at least. Raises RunFailed with what mtools says."""
    content_b = sum(path.stat().st_size + 4096 for path in files.values())
    size_b = max(_FAT_LEAST_B, int((content_b + spare_b) * 1.05) + 2 * _ALIGN_B)
    size_b += -size_b % _ALIGN_B
    with out.open("wb") as file:
        file.truncate(size_b)
    write(["mkfs.fat", "--invariant", "-i", volume, "-n", "BOOT", out.name], "dosfstools", out)
    folders = {str(parent) for name in files for parent in Path(name).parents if parent.name}
    for folder in sorted(folders):
        write(["mmd", "-i", out.name, f"::{folder}"], "mtools", out)
    for name, path in sorted(files.items()):
        write(["mcopy", "-i", out.name, path.absolute(), f"::{name}"], "mtools", out)
    return out


def write_disk(boot: Path, root: Path | None, out: Path, identity: Identity, *, efi: bool) -> Path:
    """Put the two partitions on one disk, or the boot partition alone."""
    parts = [boot] if root is None else [boot, root]
    sizes_b = [part.stat().st_size for part in parts]
    starts = [_ALIGN_B, _ALIGN_B + sizes_b[0]][: len(parts)]
    with out.open("wb") as file:
        file.truncate(_ALIGN_B + sum(sizes_b))
    kinds = [f"{'ef' if efi else 'c'}, bootable", "83"]
    table = [
        "label: dos",
        f"label-id: 0x{identity.disk}",
        *(
            f"start={start // _SECTOR_B}, size={size_b // _SECTOR_B}, type={kind}"
            for start, size_b, kind in zip(starts, sizes_b, kinds, strict=False)
        ),
    ]
    command = ["sfdisk", "--quiet", "--no-reread", "--no-tell-kernel", out.name]
    write(command, "fdisk", out, "\n".join(table).encode())
    with out.open("r+b") as disk:
        for start, part in zip(starts, parts, strict=True):
            disk.seek(start)
            _copy(part, disk.fileno())
    return out


def _copy(part: Path, disk: int) -> None:
    """Write a file's bytes at the disk's present position; empty parts stay holes."""
    with part.open("rb") as file:
        while piece := file.read(_COPY_B):
            if piece.count(0) == len(piece):
                os.lseek(disk, len(piece), os.SEEK_CUR)
            else:
                view = memoryview(piece)
                while view:
                    view = view[os.write(disk, view) :]


@contextmanager
def for_mtools(disk: Path) -> Iterator[tuple[str, Path]]:
    """What mtools' -i takes for the boot partition, and the folder to work in: `@@` in the disk's name is an offset."""
    with scratch() as beside:
        (beside / "disk").symlink_to(disk.absolute())
        yield f"disk@@{PART}", beside


def read_fat(disk: Path, folder: Path, names: Sequence[str]) -> dict[str, Path]:
    """Copies those of the boot partition's files that exist into `folder`."""
    found: dict[str, Path] = {}
    with for_mtools(disk) as (part, beside):
        for name in names:
            command = ["mcopy", "-n", "-i", part, f"::{name}", str((folder / name).absolute())]
            if not run(command, package="mtools", folder=beside).code:
                found[name] = folder / name
    return found
