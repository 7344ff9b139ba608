# SPDX-License-Identifier: MIT
"""A kernel that was built elsewhere, as a candidate: Xenomai's Cobalt and EVL beside Linux, or any other.

What is used of its build folder is copied into the cache under the hash of its contents: a folder that was built anew
is another kernel, and a record can be reproduced after the folder is gone.
"""

import hashlib
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from rtqual.base import named
from rtqual.base.apt import Package
from rtqual.base.architecture import AMD64, ARM64
from rtqual.base.cache import cache_dir, kept
from rtqual.base.errors import BadInput
from rtqual.engine.candidates.ready import make_ready
from rtqual.engine.initramfs.contents import needed
from rtqual.engine.mission import Candidate
from rtqual.protocols.board.system import Kernel
from rtqual.protocols.instrument.registry import all_instruments

IMAGES = {AMD64.name: "arch/x86/boot/bzImage", ARM64.name: "arch/arm64/boot/Image.gz"}
CONFIG, RELEASE = ".config", "include/config/kernel.release"
_RELEASE = re.compile(r"[A-Za-z0-9][\w.+~-]{0,63}")


def _of_cores() -> set[str]:
    """Programs that no package brings: those that measure a core beside Linux."""
    return {instrument.program for instrument in all_instruments().values() if instrument.core}


def prepare(candidate: Candidate, *, tools: Sequence[Package], programs: Collection[str] = ()) -> Kernel:
    """The kernel with the programs beside it that instruments of these programs run. Raises BadInput, naming the file
    that is missing or of another kind."""
    wanted = candidate.built
    architecture = candidate.architecture
    assert wanted is not None and architecture is not None, "a kernel that was built"  # noqa: S101
    package = _kept(candidate.name, Path(wanted.kernel).expanduser(), IMAGES[architecture.name])
    extra = {}
    for name in sorted(_of_cores() & {*programs}):
        if wanted.programs is None:
            raise BadInput(f"candidate {candidate.name}: {name} runs on it; name the folder that holds it in programs")
        extra[f"usr/bin/{name}"] = _static(candidate.name, Path(wanted.programs).expanduser() / name)
    facts = {"core": wanted.core} if wanted.core else {}
    return make_ready(
        candidate.name, package, boot=candidate.boot, tools=tools, architecture=architecture, extra=extra, facts=facts
    )


def _kept(name: str, folder: Path, image_at: str) -> Package:
    """Its image and configuration, laid out as in Debian's packages."""
    image, config, said = ((folder / place) for place in (image_at, CONFIG, RELEASE))
    try:
        contents = [named.read(path) for path in (image, config, said)]
    except OSError as error:
        raise BadInput(
            f"candidate {name}: {error.filename}: {error.strerror}; built.kernel is the folder a kernel was built in"
        ) from None
    release = contents[2].decode("ascii", "replace").strip()
    if not _RELEASE.fullmatch(release):
        raise BadInput(f"candidate {name}: {said} holds no kernel release")
    sha256 = hashlib.sha256(b"".join(b"%d\n%s" % (len(content), content) for content in contents)).hexdigest()

    def make(fresh: Path) -> None:
        (fresh / "boot").mkdir(parents=True)
        (fresh / f"boot/vmlinuz-{release}").write_bytes(contents[0])
        (fresh / f"boot/config-{release}").write_bytes(contents[1])

    tree = kept(cache_dir() / "given" / sha256[:32], make)
    return Package(f"linux-{name}", f"{release} {sha256[:12]}", sha256, len(contents[0]), tree)


def _static(name: str, program: Path) -> Path:
    if not program.is_file():
        raise BadInput(f"candidate {name}: there is no {program}, which an instrument runs; build it or mend programs")
    if libraries := sorted(needed(program)):
        raise BadInput(
            f"candidate {name}: {program} loads {libraries[0]}, which guests do not have; link it statically"
        )
    return program
