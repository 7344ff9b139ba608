# SPDX-License-Identifier: MIT
"""A kernel that was built elsewhere, as a candidate: Xenomai's Cobalt and EVL beside Linux, or any other.

What is used of it (elsewhere.py) is copied into the cache under the hash of its contents: what was built anew is
another kernel, and a record can be reproduced after the folder is gone.
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from rtqual.base.apt import Package, package_at
from rtqual.base.cache import cache_dir, kept
from rtqual.base.errors import BadInput
from rtqual.engine.candidates.elsewhere import FoundKernel, locate, read
from rtqual.engine.candidates.ready import image_of, make_ready
from rtqual.engine.initramfs.contents import needed
from rtqual.engine.mission import Candidate
from rtqual.protocols.board.system import Kernel
from rtqual.protocols.instrument.all_instruments import all_instruments


def _of_cores() -> set[str]:
    """Programs that no package brings: those that measure a core beside Linux."""
    return {instrument.program for instrument in all_instruments().values() if instrument.core}


def prepare(candidate: Candidate, *, tools: Sequence[Package], programs: Collection[str] = ()) -> Kernel:
    """The kernel with the programs beside it that instruments of these programs run. Raises BadInput, naming the file
    that is missing or of another kind."""
    wanted = candidate.built
    architecture = candidate.architecture
    assert wanted is not None and architecture is not None, "a kernel that was built"  # noqa: S101
    package = kernel_at(candidate)
    extra = {}
    for name in sorted(_of_cores() & {*programs}):
        if wanted.programs is None:
            raise BadInput(f"candidate {candidate.name}: {name} runs on it; name the folder that holds it in programs")
        extra[f"usr/bin/{name}"] = _static(candidate.name, Path(wanted.programs).expanduser() / name)
    facts = {"core": wanted.core} if wanted.core else {}
    return make_ready(
        candidate.name, package, boot=candidate.boot, tools=tools, architecture=architecture, extra=extra, facts=facts
    )


def located(candidate: Candidate) -> FoundKernel:
    """Where it lies. Raises BadInput where it does not."""
    wanted = candidate.built
    assert wanted is not None, "a kernel that was built"  # noqa: S101
    config = Path(wanted.config).expanduser() if wanted.config else None
    return locate(Path(wanted.kernel), wanted.architecture, config)


def kernel_at(candidate: Candidate) -> Package:
    """Its files, laid out as in Debian's packages. Raises BadInput with the file that is missing or of another kind."""
    try:
        built = located(candidate)
        if not built.is_package:
            return _kept(candidate.name, built)
        package = package_at(built.image, candidate.architecture.name if candidate.architecture else "")
        image, release = image_of(candidate.name, package)
        if built.config:  # as Ubuntu's, whose image and modules are packages apart
            return _kept(candidate.name, replace(built, image=image))
        for file in (image, image.parent / f"config-{release}"):
            if file.is_symlink() or not file.is_file():
                raise BadInput(f'{built.image}: holds no boot/{file.name}: name it by config = "PATH"')
        return package
    except OSError as error:
        raise BadInput(f"candidate {candidate.name}: {error.filename}: {error.strerror}") from None
    except BadInput as error:
        raise BadInput(f"candidate {candidate.name}: {error}") from None


def _kept(name: str, built: FoundKernel) -> Package:
    image, config, release = read(built)
    contents = (image, config, release.encode())
    sha256 = hashlib.sha256(b"".join(b"%d\n%s" % (len(content), content) for content in contents)).hexdigest()

    def make(fresh: Path) -> None:
        (fresh / "boot").mkdir(parents=True)
        (fresh / f"boot/vmlinuz-{release}").write_bytes(image)
        (fresh / f"boot/config-{release}").write_bytes(config)

    tree = kept(cache_dir() / "given" / sha256[:32], make)
    return Package(f"linux-{name}", f"{release} {sha256[:12]}", sha256, len(image), tree)


def _static(name: str, program: Path) -> Path:
    if not program.is_file():
        raise BadInput(f"candidate {name}: there is no {program}, which an instrument runs; build it or fix programs")
    if libraries := sorted(needed(program)):
        raise BadInput(
            f"candidate {name}: {program} loads {libraries[0]}, which guests do not have; link it statically"
        )
    return program
