# SPDX-License-Identifier: MIT
"""The two ends of a bisection: candidates of finished campaigns, what they measured alike, and in what they differ."""

from dataclasses import dataclass, replace
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.base.words import listed
from rtqual.engine.analysis.figure.pool import pool_runs
from rtqual.engine.analysis.figure.statistics import evaluate
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign import trusted
from rtqual.engine.campaign.cell import Cell
from rtqual.engine.campaign.plan import plan
from rtqual.engine.mission import Candidate
from rtqual.protocols.record.schema import Record


@dataclass(frozen=True)
class EndsAsked:
    """What to compare, where the ends do not say it by themselves."""

    instrument: str = "cyclictest"
    load: str | None = None
    statistic: str = "max"
    runs: int | None = None
    source: str | None = None  # a kernel's tree, or Debian's package of it
    through: tuple[str, ...] = ()  # Debian's packages between the ends, the oldest first


@dataclass(frozen=True)
class End:
    """A candidate of a campaign, and its runs of one cell."""

    campaign: kept.KeptCampaign
    candidate: Candidate
    records: tuple[Record, ...]

    @property
    def config(self) -> str:
        """Its kernel's configuration, as the campaign keeps it."""
        text = self.campaign.result.configs.get(self.candidate.name)
        if text is None:
            raise BadInput(f"{self.candidate.name}: its campaign keeps no kernel configuration of it")
        return text

    @property
    def parameters(self) -> tuple[str, ...]:
        """Of its kernel, as it is booted."""
        own = (f"preempt={self.candidate.preempt}",) if self.candidate.preempt else ()
        return (*own, *self.candidate.boot)

    @property
    def kernels(self) -> set[str]:
        """The hashes of those that were measured, or of RTOS images: a package's next version has its name."""
        return {record.inputs.artefacts.get(kind, "") for record in self.records for kind in ("kernel", "image")}


@dataclass(frozen=True)
class Ends:
    good: End
    bad: End
    cells: tuple[Cell, ...]  # of the good one, in the order of their seeds
    asked: EndsAsked

    @property
    def load(self) -> str:
        return self.cells[0].load

    @property
    def unit(self) -> str:
        return figure(self.good.records[0], self.asked.statistic).unit


@dataclass(frozen=True)
class Drawn:
    """A figure of a run, of so many samples."""

    value: float
    unit: str
    samples: int


def figure(record: Record, statistic: str) -> Drawn:
    """A scalar of a run, or a statistic: of its first series unless it begins with another's name. Raises BadInput."""
    if scalar := record.manifest.scalars.get(statistic):
        return Drawn(scalar.value, scalar.unit, 1)
    names = list(dict.fromkeys(series.info.name for series in record.series))
    of, _, plain = statistic.rpartition(" ")
    some = [series for series in record.series if series.info.name == (of or names[0])]
    pool = pool_runs([some]) if some else None
    values = evaluate(pool) if pool else {}
    if pool is None or plain not in values:
        given = ", ".join(values) or f"statistics of {listed(names)}"
        also = f", and {listed([*record.manifest.scalars])}" if record.manifest.scalars else ""
        raise BadInput(f"--statistic {statistic}: not of a run of {record.inputs.instrument}; it gives {given}{also}")
    return Drawn(values[plain], pool.unit, sum(series.total for series in some))


def ends_of(good: str, bad: str, asked: EndsAsked) -> Ends:
    """Raises BadInput where the two have measured nothing alike on a virtual board."""
    ends = [_end(name, asked) for name in (good, bad)]
    loads = [{record.inputs.load for record in end.records} for end in ends]
    both = sorted(loads[0] & loads[1])
    if len(both) != 1:
        names = listed(both, "or")
        what = f"both measured under {names}: say which with --load" if both else "measured under no load alike"
        raise BadInput(f"{good} and {bad}: {what}")
    found = []
    for end in ends:
        records = sorted(
            (record for record in end.records if record.inputs.load == both[0]), key=lambda record: record.inputs.seed
        )
        found.append(End(end.campaign, end.candidate, tuple(records)))
    first, last = (end.records[0].inputs for end in found)
    for name in ("board", "cpus", "parameters"):
        if getattr(first, name) != getattr(last, name):
            raise BadInput(
                f"{good} and {bad}: measured with other {name}: {getattr(first, name)}, {getattr(last, name)}"
            )
    return Ends(found[0], found[1], _cells(found[0], asked), asked)


def _end(text: str, asked: EndsAsked) -> End:
    """FOLDER or FOLDER:CANDIDATE."""
    folder, colon, name = text, "", ""
    if ":" in text and not Path(text).is_dir():
        folder, colon, name = text.rpartition(":")
    if not Path(folder).is_dir():
        raise BadInput(f"{text}: there is no such folder: give a campaign's, as out/docking-demo:debian")
    campaign = _with_files(kept.load(Path(folder)), asked)
    measured = [record for record in campaign.result.records if record.inputs.instrument == asked.instrument]
    measured = [
        record for record in measured if asked.load in (None, record.inputs.load) and not record.manifest.repeat
    ]
    measured = [record for record in measured if record.series]
    known = {
        candidate.name: candidate
        for candidate in campaign.mission.candidates
        if candidate.place and candidate.place.repeats
    }
    names = sorted({record.inputs.candidate for record in measured} & set(known))
    if not names:
        under = f" under {asked.load}" if asked.load else ""
        raise BadInput(f"{folder}: holds no run of {asked.instrument}{under} on a virtual board")
    if name not in names and (colon or len(names) > 1):
        told = f"{name!r} is none of them" if colon else "say which"
        raise BadInput(f"{text}: {told}: {listed([f'{folder}:{name}' for name in names], 'or')}")
    candidate = known[name or names[0]]
    records = tuple(record for record in measured if record.inputs.candidate == candidate.name)
    cpus = min(record.inputs.cpus for record in records)
    return End(campaign, candidate, tuple(_sound(record) for record in records if record.inputs.cpus == cpus))


def _with_files(campaign: kept.KeptCampaign, asked: EndsAsked) -> kept.KeptCampaign:
    """Where the mission's own files lie: its copy in the campaign's folder names them as the mission did."""
    measured = [record.inputs for record in campaign.result.records if record.inputs.instrument == asked.instrument]
    folders = map(trusted.folder_of, measured)
    folder = next((folder for folder in folders if folder), None)
    return replace(campaign, mission=campaign.mission.lying_in(folder)) if folder else campaign


def _sound(record: Record) -> Record:
    """Raises BadInput before anything is built: runs like it would decide no step, or run what nobody let run."""
    trusted.require_record(record.inputs, f"{record.inputs.candidate}, seed {record.inputs.seed}")
    for problem in record.manifest.problems:
        raise BadInput(f"{record.inputs.candidate}, seed {record.inputs.seed}: {problem}: such runs decide no step")
    return record


def _cells(end: End, asked: EndsAsked) -> tuple[Cell, ...]:
    inputs = end.records[0].inputs
    seeds = [record.inputs.seed for record in end.records][: asked.runs]
    found = [
        cell for cell in plan(end.campaign.mission, end.campaign.scale)
        if (cell.candidate.name, cell.instrument.name, cell.load, cell.board, cell.cpus, cell.repeat)
        == (end.candidate.name, inputs.instrument, inputs.load, inputs.board, inputs.cpus, 0)
    ]  # fmt: skip
    cells = {cell.seed: cell for cell in found if cell.seed in seeds}
    if not cells:
        raise BadInput(f"{end.candidate.name}: its runs are not those that its mission plans: measure it again")
    return tuple(cells[seed] for seed in sorted(cells))
