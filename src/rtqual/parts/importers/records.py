# SPDX-License-Identifier: MIT
"""From files to records. What the files do not tell stays absent, and the record says so.

Runs of one file that stand under different headings or kernels are of different systems, and those with different
parameters are no runs of one measurement: neither are ever put together. names.py says what they are called.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rtqual import __version__
from rtqual.base.errors import BadInput
from rtqual.base.named import listed
from rtqual.parts.importers.detect import detect, named
from rtqual.parts.importers.format import Format
from rtqual.parts.importers.names import candidates_of, instruments_of
from rtqual.parts.importers.reading import UNITS_NS, Reading
from rtqual.parts.importers.source import sha256, sniffed, state_of
from rtqual.protocols.instrument.about import about_inputs
from rtqual.protocols.record.schema import Inputs, Provenance, Record, Timing
from rtqual.protocols.record.store import Store, make

BOARD, UNKNOWN_LOAD = "imported", "unknown"
_MOST_FILES = 100_000


@dataclass(frozen=True)
class FoundRun:
    """A run in a file."""

    source: Path
    sha256: str
    format: Format
    number: int  # of the run in its file, from 0
    reading: Reading
    candidate: str = ""
    instrument: str = ""


@dataclass(frozen=True)
class Imported:
    """A run that was read and kept."""

    found: FoundRun
    record: Record
    path: Path


@dataclass(frozen=True)
class Circumstances:
    """What the user knows of the runs. None, or no candidate: as the file tells, else unknown.

    Several candidates are the systems of a file, in the order in which it has them.
    """

    candidate: str | tuple[str, ...] = ()
    board: str | None = None
    load: str | None = None
    instrument: str | None = None
    cpus: int | None = None
    unit: str | None = None
    column: str | None = None

    @property
    def candidates(self) -> tuple[str, ...]:
        return (self.candidate,) if isinstance(self.candidate, str) else self.candidate


def import_files(
    files: Sequence[Path], folder: Path, circumstances: Circumstances, *, format_name: str | None = None
) -> list[Imported]:
    """Read every run in the files, then keep them in `folder`/records. Nothing is kept when one cannot be read.

    A folder stands for the files in it, at any depth. Raises BadInput that names file and line, RunFailed when the
    disk does not take a record.
    """
    _check(circumstances)
    found = [found for file in _within(files) for found in find_runs(file, format_name, circumstances)]
    made = [(reading, to_record(reading, circumstances)) for reading in found]
    store = Store(folder / "records")
    return [Imported(found, record, store.write(record)) for found, record in made]


def _within(paths: Sequence[Path]) -> Iterator[Path]:
    """The files named, and those in the folders named, in the order of their names; links in a folder are left out."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        held = [file for file in listed(path, _MOST_FILES) if file.is_file() and not file.is_symlink()]
        if not held:
            raise BadInput(f"{path}: no file in it: name a folder with 1 to {_MOST_FILES:,}")
        yield from held


def _check(circumstances: Circumstances) -> None:
    values = [("candidate", candidate) for candidate in circumstances.candidates]
    values += [(name, getattr(circumstances, name)) for name in ("board", "load", "instrument")]
    for name, value in values:
        if value is not None and (not value.strip() or not value.isprintable()):
            raise BadInput(f"--{name} {value[:40]!r}: not a name; write at least one letter or digit")
    if circumstances.cpus is not None and circumstances.cpus < 1:
        raise BadInput(f"--cpus {circumstances.cpus}: write the number of CPUs, 1 or more")
    if circumstances.unit is not None and circumstances.unit not in UNITS_NS:
        raise BadInput(f"--unit {circumstances.unit[:40]}: write one of {', '.join(UNITS_NS)}")


def find_runs(file: Path, format_name: str | None, known: Circumstances) -> list[FoundRun]:
    """Every run in a file, named. Raises BadInput that names file and line, and for a file that changes meanwhile: its
    hash would be another content's."""
    before = state_of(file)
    sniffed(file)  # complains about what no reader can read
    format_ = named(format_name) if format_name else detect(file)
    if known.unit and not format_.has_unit:
        raise BadInput(f"{file}: {format_.title} names its units itself: leave out --unit {known.unit}")
    if known.column is not None and not format_.has_columns:
        raise BadInput(f"{file}: {format_.title} has no columns to choose from: leave out --column")
    fingerprint = sha256(file)
    readings = format_.read(file, known.unit, known.column)
    if state_of(file) != before:
        raise BadInput(f"{file}: changed while it was read: import it once its tool has ended")
    told = next((reading.cpus for reading in readings if reading.cpus_told), None)
    if known.cpus and told and known.cpus != told:
        raise BadInput(f"{file}: names {told} CPUs: leave out --cpus {known.cpus}")
    candidates = candidates_of(file, readings, known.candidates)
    instruments = instruments_of(readings, candidates, known.instrument)
    return [
        FoundRun(file, fingerprint, format_, number, reading, candidate, instrument)
        for number, (reading, candidate, instrument) in enumerate(zip(readings, candidates, instruments, strict=True))
    ]


def to_record(found: FoundRun, known: Circumstances) -> Record:
    reading = found.reading
    inputs = Inputs(
        candidate=found.candidate,
        instrument=found.instrument,
        load=known.load or reading.load or UNKNOWN_LOAD,
        board=known.board or reading.board or BOARD,
        cpus=known.cpus or reading.cpus or 1,
        seed=0,
        parameters=dict(reading.parameters),
        job={
            "imported_sha256": found.sha256,
            "run": found.number,
        },  # tells runs apart; the same file again is the same run
        artefacts=dict(reading.programs),
    )
    account, above = reading.account, reading.above
    facts = {
        **reading.facts,
        "imported": f"{found.source.name}, run {found.number + 1}, {found.format.title}",
        "heading": above.heading if above else "",
        "lines": account.told() if account else "",
        "beside the figures": "; ".join(account.beside()) if account else "",
        "configuration": reading.config or "",
        "imported_on": time.strftime("%Y-%m-%d", time.gmtime()),
        "assumed": "; ".join(assumptions(found, known)) or "nothing",
        "not told by the file": "; ".join(reading.untold),
    }
    provenance = Provenance(
        rtqual=__version__,
        mission_sha256="",
        started=reading.started,
        wall_s=reading.wall_s,
        command=list(reading.command),
        tools=dict(reading.programs),
        kernel=reading.kernel,
        kernel_cmdline=reading.kernel_cmdline,
        clocksource=reading.clocksource,
        facts={name: fact for name, fact in facts.items() if fact},
    )
    about = about_inputs(inputs)
    return make(inputs, reading.measurement, provenance, timing=Timing.REAL, repeat=0, about=about)


def assumptions(found: FoundRun, known: Circumstances) -> list[str]:
    """What stands in the record that the file does not say."""
    reading = found.reading
    assumed = list(reading.assumed)
    if not known.candidates:
        assumed.append(f"the candidate is its kernel, {found.candidate}: say another with --candidate")
    elif found.candidate not in known.candidates:
        assumed.append(f"the candidate is filed as {found.candidate!r}, by what stands above the run in its file")
    if found.instrument != (known.instrument or reading.instrument):
        assumed.append("its parameters are not those of the file's other runs: they stand in the instrument's name")
    if known.load is None and reading.load is None:
        assumed.append(f"the load is filed as {UNKNOWN_LOAD!r}: say it with --load")
    if known.cpus is None and reading.cpus is None:
        assumed.append("1 CPU: say it with --cpus")
    return assumed
