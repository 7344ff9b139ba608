# SPDX-License-Identifier: MIT
"""Campaigns with runs = "auto": they stop where it is decided, and an interrupted one where an undisturbed one does.

Their runs are made up, and replayed as any campaign's are.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.cell import Cell
from rtqual.engine.campaign.plan import plan
from rtqual.engine.campaign.run import Campaign, Watcher
from rtqual.engine.mission import load_mission
from rtqual.protocols.record.schema import Inputs, Measurement, Series, Timing
from rtqual.protocols.record.store import Store, make, read
from rtqual.stages.selection import evidence_of, run
from support.analysis_records import record
from support.command import Run

MISSION = """
[mission]
name = "auto"
title = "As many runs as it takes"
purpose = "A test."
duration = "1 h"

[[candidate]]
name = "rt"
title = "Real-time"
{rt}

[[candidate]]
name = "stock"
title = "Stock"
{stock}

[[requirement]]
name = "wake-up"
instrument = "cyclictest"
load = "hackbench"
statistic = "p90"
at_most = "{limit}"
margin = "{margin}"

[[scale.demo.plan]]
instruments = ["cyclictest"]
loads = ["hackbench"]
runs = "auto"
most_runs = 40
"""


class Told(Watcher):
    """What a campaign tells; ended as if by a signal before it starts run number `last`."""

    def __init__(self, last: int | None = None) -> None:
        self.last, self.runs, self.further = last, 0, list[Sequence[str]]()

    def started(self, _: Cell) -> None:
        if self.runs == self.last:
            raise KeyboardInterrupt
        self.runs += 1

    def goes_on(self, _: Sequence[Cell], why: Sequence[str]) -> None:
        self.further.append(why)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty runs of each candidate: stock's wake-ups are a third later, and runs differ by a tenth."""
    folder = tmp_path_factory.mktemp("recorded")
    path = folder / "auto.toml"
    packages = {"rt": 'package = "linux-image-rt-amd64"', "stock": 'package = "linux-image-amd64"'}
    path.write_text(MISSION.format(limit="20 us", margin="100 ns", **packages))
    store = Store(folder / kept.RECORDS)
    provenance = record().manifest.provenance
    for cell in (one for one in plan(load_mission(path), "demo") if not one.repeat):
        place = 13_000 if cell.candidate.name == "stock" else 10_000
        rng = np.random.default_rng([cell.seed, place])
        samples = np.rint(place * rng.lognormal(0, 0.12) * rng.lognormal(0, 0.2, 60)).astype(np.int64)
        inputs = Inputs(
            candidate=cell.candidate.name, instrument="cyclictest", load="hackbench", board="virtual", cpus=1,
            seed=cell.seed, parameters=cell.parameters.model_dump(mode="json"), job=cell.job().as_inputs(),
        )  # fmt: skip
        measurement = Measurement((Series.raw(samples, name="latency"),), {}, ())
        store.write(make(inputs, measurement, provenance, timing=Timing.INSTRUCTIONS, repeat=0))
    return folder


def mission_at(folder: Path, recorded: Path, limit: str = "30 us", margin: str = "100 ns") -> Path:
    replays = {name: f'replay = "{recorded}/{name}"' for name in ("rt", "stock")}
    path = folder / "auto.toml"
    path.write_text(MISSION.format(limit=limit, margin=margin, **replays))
    return path


def runs_of(folder: Path) -> dict[str, int]:
    records = kept.load(folder).result.records
    return {name: sum(one.inputs.candidate == name for one in records) for name in ("rt", "stock")}


def ended(path: Path, out: Path, told: Watcher | None = None) -> list[str]:
    """Run a campaign in a folder; what its verdict notes."""
    campaign = Campaign(load_mission(path), "demo", out)
    with kept.alone(out):
        run(campaign, told or Watcher())
    (verdict,) = evidence_of(kept.load(out)).verdicts
    return list(verdict.caveats)


@pytest.mark.guest
def test_a_campaign_stops_where_it_is_decided_interrupted_or_not(recorded: Path, tmp_path: Path) -> None:
    told, out = Told(), tmp_path / "out"
    path = mission_at(tmp_path, recorded)
    notes = ended(path, out, told)
    assert runs_of(out) == {"rt": 20, "stock": 20} and told.runs == 40
    assert told.further == [("rt and stock in 'wake-up'",)]
    stopped = "stopped after 20 runs, the second of 3 looks (10, 20 and 40 runs), decided; its intervals allow for all"
    assert any(stopped in one for one in notes)
    parts = tmp_path / "parts"
    for last in (3, 25):
        with pytest.raises(KeyboardInterrupt):
            ended(path, parts, Told(last))
    assert ended(path, parts) == notes
    interrupted, whole = (json.loads((folder / kept.CAMPAIGN).read_text()) for folder in (parts, out))
    assert interrupted["files"].keys() == whole["files"].keys()
    for campaign in (interrupted, whole):
        del campaign["files"], campaign["sha256"]  # sessions.json, and so these, hold when it was measured
    assert interrupted == whole
    # More records than a look takes change nothing: within this margin the first look decides.
    wide = mission_at(tmp_path, recorded, margin="20 us")
    again = Told()
    ended(wide, out, again)
    assert runs_of(out) == {"rt": 10, "stock": 10} and again.runs == 0


@pytest.mark.guest
def test_at_the_limit_it_says_what_is_left(recorded: Path, tmp_path: Path) -> None:
    path = mission_at(tmp_path, recorded, limit="12.9 us")
    notes = ended(path, tmp_path / "out")
    assert runs_of(tmp_path / "out") == {"rt": 40, "stock": 40}
    assert any(
        "the third of 3 looks (10, 20 and 40 runs), at the limit with 'wake-up' of rt undecided" in n for n in notes
    )


def test_a_dry_run_says_how_few_and_how_many(rtqual: Run, recorded: Path, tmp_path: Path) -> None:
    done = rtqual("select", mission_at(tmp_path, recorded), "--dry-run", "--out", tmp_path / "out")
    assert "10 to 40" in done.stdout
    assert "Left to do: at least 20 runs" in done.stdout and "at most 80 runs" in done.stdout


@pytest.mark.guest
def test_fewer_runs_than_were_measured_are_told_with_the_worst_of_the_rest(recorded: Path, tmp_path: Path) -> None:
    path, out = mission_at(tmp_path, recorded), tmp_path / "out"
    text = path.read_text().replace('runs = "auto"\nmost_runs = 40', "runs = 20")
    path.write_text(text)
    ended(path, out)
    assert not kept.load(out).result.left_out
    path.write_text(text.replace("runs = 20", "runs = 10"))
    notes = ended(path, out)
    left = {one.group.candidate: one for one in kept.load(out).result.left_out}
    assert {name: one.seeds for name, one in left.items()} == dict.fromkeys(("rt", "stock"), tuple(range(11, 21)))
    rest = list(Store(recorded / kept.RECORDS).paths())
    largest = max(
        int(one.series[0].values[-1]) for one in map(read, rest)
        if one.inputs.candidate == "rt" and 11 <= one.inputs.seed <= 20
    )  # fmt: skip
    assert left["rt"].worst == largest and left["rt"].alike
    assert any(left["rt"].text in note for note in notes)
