# SPDX-License-Identifier: MIT
"""`rtqual init`: a mission of one's own from a template (templates/) and a few answers."""

import json
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

from rtqual.base import apt
from rtqual.base.architecture import AMD64, ARM64, ARMHF, Architecture, of_kernel
from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.scratch import scratch
from rtqual.base.words import listed
from rtqual.engine.boards.remote.unnamed import BoardAsked, ask
from rtqual.engine.mission import load_mission
from rtqual.engine.mission.board_table import over_ssh
from rtqual.engine.mission.explain import suggest
from rtqual.protocols.board.registry import PACKAGE, all_boards, leading, this_machine
from rtqual.protocols.load.all_loads import all_loads
from rtqual.protocols.part import by_name

HERE = this_machine().name
VIRTUAL = next(name for name in leading() if name != HERE)
_GUESTS = {row.name: row.architecture for row in all_boards() if PACKAGE in row.runs and row.architecture}
_BY_NAME = {row.name for row in all_boards() if row.by_name}  # a candidate's key says so
PLACES = (*sorted(_GUESTS, key=lambda name: (name != VIRTUAL, name)), HERE)
_FLAVOURS = {AMD64: "amd64", ARM64: "arm64", ARMHF: "armmp"}  # in the names of Debian's kernels
# Metapackages, which stand for the newest of their kind; of the many with a whole version in their names people choose
# one only by intent.
_NEWEST = re.compile(r"linux-image-(?:\d+\.\d+-)?(?:rt-|cloud-)?(?:amd64|arm64|armmp)")
_PLAN = "# How much to measure"  # of every template: what stands before it are systems and limits
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]*")
_NOT_SLUG = re.compile(r"[^a-z0-9]+")
_OF_GUESTS, _OF_SYSTEMS = "64 MiB", "1 GiB"  # memory of a kernel and a shell; of a whole system


@dataclass(frozen=True)
class MissionTemplate:
    """A template. Deadline and loads are those of the missions they come from, or of their class of mission."""

    name: str  # its file is templates/NAME.toml of `package`
    about: str
    deadline: str
    loads: tuple[str, ...]
    package: str = "rtqual.stages"


CUBESAT = MissionTemplate("cubesat-adcs", "attitude control of a CubeSat", "500 us", ("hackbench", "stress-io"))
UAV = MissionTemplate(
    "uav-250hz", "250 Hz flight control beside autonomy", "225 us", ("hackbench", "stress-cpu", "stress-memory")
)
LEAST = MissionTemplate("least", "one limit, one measurement", "100 us", ("hackbench",))


def kinds() -> Mapping[str, MissionTemplate]:
    """Return the templates that parts bring, by name."""
    return by_name("templates")


@dataclass(frozen=True)
class Wanted:
    """What the mission is made of. `board`: one of PLACES, or a board's address over ssh, which `there` was asked at.
    Empty `candidates`: what is usual there; of this machine, the kernel it runs."""

    template: str
    board: str
    deadline: str
    loads: tuple[str, ...]
    candidates: tuple[str, ...] = ()
    there: BoardAsked | None = None

    @property
    def architecture(self) -> Architecture:
        """Of its candidates."""
        return self.there.architecture if self.there else architecture_of(self.board)


def architecture_of(board: str) -> Architecture:
    """The processor of one of PLACES."""
    return _GUESTS.get(board) or AMD64


def kernels(architecture: Architecture = AMD64) -> tuple[str, ...]:
    """The kernels that apt has, by the packages that stand for the newest of each kind; none where there is no apt."""
    try:
        names = apt.names(apt.KERNELS, architecture)
    except RunFailed:
        return ()
    return tuple(name for name in names if _NEWEST.fullmatch(name) and of_kernel(name) == architecture)


def usual(architecture: Architecture = AMD64) -> tuple[str, ...]:
    """Debian's real-time and stock kernel, as far as apt has them; where it has neither, their names all the same."""
    found, names = kernels(architecture), [f"{apt.KERNELS}{kind}{_FLAVOURS[architecture]}" for kind in ("rt-", "")]
    return tuple(name for name in names if name in found) or tuple(names)


def loads_of(board: str) -> tuple[str, ...]:
    """The loads that run there; 'none' is measured anyway."""
    return tuple(name for name, load in all_loads().items() if name != "none" and (load.local or board in _GUESTS))


def there(board: str) -> BoardAsked | None:
    """What a board over ssh says of itself; None for one of PLACES. Raises BadInput where it is neither."""
    if board in PLACES:
        return None
    if "@" not in board:
        raise BadInput(f"--board {board}: {suggest(board, PLACES)}; or a board over ssh: root@192.168.7.20")
    try:
        return ask(board, *over_ssh(board))
    except (RunFailed, ValueError) as error:
        raise BadInput(f"--board {board}: {error}") from None


def check_file(file: Path) -> None:
    """Raises BadInput where no mission can be written there."""
    if file.exists() or file.is_symlink():
        raise BadInput(f"{file}: is there already and stays as it is: give another name")
    if not _SLUG.fullmatch(file.stem):
        raise BadInput(f"{file}: the file's name names the mission: write lower-case letters, digits and '-'")
    if not file.parent.is_dir():
        raise BadInput(f"{file}: cannot be written: there is no folder {file.parent}: make it, or give another name")


def check_candidates(names: tuple[str, ...], architecture: Architecture) -> tuple[str, ...]:
    """Raises BadInput for a package that apt does not know, or one for another processor."""
    for name in names:
        if json.dumps(name) != f'"{name}"':
            raise BadInput(f"{name!r}: has characters that no package has")
        if name.startswith(apt.KERNELS) and of_kernel(name) != architecture:
            raise BadInput(f"--candidate {name}: is for {of_kernel(name).name}, the board is {architecture.name}")
        with suppress(RunFailed):  # no apt here
            apt.require_known(name, architecture)
    return names


def check_loads(names: tuple[str, ...], board: str) -> tuple[str, ...]:
    """Raises BadInput for a load that does not run there."""
    possible = ("none", *loads_of(board))
    for load in names:
        if load not in possible:
            raise BadInput(f"--load {load}: does not run on the {board} board; {suggest(load, possible)}")
    return names


def init(file: Path, wanted: Wanted) -> None:
    """Write the mission. Raises BadInput for an answer that no mission takes, and where the file is there already."""
    check_file(file)
    text = _text(file, wanted)
    with scratch() as folder:
        trial = Path(folder) / file.name
        trial.write_text(text)
        try:
            load_mission(trial)
        except BadInput as error:
            raise BadInput(f"these answers make no mission: {str(error).removeprefix(f'{trial}:')}") from None
    try:
        with file.open("x") as new:
            new.write(text)
    except OSError as error:
        raise BadInput(f"{file}: cannot be written: {error.strerror}; give another name") from None


def _text(file: Path, wanted: Wanted) -> str:
    _check(wanted)
    loads = tuple(dict.fromkeys(name for name in wanted.loads if name != "none"))
    template = (files(kinds()[wanted.template].package) / "templates" / f"{wanted.template}.toml").read_text()
    text = Template(template.partition("\n")[2]).substitute(  # without the licence of the template
        name=file.stem,
        file=file.name,
        candidates="\n".join(_candidates(wanted)),
        gates="\n".join(_gates(wanted.deadline, loads)),
        load=loads[0] if loads else "none",
        loads=json.dumps(["none", *loads]),
        memory=_OF_SYSTEMS if wanted.board == HERE else _OF_GUESTS,
    )
    if wanted.there:
        text = text.replace(_PLAN, f"{wanted.there.table}\n{_PLAN}", 1)
        text = re.sub(r"(?<=\.plan\]\]\n)", f'boards = ["{wanted.there.name}"]\n', text)
    return f"# Made by `rtqual init --template {wanted.template}`: yours to change.\n{text}"


def _check(wanted: Wanted) -> None:
    """What would read as an error in a file that the user has not written."""
    check_loads(wanted.loads, wanted.board)
    if wanted.board == HERE and wanted.candidates:
        raise BadInput("--candidate: names a kernel to boot on the virtual board; this machine runs the one it has")
    check_candidates(wanted.candidates, wanted.architecture)
    if json.dumps(wanted.deadline) != f'"{wanted.deadline}"':
        raise BadInput(f"{wanted.deadline!r}: has characters that no deadline has")


def _candidates(wanted: Wanted) -> Iterator[str]:
    if wanted.board == HERE:
        release = platform.release()
        yield (
            f'[[candidate]]\nname = "this-machine"\ntitle = "This machine, Linux {release}"\nthis-machine = true\n'
            f'release = "{release}"  # to compare kernels here, state each, boot it, run `rtqual select` again\n'
        )
        return
    named = f'board = "{wanted.board}"\n' if wanted.board in _BY_NAME else ""
    names: list[str] = []
    for package in dict.fromkeys(wanted.candidates or usual(wanted.architecture)):
        names.append(_name(package, names))
        yield f'[[candidate]]\nname = "{names[-1]}"\ntitle = "Debian, {package}"\npackage = "{package}"\n{named}'


def _name(package: str, taken: Sequence[str]) -> str:
    """'linux-image-6.12-rt-amd64' -> 'debian-6-12-rt'."""
    kind = package.removeprefix("linux-image").removesuffix(_FLAVOURS[of_kernel(package)])
    short = "-".join(["debian", *filter(None, _NOT_SLUG.split(kind))])
    return short if short not in taken else f"{short}-{len(taken) + 1}"


def _gates(deadline: str, loads: Sequence[str]) -> Iterator[str]:
    for load in loads or ("none",):
        name = f"wake-up under {load}" if load != "none" else "wake-up, idle"
        yield (
            f'[[requirement]]\nname = "{name}"\ninstrument = "cyclictest"\nload = "{load}"\nstatistic = "max"\n'
            f'at_most = "{deadline}"\nmargin = "5 %"  # candidates that differ by less are as good as each other\n'
        )


def found_here() -> str:
    """What may become candidates, in a sentence."""
    packages = kernels()
    apt_has = f"apt has {listed(packages)}" if packages else "apt knows no kernels here (`apt-get update`?)"
    return f"This machine runs Linux {platform.release()}; {apt_has}."
