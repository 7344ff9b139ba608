# SPDX-License-Identifier: MIT
"""A program of the user's as an instrument: run as its mission says, judged by its jobs and by what it prints."""

import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from rtqual.base.architecture import AMD64, ARCHITECTURES, ARMHF, Architecture
from rtqual.base.errors import RunFailed
from rtqual.base.units import DurationNs, format_ns
from rtqual.base.words import clean
from rtqual.engine.boards.here import TRACE, TRACED
from rtqual.engine.boards.jobs import LOG, NOT_SEEN, PROCESSOR, TICKS
from rtqual.engine.mission.program import PREFIX, Program
from rtqual.parts.programs import program_files
from rtqual.parts.programs.ftrace import as_log, of_this_machine
from rtqual.parts.programs.judged import judged
from rtqual.parts.programs.printed_series import series
from rtqual.parts.programs.run_report import NAME, RunReport, read_report
from rtqual.parts.programs.thread_trace import read
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.instrument.output import clock_problems, last_line
from rtqual.protocols.load.own import OwnLoad
from rtqual.protocols.record.schema import Measurement, Scalar, Series

_POLICIES = {"fifo": 1, "rr": 2}
_NOBODY = 65534
_SUPERVISOR_FIFO = 99  # it sleeps while jobs are judged, and must end them whatever runs
_UNTIL_IT_ENDS_S = 10.0  # a guess, for planning
_EXPENSIVE = 2  # a program may work all the time where cyclictest sleeps


class ProgramParameters(Parameters):
    """The mission's table, and what a scale or a plan may set anew; `hashes`, of the user's files, are filled in."""

    program: Annotated[Program, Field(strict=False)]
    runs_for: Annotated[DurationNs, Field(gt=0, le=3600 * 10**9)] | None = None
    warm_up: Annotated[DurationNs, Field(le=600 * 10**9)] | None = None
    hashes: Annotated[dict[str, str], Field(strict=False)] = Field({})
    folder: Annotated[Path | None, Field(exclude=True)] = None

    def __hash__(self) -> int:
        return hash(self.model_dump_json())

    @property
    def wanted(self) -> Program:
        """The program as it runs."""
        changed = {"runs_for": self.runs_for, "warm_up": self.warm_up}
        return self.program.model_copy(update={name: number for name, number in changed.items() if number is not None})


def command(program: Program, place: str, folder: str, *, beside: bool = False) -> Command:
    """How it is started. `beside`: as a load, which runs until it is killed and is not watched."""
    options: list[tuple[str, object]] = [("--name", f"beside-{program.name}" if beside else NAME), ("--folder", folder)]
    options += [("--set", f"{name}={value}") for name, value in program.environment.items()]
    options += [("--user", _NOBODY)] if program.user == "nobody" else []
    options += [("--priority", program.priority), ("--policy", _POLICIES[program.policy])] if program.priority else []
    options += [("--kernel-thread", f"{name}={priority}") for name, priority in program.kernel_threads.items()]
    if not beside:
        options += [("--ready", program.ready), ("--ready-within", program.ready_within)] if program.ready else []
        options += [("--warm-up", program.warm_up)] if program.warm_up else []
        options += [("--runs-for", program.runs_for)] if program.runs_for else []
        options += [("--left", name) for name in program.files_left]
        options += [("--ends-by", int(signal.Signals[f"SIG{program.ends_by}"]))]
    options += [("--most-bytes", program.most_output)]
    words = [str(word) for option in options for word in option]
    supervisor = program_files.BESIDE if beside else program_files.SUPERVISOR
    return Command((supervisor, *words, "--", place, *program.arguments), fifo=_SUPERVISOR_FIFO)


class _Program(Instrument):
    """One program; its parameters say which."""

    def settled(self, parameters: ProgramParameters, folder: Path) -> ProgramParameters:
        return parameters.model_copy(
            update={"hashes": program_files.hashes(parameters.program, folder), "folder": folder}
        )

    def files(
        self, parameters: ProgramParameters, architecture: Architecture, *, here: bool = False
    ) -> Mapping[str, Path]:
        lay = program_files.own if here else program_files.laid
        return lay(parameters.program, parameters.folder or Path(), architecture)

    def unseen(self, parameters: ProgramParameters, architecture: Architecture) -> str:
        if architecture != ARMHF or not parameters.program.tasks:
            return ""
        return (
            "its jobs will be absent, since Debian's kernels for 32-bit ARM hold no BTF by which they are seen; what "
            "it prints itself is measured ([[program.output]])"
        )

    def as_load(self, parameters: ProgramParameters, shape: OwnLoad) -> OwnLoad:
        program = parameters.program
        beside = command(program, program_files.place_of(program), program_files.folder_of(program), beside=True)
        hashes = tuple(f"{place} {sha256}" for place, sha256 in parameters.hashes.items())
        return shape.model_copy(update={"command": beside.argv, "fifo": beside.fifo, "hashes": hashes})

    def job(self, parameters: ProgramParameters, *, cpus: int, seed: int) -> Job:  # noqa: ARG002
        program = parameters.wanted
        left = tuple(f"{NAME}.file.{name}" for name in program.files_left)
        return Job(
            measure=command(program, program_files.place_of(program), program_files.folder_of(program)),
            setup=tuple(Command(("sh", "-c", line)) for line in program.prepare),
            collect=(f"{NAME}.report", f"{NAME}.out", f"{NAME}.err", *left),
            watched=bool(program.tasks),
        )

    def read(self, parameters: ProgramParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:  # noqa: ARG002
        program = parameters.wanted
        report = read_report(outcome.files.get(f"{NAME}.report", ""))
        said = {name: outcome.files.get(f"{NAME}.{name}", "") for name in ("out", "err")}
        require_whole(program, report, said, outcome)
        measured = _traced(program, outcome) if TRACE in outcome.files else of_jobs(program, outcome, report)
        own = _printed(program, outcome, report, NAME)
        faults = report.faults_in_window
        scalars = dict(measured.scalars)
        if faults is not None:
            scalars["page faults"] = Scalar(value=sum(faults), unit="1")
        scalars |= _moved(program, outcome, own) if TRACE in outcome.files else {}
        problems = (*clock_problems(outcome), *measured.problems)
        return replace(measured, series=(*measured.series, *own), scalars=scalars, problems=problems)

    def seconds(self, parameters: ProgramParameters, load: str) -> float:  # noqa: ARG002
        program = parameters.wanted
        lasts_ns = program.warm_up + (program.runs_for or 0)
        return lasts_ns / 1e9 if program.runs_for else lasts_ns / 1e9 + _UNTIL_IT_ENDS_S

    def busy_s(self, parameters: ProgramParameters) -> float:
        return self.seconds(parameters, "none") / _EXPENSIVE


def of_jobs(program: Program, outcome: JobOutcome, report: RunReport) -> Measurement:
    """Of the program's tasks, where they could be seen."""
    if not program.tasks:
        return Measurement()
    if LOG not in outcome.files:
        why = outcome.facts.get(NOT_SEEN, "this board does not note the jobs of programs")
        return Measurement(absent={f"{task.name} response": why for task in program.tasks})
    return judged(program, read(outcome.files[LOG], processor_of(outcome)), report, _ticks(outcome))


def processor_of(outcome: JobOutcome) -> Architecture:
    """Whose system calls were noted: of the board, or of this machine."""
    named = outcome.facts.get(PROCESSOR)
    return next((architecture for architecture in ARCHITECTURES if architecture.name == named), None) or (
        of_this_machine() if TRACE in outcome.files else AMD64
    )


def _ticks(outcome: JobOutcome) -> int:
    """Of the kernel, a second; 0 where that is not known."""
    ticks = outcome.facts.get(TICKS, "")
    return int(ticks) if ticks.isdecimal() else 0


def _traced(program: Program, outcome: JobOutcome) -> Measurement:
    """Of the run that the kernel's tracer watched (here.py of engine/boards)."""
    report = read_report(outcome.files.get(f"{TRACED}.report", ""))
    if report.exit is None and report.signal is None:
        why = clean(last_line(outcome.stderr)) or "the program did not run a second time"
        return Measurement(absent={f"{task.name} response": f"no tracer watched: {why}" for task in program.tasks})
    architecture = processor_of(outcome)
    trace = read(as_log(outcome.files[TRACE], architecture), architecture)
    measured = judged(program, trace, report, _ticks(outcome))
    caution = "its jobs were watched by the kernel's tracer, which makes them later than they are by themselves"
    return replace(measured, cautions=(*measured.cautions, caution))


def _printed(program: Program, outcome: JobOutcome, report: RunReport, name: str) -> list[Series]:
    """What it says itself, in the files of a run."""
    found: list[Series] = []
    for output in program.outputs:
        where = {"stdout": f"{name}.out", "stderr": f"{name}.err"}.get(output.from_, f"{name}.file.{output.from_}")
        if where not in outcome.files or output.from_ in report.unleft:
            raise RunFailed(f"{program.name} left no file {output.from_} in {program_files.folder_of(program)}")
        found += series(output, outcome.files[where])
    return found


def _moved(program: Program, outcome: JobOutcome, own: Sequence[Series]) -> dict[str, Scalar]:
    """By how much watching moved the medians of what it says itself: the tracer's cost."""
    watched = _printed(program, outcome, read_report(outcome.files.get(f"{TRACED}.report", "")), TRACED)
    pairs = zip(own, watched, strict=True)
    return {
        f"{a.info.name} moved by tracing": Scalar(value=_middle(b) - _middle(a), unit=a.info.unit) for a, b in pairs
    }


def _middle(curve: Series) -> float:
    import numpy as np  # noqa: PLC0415 - slow to load

    return float(np.median(np.repeat(curve.values, curve.counts)))


def require_whole(program: Program, report: RunReport, said: Mapping[str, str], outcome: JobOutcome) -> None:
    """Raises RunFailed where it did not run as it was to, in a line that says what to do."""
    name = program.name
    words = repr(clean(last_line(said["err"], said["out"])))
    if report.cannot:
        raise RunFailed(f"{name} was not started: cannot {clean(report.cannot)}")
    if report.started is None:
        raise RunFailed(f"{name} was not started: {clean(last_line(outcome.stderr, outcome.console))!r}")
    if report.never_ready is not None:
        raise RunFailed(
            f"{name} never printed {program.ready!r} within {format_ns(report.never_ready)}; its last words: {words}"
        )
    if outcome.exit_code:
        raise RunFailed(f"{name} {_how_it_ended(program, report)}; its last words: {words}")


def _how_it_ended(program: Program, report: RunReport) -> str:
    lasted = "before it was ready" if program.ready and report.ready is None else f"after {format_ns(report.lasted_ns)}"
    if program.runs_for and report.begin is not None:
        lasted += f" of {format_ns(program.warm_up + program.runs_for)}"
    if report.signal is None:
        advice = ""
        if report.exit == 0:
            advice = ": if it goes to the background, give it the option that keeps it in front"
            advice += "; if it ends by itself, leave runs_for out" if program.runs_for else ""
        return f"ended {lasted} with exit code {report.exit}{advice}"
    if report.signal == signal.SIGXFSZ:
        return f"wrote a file larger than {program.most_output / 2**20:g} MiB and was ended {lasted}: raise most_output"
    try:
        which = signal.Signals(report.signal).name
    except ValueError:
        which = f"signal {report.signal}"
    return f"was ended by {which} {lasted}"


def program(name: str) -> Instrument:
    """The instrument that a mission's program is."""
    return _Program(
        name=name,
        title=f"The mission's own program {name.removeprefix(PREFIX)}, its jobs and what it says itself",
        program=program_files.SUPERVISOR,
        parameters=ProgramParameters,
    )
