# SPDX-License-Identifier: MIT
"""What is laid into a guest for a program of the user's: the binary, its files, the libraries it is linked with."""

import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from rtqual.base.apt import Package, fetch_closure
from rtqual.base.architecture import Architecture
from rtqual.base.cache import sha256_file
from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.named import listed
from rtqual.engine.initramfs.contents import find, guest_file, guest_tools
from rtqual.engine.mission.program import Program

SUPERVISOR = "rtqual-program"
BESIDE = "rtqual-beside"  # the same as a load: it is not watched
_NAMED = {"EM_X86_64": "x86-64", "EM_AARCH64": "64-bit ARM", "EM_ARM": "32-bit ARM", "EM_386": "32-bit x86"}
_LEFT_OUT = ("usr/share/doc/", "usr/share/man/", "usr/share/locale/", "usr/share/lintian/", "usr/share/info/")
_OURS = ("/init", "/bin/busybox", "/bin/sh")
_OURS_BELOW = ("/usr/bin/rtqual-", "/etc/rtqual/", "/lib/modules/", "/proc/", "/sys/", "/dev/", "/run/result/")
_MOST_FILES, _MOST_B = 20_000, 192 * 2**20  # a guest has 512 MiB for all
_MOST_HASHED_B = 1 << 30
_SCRIPT = b"#!"


def place_of(program: Program) -> str:
    """Where its binary lies in a guest: in all guests at the same place."""
    named = next(_binaries(program))
    return named if _in_packages(program, named) else f"/opt/{program.name}/{Path(named).name}"


def folder_of(program: Program) -> str:
    """Where it starts in a guest: in memory."""
    return program.folder or f"/run/{program.name}"


def hashes(program: Program, folder: Path) -> dict[str, str]:
    """sha256 of all files of the user's by their places; of binaries by the processor. Raises BadInput."""
    found: dict[str, Path] = {}
    binaries = {"": program.binary} if isinstance(program.binary, str) else dict(program.binary)
    for processor, named in binaries.items():
        if not _in_packages(program, named):
            found[f"binary {processor}".strip()] = _file(program, folder, named, "binary")
    found |= _own_files(program, folder)
    if program.libraries != "debian":
        inside = sorted(_folder(program, folder).iterdir())
        found |= {f"library {file.name}": file for file in inside if file.is_file()}
    size_b = sum(file.stat().st_size for file in found.values())
    if size_b > _MOST_HASHED_B:  # a sparse file may be without end
        raise BadInput(f"program {program.name}: its files have {size_b >> 20:,} MiB, {_MOST_HASHED_B >> 20:,} at most")
    return {name: sha256_file(file) for name, file in found.items()}


def own(program: Program, folder: Path, architecture: Architecture) -> dict[str, Path]:
    """Path -> file of the user's own, with what starts it. Raises BadInput where one is missing or for another
    processor."""
    named = _named(program, architecture)
    supervisor = guest_file(SUPERVISOR + architecture.suffix)
    files = {f"usr/bin/{SUPERVISOR}": supervisor, f"usr/bin/{BESIDE}": supervisor}
    if not _in_packages(program, named):
        binary = files[place_of(program).lstrip("/")] = _file(program, folder, named, "binary")
        list(_needed(program, binary, architecture, strict=True))
    return files | {at.lstrip("/"): file for at, file in _own_files(program, folder)}


def _named(program: Program, architecture: Architecture) -> str:
    named = program.binary_for(architecture.name)
    if named is None:
        raise BadInput(
            f"program {program.name}: has no binary for {architecture.name}: give it one, or plan without it"
        )
    return named


def laid(program: Program, folder: Path, architecture: Architecture) -> dict[str, Path]:
    """Path in the guest -> file. Raises BadInput where one is missing or for another processor."""
    named = _named(program, architecture)
    supervisor = guest_file(SUPERVISOR + architecture.suffix)
    files = {f"usr/bin/{SUPERVISOR}": supervisor, f"usr/bin/{BESIDE}": supervisor}
    packages = _packages(program, architecture)
    files |= _of_packages(packages)
    place = place_of(program).lstrip("/")
    if _in_packages(program, named):
        if place not in files:
            raise BadInput(f"program {program.name}: its packages have no {named}")
    else:
        files[place] = _file(program, folder, named, "binary")
    theirs = dict(_own_files(program, folder))
    for at in theirs:
        if at in _OURS or at.startswith(_OURS_BELOW):
            raise BadInput(
                f"program {program.name}: files: {at} is a place of rtqual's own in the guest; choose another"
            )
    files |= {at.lstrip("/"): file for at, file in theirs.items()}
    trees = [package.tree for package in (*guest_tools(architecture), *packages)]
    where = [] if program.libraries == "debian" else [_folder(program, folder)]
    for at in (place, *(at.lstrip("/") for at in theirs)):
        files |= _libraries(program, at, files, where, trees, architecture, strict=at == place)
    size = sum(file.stat().st_size for file in files.values())
    if len(files) > _MOST_FILES or size > _MOST_B:
        raise BadInput(
            f"program {program.name}: its {len(files):,} files have {size / 2**20:.0f} MiB; a guest takes "
            f"{_MOST_FILES:,} and {_MOST_B // 2**20} MiB"
        )
    return files


def _binaries(program: Program) -> Iterator[str]:
    yield from (program.binary,) if isinstance(program.binary, str) else dict(program.binary).values()


def _in_packages(program: Program, named: str) -> bool:
    return bool(program.packages) and named.startswith("/")


def _file(program: Program, folder: Path, named: str, key: str) -> Path:
    file = folder / Path(named).expanduser()
    try:
        mode = file.stat().st_mode
    except OSError as error:
        raise BadInput(f"program {program.name}: {key}: {file} cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(mode):
        raise BadInput(f"program {program.name}: {key}: {file} is no file")
    if key == "binary" and not mode & 0o111:
        raise BadInput(f"program {program.name}: {key}: {file} is not to be executed: `chmod +x` it")
    return file


def _folder(program: Program, folder: Path) -> Path:
    where = folder / Path(program.libraries).expanduser()
    if not where.is_dir():
        raise BadInput(f'program {program.name}: libraries: {where} is no folder; write a folder, or "debian"')
    return where


def _own_files(program: Program, folder: Path) -> Iterator[tuple[str, Path]]:
    """Place in the guest and file, of all that `files` names."""
    for place, named in sorted(program.files.items()):
        source = folder / Path(named).expanduser()
        if not source.is_dir():
            yield place, _file(program, folder, named, "files")
            continue
        try:
            inside = listed(source, _MOST_FILES)
        except BadInput as error:
            raise BadInput(f"program {program.name}: files: {error}") from None
        yield from ((f"{place}/{file.relative_to(source)}", file) for file in inside if file.is_file())


def _packages(program: Program, architecture: Architecture) -> list[Package]:
    """Those that the program names, with all that they need: of packages that its tools come from, as python3, the
    guest has single files only."""
    return fetch_closure(program.packages, architecture=architecture) if program.packages else []


def _of_packages(packages: Sequence[Package]) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for package in packages:
        for file in sorted(package.tree.rglob("*")):
            place = str(file.relative_to(package.tree))
            if place.startswith(_LEFT_OUT) or file.is_dir():
                continue
            real = _resolved(file, package.tree, packages)
            if real:
                files.setdefault(place, real)
    return files


def _resolved(file: Path, tree: Path, packages: Sequence[Package]) -> Path | None:
    """A link's file: links of packages are meant for a root of their own, and may go to another package."""
    for _ in range(8):
        if not file.is_symlink():
            return file if file.is_file() else None
        target = file.readlink()
        place = Path(str(target).lstrip("/")) if target.is_absolute() else (file.parent / target).relative_to(tree)
        plain = Path(*_without_dots(place.parts))
        trees = [
            package.tree
            for package in packages
            if (package.tree / plain).is_symlink() or (package.tree / plain).exists()
        ]
        if not trees:
            return None
        tree, file = trees[0], trees[0] / plain
    return None


def _without_dots(parts: Sequence[str]) -> list[str]:
    plain: list[str] = []
    for part in parts:
        if part == "..":
            plain = plain[:-1]
        elif part != ".":
            plain.append(part)
    return plain


def _libraries(
    program: Program,
    place: str,
    files: dict[str, Path],
    where: Sequence[Path],
    trees: Sequence[Path],
    architecture: Architecture,
    *,
    strict: bool,
) -> dict[str, Path]:
    """The libraries that a file needs, with what these need. `strict`: it must be a program for the processor."""
    triplet = architecture.triplet
    found: dict[str, Path] = {}
    waiting = list(_needed(program, files[place], architecture, strict=strict))
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen or "/" in name:
            continue
        seen.add(name)
        given = next((path / name for path in where if (path / name).is_file()), None)
        laid_already = any(f"{place}/{name}" in files for place in _places(triplet))
        if laid_already and not given:
            continue
        try:
            library = given or find(trees, _places(triplet), name)
        except RunFailed:
            raise BadInput(
                f"program {program.name}: /{place} needs {name}, which "
                f"{'is neither in its libraries nor in' if where else 'is not in'} the guest's packages: "
                'name the Debian package that has it (packages = ["..."]), or lay it there (files)'
            ) from None
        library = library.resolve()
        if name.startswith("ld-linux"):
            found[f"lib64/{name}" if "x86-64" in name else f"lib/{name}"] = library
        found[f"lib/{triplet}/{name}"] = library
        waiting += _needed(program, library, architecture, strict=False)
    return found


def _places(triplet: str) -> tuple[str, ...]:
    return (f"lib/{triplet}", f"usr/lib/{triplet}", "usr/lib", "lib", "lib64")


def _needed(program: Program, file: Path, architecture: Architecture, *, strict: bool) -> Iterator[str]:
    """Libraries and loader that a file asks for. Raises BadInput for one that the processor does not run."""
    from rtqual.base.elf_file import DAMAGED, loaded_with, opened  # noqa: PLC0415 - slow to load

    with file.open("rb") as content:
        begin = content.read(len(_SCRIPT))
        if begin == _SCRIPT:
            return
        try:
            elf = opened(content)
            machine = str(elf.header["e_machine"])
            if machine != architecture.machine:
                if not strict:
                    return
                is_of = _NAMED.get(machine, machine)
                raise BadInput(
                    f"program {program.name}: {file} is for {is_of}, the candidate for "
                    f'{_NAMED[architecture.machine]}: give binary = {{ {architecture.name} = "..." }}'
                )
            yield from loaded_with(elf)
        except DAMAGED:
            if strict:
                raise BadInput(f"program {program.name}: {file} is neither a program (ELF) nor a script (#!)") from None
