# SPDX-License-Identifier: MIT
"""Outcomes to replay: a campaign's records, made up for the very jobs that a mission's replayed candidates plan."""

from collections.abc import Callable
from pathlib import Path

from rtqual.engine.campaign.cell import Cell
from rtqual.engine.campaign.run import Campaign
from rtqual.engine.mission import load_mission
from rtqual.protocols.record.schema import Inputs, Measurement, Provenance, Scalar, Series, Timing
from rtqual.protocols.record.store import Store, make

FOLDER = "recorded"  # as the missions name it
PROVENANCE = Provenance(rtqual="0", mission_sha256="", started="2026-01-01T00:00:00Z", wall_s=1.0, command=["true"])
Outcome = Callable[[Cell], Measurement]


def record(mission: Path, folder: Path, outcome: Outcome) -> None:
    """Write what the runs of a mission gave on the virtual board: `outcome` of each cell that is to be replayed."""
    store = Store(folder / FOLDER / "records")
    store.folder.mkdir(parents=True, exist_ok=True)
    for cell in Campaign(load_mission(mission), "demo", folder / "out").cells:
        if "replay" in cell.candidate.model_fields_set:
            inputs = Inputs(
                candidate=cell.candidate.name,
                instrument=cell.instrument.name,
                load=cell.load,
                board="virtual",
                cpus=cell.cpus,
                seed=cell.seed,
                parameters=cell.parameters.model_dump(mode="json"),
                job=cell.job().as_inputs(),
            )
            store.write(make(inputs, outcome(cell), PROVENANCE, timing=Timing.INSTRUCTIONS, repeat=0))


def wakeups(samples: dict[int, int], cell: Cell) -> Measurement:
    """Value in ns -> how often it came; the rest of the run's cycles at 8 to 10 us."""
    cycles = cell.parameters.cycles  # type: ignore[attr-defined] # of cyclictest
    counts = dict(samples)
    for n in range(cycles - sum(samples.values())):
        value = 8_000 + (17 * n + 31 * cell.seed) % 2_000
        counts[value] = counts.get(value, 0) + 1
    return Measurement((Series.counted(counts, name="latency"),), {"rate": Scalar(value=1000.0, unit="1/s")})
