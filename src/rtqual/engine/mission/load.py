# SPDX-License-Identifier: MIT
"""From a mission file to a Mission, or to one line that points at what is wrong."""

import hashlib
import os
import re
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rtqual.base.errors import BadInput
from rtqual.base.units import AS_WRITTEN
from rtqual.base.words import listed, under
from rtqual.engine.instruments.probe.families import PROGRAM as PROBE
from rtqual.engine.mission.board_table import problems_of_plan
from rtqual.engine.mission.candidate import Candidate
from rtqual.engine.mission.explain import Problem, dotted, problems_in, shown, suggest
from rtqual.engine.mission.mission_schema import mission_schema
from rtqual.engine.mission.model import Mission, Plan, PlannedCell, mission_type
from rtqual.engine.mission.program import instruments_of
from rtqual.engine.mission.toml_lines import KeyPath, key_lines, line_of
from rtqual.engine.mission.values import AUTO, KEPT
from rtqual.protocols.board.registry import BoardRow
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.load.all_loads import all_loads
from rtqual.protocols.load.own import own_loads, shape_of
from rtqual.protocols.part import tables

MAX_FILE_B = 2**17  # a mission is a few kilobytes; more is some other file, or a device without an end
_GIVE = "give a mission file (TOML)"
# Opening a pipe waits for a writer, and opening a device may do anything.
_SPECIAL = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
MAX_DEPTH = 16  # tables within tables; a mission has six
_MOST_CELLS = 100_000  # of a scale: at a second each, more than a day
_AT_LINE = re.compile(r" \(at line (\d+), (column \d+)\)$")


def load_mission(path: Path, *, kept: bool = False) -> Mission:
    """A mission from a file. Raises BadInput, one line: `FILE:LINE: key: what is wrong; what is allowed`.

    `kept`: of a campaign that ended; what it was measured with need not be installed.
    """
    content = read(path)
    text = decoded(path, content)
    document = parsed(path, text, "mission")
    if not document:
        raise BadInput(f"{path}:1: is empty; a mission has [mission], [[candidate]] and [[scale.demo.plan]] at least")
    mission, problems = _checked(document, kept=kept)
    if mission is None or problems:
        raise BadInput(_report(path, text, problems))
    mission._path, mission._sha256 = path, hashlib.sha256(content).hexdigest()
    return mission


def read(path: Path, give: str = _GIVE) -> bytes:
    """What a file of tables holds. Raises BadInput, which says what to `give`, where it is none or too large."""
    try:
        if special := _SPECIAL.get(stat.S_IFMT(path.stat().st_mode)):
            raise BadInput(f"{path}: is {special}, no file; {give}")
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            content = file.read(MAX_FILE_B + 1)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}; {give}") from error
    except ValueError as error:  # a zero byte in the name
        raise BadInput(f"{str(path)!r}: cannot be read: {error}; {give}") from error
    if len(content) > MAX_FILE_B:
        raise BadInput(f"{path}: larger than {MAX_FILE_B} bytes; {give}")
    return content


def decoded(path: Path, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise BadInput(
            f"{path}:{line}: not UTF-8 at byte {error.start}: TOML is UTF-8; save the file as such"
        ) from error


def parsed(path: Path, text: str, what: str) -> dict[str, Any]:
    """Raises BadInput with the line that is no TOML, or where it is nested deeper than any such file."""
    try:
        document: dict[str, Any] | None = tomllib.loads(text)
    except ValueError as error:  # TOMLDecodeError, or an integer of thousands of digits
        message = str(error)
        found = _AT_LINE.search(message)
        line = found[1] if found else max(1, len(text.splitlines()))
        message = _AT_LINE.sub(r" (\2)", message)
        raise BadInput(_one_line(f"{path}:{line}: not TOML: {message}")) from error
    except RecursionError:
        document = None
    if document is None or is_deeper(document, MAX_DEPTH):
        raise BadInput(f"{path}:1: tables or lists are nested deeper than {MAX_DEPTH} levels; no {what} needs that")
    return document


def _inner(value: object) -> Iterable[tuple[str | int, object]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def is_deeper(value: object, levels: int) -> bool:
    return levels < 0 or any(is_deeper(thing, levels - 1) for _, thing in _inner(value))


def _report(path: Path, text: str, problems: Sequence[Problem]) -> str:
    """The first problem in the order of the file, and how many follow."""
    lines = key_lines(text)
    first = min(problems, key=lambda problem: (problem.is_missing, line_of(lines, problem.path)))
    more = len(set(problems)) - 1
    tail = f" (and {more} more {'error' if more == 1 else 'errors'})" if more else ""
    key = f"{dotted(first.path)}: " if first.path else ""
    return _one_line(f"{path}:{line_of(lines, first.path)}: {key}{first.message}{tail}")


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())


def _checked(document: dict[str, Any], *, kept: bool) -> tuple[Mission | None, list[Problem]]:
    too_large = list(_large_integers(document))
    if too_large:
        return None, too_large
    listed_loads = document.get("load")
    if isinstance(listed_loads, list):
        named, problems = _named(listed_loads)
        mission, others = (None, []) if problems else _checked({**document, "load": named}, kept=kept)
        return mission, problems or [_in_list(problem, list(named)) for problem in others]
    own = {"instrument": instruments_of(document), "load": own_loads(listed_loads), **({KEPT: ()} if kept else {})}
    try:
        mission = mission_type().model_validate(document, context={**AS_WRITTEN, **own}, by_alias=True, by_name=False)
    except ValidationError as error:
        return None, problems_in(error, mission_schema())
    repeated = list(_repeated_names(mission))  # with two of a name, what a plan means is not clear
    return mission, repeated or [
        *_study_problems(mission),
        *_one_kernel_problems(mission),
        *_baseline_problems(mission),
        *_plan_problems(mission),
        *_auto_problems(mission),
        *_parameter_problems(mission),
        *_load_problems(mission),
        *verify_problems(mission),
    ]


def _named(loads: list[Any]) -> tuple[dict[str, Any], list[Problem]]:
    """[[load]] as tables by their names."""
    named: dict[str, Any] = {}
    problems: list[Problem] = []
    for n, item in enumerate(loads):
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(item, dict):
            problems.append(Problem(("load", n), f"{shown(item)} is not allowed; write a table [[load]]"))
        elif not isinstance(name, str):
            problems.append(Problem(("load", n, "name"), "is missing: what plans call the load", is_missing=True))
        elif name in named:
            problems.append(Problem(("load", n, "name"), f"{shown(name)} is the name of another load already"))
        else:
            named[name] = {key: value for key, value in item.items() if key != "name"}
    return named, problems


def _in_list(problem: Problem, names: list[str]) -> Problem:
    """Where it stands in a file that has [[load]]."""
    table, *rest = problem.path or ("",)
    if table != "load" or not rest or rest[0] not in names:
        return problem
    inner = rest[1:] or ["name"]
    return Problem(("load", names.index(str(rest[0])), *inner), problem.message, problem.is_missing)


def _large_integers(value: object, path: KeyPath = ()) -> Iterator[Problem]:
    """TOML wants an error for integers beyond 64 bits; tomllib lets them pass."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        yield Problem(path, "is beyond 64 bits")
    for key, thing in _inner(value):
        yield from _large_integers(thing, (*path, key))


def _repeated_names(mission: Mission) -> Iterator[Problem]:
    for table, entries in (
        ("candidate", mission.candidates),
        ("board", mission.boards),
        ("requirement", mission.requirements),
        ("criterion", mission.criteria),
        ("program", mission.programs),
        *((row.key, mission.brought(row.key)) for row in tables()),
    ):
        names = [entry.name for entry in entries]
        for n, name in enumerate(names):
            if name in names[:n]:
                yield Problem((table, n, "name"), f"{shown(name)} is the name of another {table} already")
            if table == "requirement" and (own := mission.requirements[n].id) in [
                requirement.id for requirement in mission.requirements[:n] if own
            ]:
                yield Problem((table, n, "id"), f"{shown(own)} is the id of another requirement already")
            if table == "requirement" and name.startswith("need "):
                yield Problem((table, n, "name"), f"{shown(name)} is what reports call a need; begin with another word")


def _study_problems(mission: Mission) -> Iterator[Problem]:
    """Published candidates are compared with each other, so they must have been measured alike."""
    first = ""
    for n, candidate in enumerate(mission.candidates):
        study = (candidate.published or "").partition("/")[0]
        if study and first and study != first:
            message = f"is of another study than those of {first}, on other hardware; give {study} a mission of its own"
            yield Problem(("candidate", n, "published"), message)
        first = first or study


def _one_kernel_problems(mission: Mission) -> Iterator[Problem]:
    """Candidates that this machine runs one after the other must say so, or all would measure the one kernel."""
    here = [(n, candidate) for n, candidate in enumerate(mission.candidates) if candidate.is_here]
    for i, (n, other_candidate) in enumerate(here):
        for _, before in here[:i]:
            if other_candidate.may_be(before):
                message = f"may be the very kernel that {before.name} is; state release (or preempt-rt) for both"
                yield Problem(("candidate", n), message)
                break


def _baseline_problems(mission: Mission) -> Iterator[Problem]:
    for n, candidate in enumerate(mission.candidates):
        names = [
            other_candidate.name
            for other_candidate in mission.candidates
            if other_candidate.architecture and other_candidate != candidate
        ]
        if candidate.tailor and candidate.tailor.baseline and candidate.tailor.baseline not in names:
            message = f"no other candidate with a kernel is {shown(candidate.tailor.baseline)}; "
            message += suggest(candidate.tailor.baseline, names) if names else "leave it out"
            yield Problem(("candidate", n, "tailor", "baseline"), message)


def verify_problems(mission: Mission) -> Iterator[Problem]:
    names = [candidate.name for candidate in mission.candidates if candidate.architecture]
    if mission.verify and mission.verify.candidate not in names:
        message = f"no candidate with a kernel is {shown(mission.verify.candidate)}; "
        yield Problem(("verify", "candidate"), message + suggest(mission.verify.candidate, names))
    programs = [program.name for program in mission.programs]
    if mission.verify and mission.verify.program and mission.verify.program not in programs:
        message = f"there is no [[program]] {shown(mission.verify.program)}; "
        yield Problem(("verify", "program"), message + suggest(mission.verify.program, programs))
    if mission.verify and mission.verify.board:
        flown = tuple(candidate for candidate in mission.candidates if candidate.name == mission.verify.candidate)
        for problem in problems_of_plan(mission.boards, (mission.verify.board,), flown, ("verify",)):
            yield Problem(("verify", "board"), problem.message)


def _plan_problems(mission: Mission) -> Iterator[Problem]:
    names = [candidate.name for candidate in mission.candidates if not candidate.published]
    published = [candidate.name for candidate in mission.candidates if candidate.published]
    for scale_name, scale in mission.scales.items():
        if not scale.plan and names:
            yield Problem(("scale", scale_name, "plan"), "is empty; write at least 1")
        cells = 0
        for n, plan in enumerate(scale.plan):
            path: KeyPath = ("scale", scale_name, "plan", n)
            lists = (mission.candidates_of(plan), plan.instruments, plan.loads, plan.cpus)
            before, cells = cells, cells + plan.looks[-1] * prod(map(len, lists))
            if before <= _MOST_CELLS < cells:  # told once
                message = f"makes {cells:,} runs of this scale, with all its lists; write at most {_MOST_CELLS:,}"
                yield Problem((*path, "runs"), message)
            if not names:
                yield Problem(path, "runs nothing: every candidate is published; write plan = []")
            for i, name in enumerate(plan.candidates):
                if name in published:
                    message = f"{shown(name)} is published and not run; leave it out"
                    yield Problem((*path, "candidates", i), message)
                elif name not in names:
                    message = f"unknown candidate {shown(name)}; {suggest(name, names)}"
                    yield Problem((*path, "candidates", i), message)
            yield from _program_problems(mission, plan)
            yield from problems_of_plan(mission.boards, plan.boards, mission.candidates_of(plan), path)
            yield from _model_problems(mission, plan, path)
            for candidate in mission.candidates_of(plan):
                for place in mission.places_of(plan, candidate):
                    yield from _problems_of_board(candidate, place, plan, path)
                    yield from _changes_of_machine(mission, candidate, plan) if place.here else ()


def _model_problems(mission: Mission, plan: Plan, path: KeyPath) -> Iterator[Problem]:
    for candidate in mission.candidates_of(plan) if plan.models else ():
        if not mission.places_of(plan, candidate):
            message = (
                f"{candidate.name} is no kernel on a virtual board, which alone have models; name candidates that are"
            )
            yield Problem((*path, "models"), message)


def _program_problems(mission: Mission, plan: Plan) -> Iterator[Problem]:
    """Programs of which nothing is asked."""
    for n, program in enumerate(mission.programs):
        if program.instrument in plan.instruments and not program.tasks and not program.outputs:
            advice = "write [[program.task]], of which `rtqual program tasks` prints some, or [[program.output]]"
            yield Problem(("program", n), f"is planned and measures nothing; {advice}")
            return


def _changes_of_machine(mission: Mission, candidate: Candidate, plan: Plan) -> Iterator[Problem]:
    """What programs ask to be changed of a system, where that is this machine."""
    for n, program in enumerate(mission.programs):
        asked = {"prepare": program.prepare, "kernel_threads": program.kernel_threads, "packages": program.packages}
        for key, value in asked.items() if program.instrument in plan.instruments else ():
            if value:
                message = f"is not done on this machine; give {candidate.name} a mission of its own without it"
                yield Problem(("program", n, key), message)


def _auto_problems(mission: Mission) -> Iterator[Problem]:
    """Plans that ask for as many runs as it takes where no number of them decides anything."""
    asked = {(measured.instrument, measured.load) for measured in (*mission.requirements, *mission.criteria)}
    advice = "give it a plan of its own with a number of runs"
    for scale_name, scale in mission.scales.items():
        planned: dict[PlannedCell, Plan] = {}
        for n, plan in enumerate(scale.plan):
            path: KeyPath = ("scale", scale_name, "plan", n)
            auto = plan.runs == AUTO
            if auto and len(plan.cpus) > 1:
                yield Problem((*path, "cpus"), f'a verdict rests on one number of CPUs; with runs = "{AUTO}" write one')
            for instrument in plan.instruments if auto else ():
                if (of := all_instruments().get(instrument)) and of.whole_boot:
                    yield Problem((*path, "runs"), f"{instrument} reads the same off a system each time; {advice}")
                elif not asked & {(instrument, load) for load in plan.loads}:
                    what = f"{instrument} {listed(list(map(under, plan.loads)), 'or')}"
                    message = (
                        f"no requirement or criterion asks for {what}, so nothing says when it is decided; {advice}"
                    )
                    yield Problem((*path, "runs"), message)
            for cell in mission.cells_of(plan):
                before = planned.setdefault(cell, plan)
                if AUTO in (plan.runs, before.runs) and plan.looks != before.looks:
                    message = f"another plan runs {cell[2]} {under(cell[3])} of {cell[1]} too; leave it to one of them"
                    yield Problem((*path, "runs"), message)
                    break


def _problems_of_board(candidate: Candidate, place: BoardRow, plan: Plan, path: KeyPath) -> Iterator[Problem]:
    """What a plan asks for that the candidate's board does not do."""
    advice = f"give {candidate.name} a plan of its own"
    if place.cpus and plan.cpus != (1,):
        yield Problem((*path, "cpus"), f"{place.why_cpus.format(candidate.named)}; {advice} without cpus")
    known = [(i, all_instruments()[name]) for i, name in enumerate(plan.instruments) if name in all_instruments()]
    for i, of in known if place.bare else ():
        if of.disks or of.resets or of.scene:
            why = f"{of.name!r} takes a disk, a reset or live frames, which {place.name} has not; {advice} without it"
            yield Problem((*path, "instruments", i), why)
    for i, name in enumerate(plan.loads):
        if (place.here or place.switched) and name in all_loads() and not all_loads()[name].local:
            yield Problem((*path, "loads", i), f"{name!r} runs in a guest only; {advice} without it")
        if not place.linux and name != "none":
            yield Problem((*path, "loads", i), f"{name!r} is a Linux program; {advice} without it")
    for i, of in known if not place.linux else ():
        if of.program != PROBE:
            yield Problem(
                (*path, "instruments", i), f"{of.name!r} is a Linux program; {advice}, of probe-... instruments"
            )
    has = candidate.built.core if candidate.built else None
    for i, of in known:
        if of.core and of.core != has:
            why = f"{of.name!r} measures a {of.core} core, which {candidate.name} has not; name the plan's candidates"
            yield Problem((*path, "instruments", i), why)


def _parameter_problems(mission: Mission) -> Iterator[Problem]:
    """The parameters of each scale and of each plan, put together, must be what the instrument takes."""
    for scale_name, scale in mission.scales.items():
        path: KeyPath = ("scale", scale_name)
        for instrument in {**mission.parameters, **scale.parameters}:
            together = mission.parameters_for(scale_name, instrument)
            yield from _refused(instrument, together, {path: scale.parameters})
        for n, plan in enumerate(scale.plan):
            for instrument in plan.parameters:
                together = mission.parameters_for(scale_name, instrument, plan)
                yield from _refused(instrument, together, {(*path, "plan", n): plan.parameters, path: scale.parameters})


def _load_problems(mission: Mission) -> Iterator[Problem]:
    programs = [program.name for program in mission.programs]
    for name, table in mission.loads.items():
        if name in all_loads() or own_loads({name: table}):  # else a part brought it that is gone
            yield from _problems_of_load(name, table)
        program = table.get("program") if name not in all_loads() else None
        if program is not None and program not in programs:
            yield Problem(
                ("load", name, "program"), f"unknown program {shown(program)}; {suggest(str(program), programs)}"
            )


def _problems_of_load(name: str, table: Mapping[str, object]) -> Iterator[Problem]:
    try:
        shape_of(name).model_validate(table)
    except ValidationError as error:
        yield from problems_in(error, mission_schema(), lambda loc: ("load", name, *loc))


def _refused(
    instrument: str, together: dict[str, Any], tables: Mapping[KeyPath, Mapping[str, dict[str, Any]]]
) -> Iterator[Problem]:
    """What an instrument does not take, told where it is written: in the first table that has it."""

    def place(loc: KeyPath) -> KeyPath:
        given = ((path, table.get(instrument, {})) for path, table in tables.items())
        table = next((path for path, own in given if (loc[0] in own if loc else own)), ())
        return (*table, "parameters", instrument, *loc)

    if instrument not in all_instruments():
        return
    try:
        all_instruments()[instrument].parameters.model_validate(together, context=AS_WRITTEN)
    except ValidationError as error:
        yield from problems_in(error, mission_schema(), place)
