# SPDX-License-Identifier: MIT
"""The known-good system of the stand-in for a board (stand_in.py): a candidate's, with an identity of its own."""

import gzip
from pathlib import Path

from rtqual.base.architecture import AMD64
from rtqual.engine.initramfs import contents, remote
from rtqual.engine.initramfs.contents import guest_file

HARDWARE = "52:54:00:12:34:56"
_NETWORK = f"{HARDWARE} 10.0.2.15/24 10.0.2.2"
_OWN = "board"  # on the partition, where rtqual puts nothing


def good_initrd(folder: Path, tree: Path, release: str, *programs: tuple[str, list[Path]]) -> Path:
    """A candidate's, but what it is lies where rtqual puts nothing; `programs` besides, from these trees."""
    more = folder / "more"
    (more / "usr/bin").mkdir(parents=True)
    init = guest_file("init-board").read_text()
    assert "own=/boot/rtqual/own\n" in init
    (more / "init").write_text(init.replace("own=/boot/rtqual/own\n", f"own=/boot/{_OWN}\n"))
    (more / "init").chmod(0o755)
    for name, trees in programs:
        contents.copy_program(name, more, trees, AMD64.triplet)
    initrd = folder / "initrd"
    first = remote.build(tree, release, AMD64).read_bytes()
    initrd.write_bytes(first + gzip.compress(contents.pack(more, folder / "more.cpio").read_bytes()))
    return initrd


def own(folder: Path) -> dict[str, str]:
    """What makes its system this board (target/agent/init-board)."""
    return {
        f"{_OWN}/network": f"{_NETWORK}\n",
        f"{_OWN}/authorized_keys": (folder / "identity.pub").read_text(),
        f"{_OWN}/hostkey": (folder / "hostkey").read_text(),
    }
