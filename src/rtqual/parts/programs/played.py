# SPDX-License-Identifier: MIT
"""A procedure as an instrument: the user's program and, on the same board, the ground's end of its link.

What the host sends to a guest that counts instructions arrives at random times, so both run on the board itself. The
record keeps the ground's log to its last octet, so that it can be judged again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rtqual.base.architecture import Architecture
from rtqual.base.errors import RunFailed
from rtqual.base.words import clean
from rtqual.engine.dialogue.answer_times import figures
from rtqual.engine.dialogue.dialogue_script import compiled
from rtqual.engine.dialogue.hearing import judge
from rtqual.engine.dialogue.language import Language
from rtqual.engine.dialogue.liveness import THREAD, THREADS, THREADS_ENDED, count, gone, shares
from rtqual.engine.dialogue.model import Dialogue
from rtqual.engine.initramfs.contents import guest_file
from rtqual.engine.procedure.line import Line, script
from rtqual.engine.procedure.log import Unsound, What, read_log
from rtqual.engine.procedure.played_log import ENDED_BY, ENDED_WITH, LOG_SERIES, OCTET, PREFIX, how_it_ended
from rtqual.parts.programs import program_files
from rtqual.parts.programs.instrument import ProgramParameters, command, of_jobs
from rtqual.parts.programs.run_report import NAME, read_report
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument
from rtqual.protocols.instrument.output import clock_problems, last_line
from rtqual.protocols.record.schema import Measurement, Scalar, Series

WIRE, LOG, SCRIPT, REPORT = "rtqual-wire", "wire.log", "script", f"{NAME}.report"
_FIFO = 99  # above what answers it, so that an answer is stamped when it leaves
_PREPARATION_S = 4.0
_LINE_MOST = 32_000  # of a shell's command


@dataclass(frozen=True, kw_only=True, eq=False)  # known by its name, as every instrument
class Played(Instrument):
    """One procedure."""

    procedure: Dialogue
    language: Language

    def settled(self, parameters: ProgramParameters, folder: Path) -> ProgramParameters:
        return parameters.model_copy(
            update={"hashes": program_files.hashes(parameters.program, folder), "folder": folder}
        )

    def files(
        self, parameters: ProgramParameters, architecture: Architecture, *, here: bool = False
    ) -> Mapping[str, Path]:
        lay = program_files.own if here else program_files.laid
        wire = {f"usr/bin/{WIRE}": guest_file(WIRE + architecture.suffix)}
        return {**lay(parameters.program, parameters.folder or Path(), architecture), **wire}

    def job(self, parameters: ProgramParameters, *, cpus: int, seed: int) -> Job:  # noqa: ARG002
        program = parameters.program.model_copy(update={"runs_for": None, "tasks": (), "outputs": ()})
        lines = script(compiled(self.procedure, self.language)).splitlines()
        started = command(program, program_files.place_of(program), program_files.folder_of(program))
        wire = (WIRE, f"--link={self.language.verify.link}", f"--script={SCRIPT}", f"--log={LOG}", f"--report={REPORT}")
        return Job(
            setup=(
                *(Command(("sh", "-c", line)) for line in program.prepare),
                Command(("sh", "-c", f": > {SCRIPT}")),
                *(Command(("sh", "-c", f"printf '%s\\n'{piece} >> {SCRIPT}")) for piece in _pieces(lines)),
            ),
            measure=Command((*wire, "--", *started.argv), fifo=_FIFO),
            collect=(LOG, REPORT, f"{NAME}.out", f"{NAME}.err"),
            watched=self.watches(parameters),
        )

    def read(self, parameters: ProgramParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:  # noqa: ARG002
        log = outcome.files.get(LOG, "")
        report = read_report(outcome.files.get(REPORT, ""))
        if report.cannot:
            raise RunFailed(f"{parameters.program.name} was not started: cannot {clean(report.cannot)}")
        if not log.endswith("\n") or " end " not in log.splitlines()[-1]:
            own = last_line(outcome.files.get(f"{NAME}.err", ""), outcome.files.get(f"{NAME}.out", ""))
            said = last_line(outcome.stderr, outcome.console)
            raise RunFailed(f"{self.name}: {clean(said)}; the program's last words: {clean(own)!r}")
        scalars = {}
        if outcome.exit_code:
            scalars = {
                name: Scalar(value=number, unit="1")
                for name, number in ((ENDED_BY, report.signal), (ENDED_WITH, report.exit))
                if number is not None
            }
        lines = compiled(self.procedure, self.language)
        judgement = judge(self.procedure, lines, log, self.language, how_it_ended(scalars))
        scalars["passed"] = Scalar(value=int(judgement.passed), unit="1")
        scalars["packets unknown"] = Scalar(value=len(judgement.unknown), unit="1")
        found = sorted(figures(lines, log, self.language).items())
        series = [Series.raw(values, name=name) for name, values in found]
        octets = np.frombuffer(log.encode(), np.uint8).astype(np.int64)
        kept = Series.raw(octets, name=LOG_SERIES, unit=OCTET)
        scalars |= liveness(log, lines)
        beside = of_jobs(parameters.program, outcome, report) if self.watches(parameters) else Measurement()
        # What is wrong with a task is no fault of the log.
        return replace(
            beside,
            series=(kept, *series, *beside.series),
            scalars={**beside.scalars, **scalars},
            problems=tuple(clock_problems(outcome)),
            cautions=(*beside.cautions, *beside.problems),
        )

    def watches(self, parameters: ProgramParameters) -> bool:
        """Whether the program's jobs are seen: on the virtual board."""
        return bool(parameters.program.tasks) and self.language.verify.board is None

    def seconds(self, parameters: ProgramParameters, load: str) -> float:  # noqa: ARG002
        program = parameters.program
        lasts_ns = program.warm_up + compiled(self.procedure, self.language)[-1].at_ns
        return _PREPARATION_S + lasts_ns / 1e9


def liveness(log: str, lines: Sequence[Line]) -> dict[str, Scalar]:
    """Of the program's threads: how many there were at the end, how many had ended, what each took of a CPU."""
    try:
        entries = read_log(log, lines)
    except Unsound:
        return {}
    found = {f"{THREAD}{clean(name)} CPU share": Scalar(value=part, unit="%") for name, part in shares(entries).items()}
    if not count(entries, What.AT_BEGIN):
        return {}
    ended = sum(1 for _ in gone(entries))
    return {
        **found,
        THREADS: Scalar(value=count(entries, What.AT_END), unit="1"),
        THREADS_ENDED: Scalar(value=ended, unit="1"),
    }


def _pieces(lines: Sequence[str]) -> list[str]:
    """The script's lines as words of a shell, so many as a command takes."""
    pieces = [""]
    for line in lines:
        word = f" '{line}'"
        if len(pieces[-1]) + len(word) > _LINE_MOST and pieces[-1]:
            pieces.append("")
        pieces[-1] += word
    return pieces


def instruments(procedures: Sequence[Dialogue], language: Language) -> list[Played]:
    return [
        Played(
            name=PREFIX + procedure.name,
            title=procedure.title,
            program=program_files.SUPERVISOR,
            parameters=ProgramParameters,
            procedure=procedure,
            language=language,
        )
        for procedure in procedures
    ]
