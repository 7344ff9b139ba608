# SPDX-License-Identifier: MIT
"""`rtqual init`."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, TypeVar

from cyclopts import Parameter
from rich.prompt import Prompt

from rtqual.base.errors import BadInput
from rtqual.base.units import parse_duration_ns
from rtqual.face.commands.app import LITERAL, STDERR, tell
from rtqual.protocols.part import keyed

if TYPE_CHECKING:
    from rtqual.stages.init import MissionTemplate

Said = TypeVar("Said")
Meant = TypeVar("Meant")


def init(
    file: Path | None = None,
    /,
    *,
    template: str | None = None,
    board: str | None = None,
    candidate: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    deadline: str | None = None,
    load: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    program: Path | None = None,
    runs_for: str = "3 s",
    run_programs: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Write a mission of your own from a template (docs/init.md).

    On a terminal, asks for what is not given.

    Parameters
    ----------
    file
        The mission file to write; its name becomes the mission's. TEMPLATE.toml unless given; no file is overwritten.
    template
        What it begins as: cubesat-adcs (attitude control), docking, uav-250hz, or least (the least mission there is).
    board
        Where to measure: virtual, guests in QEMU; virtual-arm64, virtual-arm or virtual-pi3, likewise; local, this
        machine as it runs; or a board over ssh, as root@192.168.7.20, which is asked what it is.
    candidate
        A Debian package of a kernel; may be repeated. Debian's real-time and stock kernels unless given.
    deadline
        How late a thread may wake at most, as "100 us".
    load
        What disturbs meanwhile, as hackbench; may be repeated.
    program
        In place of a template: a program of yours, which is run once and watched; its threads become tasks.
    runs_for
        How long that program is looked at.
    run_programs
        Let that program run.
    """
    if program is not None:
        begin = keyed("drafts", "program", "--program")
        written = begin(program, file, runs_for, lets=run_programs, tell=tell)
        _say_next(written, "a mission with its threads as tasks: set their deadlines", " --run-programs")
        return 0
    from rtqual.engine.mission.explain import suggest  # noqa: PLC0415
    from rtqual.stages import init as stage  # noqa: PLC0415 - what it looks at is slow to load

    kinds = stage.kinds()
    if template and template not in kinds:
        raise BadInput(f"--template {template}: {suggest(template, kinds)}")
    asks = sys.stdin.isatty() and STDERR.is_terminal
    if file:
        stage.check_file(file)
    if asks:
        tell(stage.found_here())
    kind = template or (_choose("Template", list(kinds), "least", _abouts(kinds)) if asks else "least")
    path, usual = file or Path(f"{kind}.toml"), kinds[kind]
    stage.check_file(path)
    places = f"{', '.join(stage.PLACES)}, or root@HOST over ssh"
    where, there = _checked(
        lambda: board or (_say(f"Board: {places}", stage.VIRTUAL) if asks else stage.VIRTUAL),
        lambda answer: (answer, stage.there(answer)),
        again=asks and not board,
    )
    if there:
        tell(f"{where} shows the host key {there.host_key}: compare it with its /etc/ssh/ssh_host_*.pub")
    architecture = there.architecture if there else stage.architecture_of(where)
    packages, limit, possible = candidate, deadline or usual.deadline, stage.loads_of(where)
    loads = load or tuple(name for name in usual.loads if name in possible)
    if asks and not candidate and where != stage.HERE:
        known, first = stage.kernels(architecture), stage.usual(architecture)
        packages = _checked(
            lambda: _several("Candidates", known or first, first),
            lambda answer: stage.check_candidates(answer, architecture),
        )
    if asks and not deadline:
        limit = _checked(lambda: _say("A thread may wake this late", limit), _duration)
    if asks and not load:
        loads = _checked(lambda: _several("Loads", possible, loads), lambda answer: stage.check_loads(answer, where))
    _duration(limit)
    stage.init(path, stage.Wanted(kind, where, limit, loads, packages, there))
    _say_next(path, "a mission to measure as it stands, and to change", "")
    return 0


def _say_next(path: Path, what: str, flag: str) -> None:
    shown = quote(str(path))
    LITERAL.print(f"{path}: {what}.", highlight=False, soft_wrap=True)
    LITERAL.print(f"Next: rtqual mission check {shown}", highlight=False, soft_wrap=True)
    LITERAL.print(f"then: rtqual select {shown}{flag}", highlight=False, soft_wrap=True)


def _abouts(kinds: "Mapping[str, MissionTemplate]") -> str:
    return "".join(f"\n  {name}: {kind.about}" for name, kind in kinds.items())


def _choose(what: str, names: Sequence[str], usual: str, about: str = "") -> str:
    if about:
        tell(f"{what}s:{about}")
    return Prompt.ask(what, console=STDERR, choices=list(names), default=usual)


def _say(what: str, usual: str) -> str:
    return str(Prompt.ask(what, console=STDERR, default=usual))


def _several(what: str, names: Sequence[str], usual: Sequence[str]) -> tuple[str, ...]:
    tell(f"{what}: {', '.join(names)}")
    said = Prompt.ask(f"{what}, with blanks between", console=STDERR, default=" ".join(usual))
    return tuple(said.replace(",", " ").split())


def _duration(text: str) -> str:
    try:
        parse_duration_ns(text)
    except ValueError as error:
        raise BadInput(f"--deadline {error}") from None
    return text


def _checked(ask: Callable[[], Said], check: Callable[[Said], Meant], *, again: bool = True) -> Meant:
    """What an answer means; a bad one is asked for again."""
    while True:
        try:
            return check(ask())
        except BadInput as error:
            if not again:
                raise
            tell(str(error))
