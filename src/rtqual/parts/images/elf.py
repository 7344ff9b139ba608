# SPDX-License-Identifier: MIT
"""Programs that an image's user brings: they must be for its processor, and find their loader there."""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rtqual.base.architecture import Architecture
from rtqual.base.errors import BadInput
from rtqual.parts.images.root import Root

if TYPE_CHECKING:
    from elftools.elf.segments import InterpSegment


def check_programs(root: Root, architecture: Architecture, overlay: Path | None) -> None:
    """Raises BadInput for a program of the overlay that would not start."""
    if overlay is None:
        return
    from rtqual.base.elf_file import DAMAGED, opened  # noqa: PLC0415 - slow to load

    for path in sorted(overlay.rglob("*")):
        content = None if path.is_symlink() else root.inside.read(str(path.relative_to(overlay)))
        if content is None or not content.startswith(b"\x7fELF"):
            continue
        try:
            elf = opened(BytesIO(content))
            machine = elf["e_machine"]
            loaders = [cast("InterpSegment", segment).get_interp_name() for segment in elf.iter_segments("PT_INTERP")]
        except (*DAMAGED, OSError):
            raise BadInput(f"--overlay {path}: a damaged program (ELF)") from None
        if machine != architecture.machine:
            raise BadInput(f"--overlay {path}: a program for {machine}, the image is for {architecture.name}")
        for loader in loaders:
            if not root.inside.exists(loader):
                raise BadInput(f"--overlay {path}: it needs {loader}, which the root does not have: link it statically")
