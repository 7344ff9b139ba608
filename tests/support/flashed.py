# SPDX-License-Identifier: MIT
"""A disk of a stand-in (stand_in.py) that `rtqual image --board` made."""

from collections.abc import Callable
from pathlib import Path

from rtqual.base.apt import fetch
from rtqual.engine.boards.remote.settings import Settings
from rtqual.parts.images.assembly import Request, build
from rtqual.parts.images.known_good import for_board


def flashed(settings: Settings, kernel: str, *parameters: str) -> Callable[[Path], str]:
    """Writes the minimal root with a Debian kernel, and says that kernel's release; the host key is the image's own."""

    def disk(folder: Path) -> str:
        board = for_board(
            {"desk": settings}, "desk", flavour="minimal", form="disk", key=folder / "identity.pub", address="",
            gateway="",
        )  # fmt: skip
        package = fetch(kernel, kernel=True, architecture=settings.architecture)
        image = build(Request(package, settings.architecture, board=board, parameters=parameters), folder / "disk")
        (folder / "hostkey.pub").write_text(image.host_key)
        return image.release

    return disk
