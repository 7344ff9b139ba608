# SPDX-License-Identifier: MIT
"""Making a recorded run again, from its hashed inputs alone, and comparing what it gives.

No word of the record's own command is run. The parts come from rtqual's cache by their hashes, the options from this
rtqual, and the job is a script for the guest.
"""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rtqual.base.child import with_us
from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.program import run
from rtqual.base.scratch import scratch
from rtqual.engine.boards import jobs
from rtqual.engine.campaign import trusted
from rtqual.engine.campaign.find import find
from rtqual.engine.candidates.roots import MEMORY_MIB
from rtqual.protocols.board import Job, Left, Machine, Rebuilt, Recorded
from rtqual.protocols.board.registry import BoardRow, row_of
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.load import split
from rtqual.protocols.record.schema import Inputs, Record, samples_digest
from rtqual.protocols.record.store import read

_TIMEOUT_S = 1200.0
_JOB = TypeAdapter(Job)


@dataclass(frozen=True)
class Reproduction:
    record: str
    same: bool
    text: str
    command: str


def reproduce(what: Path, show: Callable[[str], None]) -> list[Reproduction]:
    """Make the runs of records again, named as find.py says."""
    return [_again(path, show) for path in find(what)]


def _again(path: Path, show: Callable[[str], None]) -> Reproduction:
    """Run the rebuilt command, which `show` is told before, in an empty folder, and read its result as campaigns do."""
    record = read(path)
    inputs = record.inputs
    row = row_of(inputs.board, inputs.artefacts)
    if row is None or row.rebuilt is None:
        raise BadInput(f"{path}: {(row or BoardRow).why_not_again.format(board=inputs.board)}")
    trusted.require_record(inputs, str(path))
    try:
        instrument, job = all_instruments()[inputs.instrument], _JOB.validate_python(inputs.job)
        parameters = instrument.parameters.model_validate(split(inputs.parameters)[0])
    except (KeyError, ValidationError):
        raise BadInput(f"{path}: this rtqual cannot make its job: use the version that measured it") from None
    with scratch() as folder:
        try:
            rebuilt = _rebuilt(row, record, job, folder, disks=instrument.disks)
        except BadInput as error:
            raise BadInput(f"{path}: {error}") from None
        command = shlex.join(rebuilt.command)
        show(command)
        try:
            done = run(with_us(rebuilt.command), folder=folder, timeout_s=_TIMEOUT_S)
        except RunFailed as error:
            raise RunFailed(f"{path}: its command did not run: {error}") from None
        result = folder / "result"
        if not result.exists() or not result.stat().st_size:
            raise RunFailed(f"{path}: its command gave no result: {done.last_words()}")
        content, log = result.read_bytes(), folder / jobs.LOG
        seen = {jobs.LOG: log.read_text(errors="replace")} if job.watched and log.exists() else {}
    kept = {k: v for k, v in record.manifest.provenance.facts.items() if k.endswith("_size_b")}
    kept |= {jobs.PROCESSOR: row.architecture.name} if row.architecture else {}
    outcome = row.outcome(Left(content, job.collect, kept, rebuilt.command, str(path)))
    outcome = replace(outcome, files={**outcome.files, **seen})
    measurement = instrument.measured(parameters, outcome, cpus=inputs.cpus)
    same = samples_digest(measurement.series, measurement.scalars) == record.manifest.samples_sha256
    text = "the same samples" if same else f"other samples (the record's clock: {record.manifest.timing})"
    if not same and inputs.cpus > 1:
        text += "; with several CPUs an uninterrupted run takes another course than one restored after booting"
    return Reproduction(record.manifest.hash[:16], same, text, command)


def _rebuilt(row: BoardRow, record: Record, job: Job, folder: Path, *, disks: bool) -> Rebuilt:
    """The run with the very artefacts of the record. Raises BadInput where they are not those of here."""
    inputs = record.inputs
    named = tuple(Path(word).name for word in record.manifest.provenance.command)
    made: dict[Machine, Rebuilt] = {}

    def artefacts(machine: Machine) -> Mapping[str, str]:
        assert row.rebuilt is not None, "the caller looked"  # noqa: S101
        made[machine] = row.rebuilt(Recorded(job, inputs.seed, machine, inputs.artefacts, named, folder))
        return made[machine].artefacts

    return made[machine_of(inputs, artefacts, disks=disks)]


def machine_of(inputs: Inputs, artefacts: Callable[[Machine], Mapping[str, str]], *, disks: bool = False) -> Machine:
    """The machine on which the artefacts of a run are the record's. Raises BadInput where none is."""
    then, other = inputs.artefacts, ""
    for memory_mib in (Machine().memory_mib, MEMORY_MIB):
        machine = Machine(inputs.cpus, memory_mib, disks)
        here = artefacts(machine)
        differing = sorted(what for what in {**then, **here} if then.get(what) != here.get(what))
        if not differing:
            return machine
        what = differing[0]
        other = other or f"its {what} was {then.get(what, 'none')[:80]!r}, here it is {here.get(what, 'none')[:80]!r}"
    raise BadInput(f"{other}: run its campaign again")
