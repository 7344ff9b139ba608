# SPDX-License-Identifier: MIT
"""Why a campaign's worst samples were late, for its report: what `rtqual explain CAMPAIGN` tells, and all samples of
the same runs above their group's p99."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.interrupt import threads
from rtqual.base.words import clean, under
from rtqual.engine.analysis.figure.pool import pool_runs
from rtqual.engine.analysis.figure.statistics import quantile
from rtqual.engine.campaign.annex import Making
from rtqual.parts.explain.stage import explain, explainable, worst_of
from rtqual.parts.explain.whys import ExplainedRun, Whys
from rtqual.protocols.record.schema import Record


def of_campaign(made: Making) -> Whys | None:
    """Explain what the scale asks for; what cannot be is told."""
    number = made.mission.scale(made.scale).explain
    found = why(number, made.records, made.before or Whys(), made.workers, made.tell)
    for text in found.refused if found else ():
        made.warn(f"not explained: {text}")
    return found


def why(
    number: int, records: Mapping[Path, Record], before: Whys, workers: int, tell: Callable[[str], None]
) -> Whys | None:
    """The `number` worst samples of each candidate under each load; what was explained `before` is taken from there.

    A run that cannot be explained is told, and fails nothing. None where nothing is asked.
    """
    if not number:
        return None
    try:
        asked = worst_of(records, number)
    except BadInput as error:
        return Whys(refused=(str(error),))
    beyond = _p99(records[path] for path in explainable(records))
    wanted = {
        path: replace(request, above_ns=beyond[inputs.candidate, inputs.load])
        for path, request in asked.items() if (inputs := records[path].inputs)
    }  # fmt: skip
    known = {(run.record, run.worst, run.above_ns): run for run in before.runs}

    def run_of(path: Path) -> ExplainedRun | str:
        record, request = records[path], wanted[path]
        name = f"{record.inputs.candidate} {under(record.inputs.load)}, seed {record.inputs.seed}"
        kept = known.get((record.manifest.hash, request.worst, request.above_ns or 0))
        if kept:
            return kept
        tell(f"the timelines of {name}")
        try:
            (told,) = explain({path: request}, sections=0)
        except (BadInput, RunFailed) as error:
            return clean(f"{name}: {error}")
        return ExplainedRun(
            record=record.manifest.hash, worst=request.worst, above_ns=request.above_ns or 0, timelines=told.timelines
        )

    with threads(workers) as pool:
        jobs = [pool.submit(run_of, path) for path in wanted]
        for _ in jobs:
            pool.ended()
    found = [job.result() for job in jobs]
    runs = sorted((result for result in found if isinstance(result, ExplainedRun)), key=lambda run: run.record)
    return Whys(runs=tuple(runs), refused=tuple(sorted(result for result in found if isinstance(result, str))))


def _p99(records: Iterable[Record]) -> dict[tuple[str, str], int]:
    """Of each candidate under each load, over its runs."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.inputs.candidate, record.inputs.load), []).append(record)
    pools = {group: pool_runs([taken.series for taken in some]) for group, some in groups.items()}
    return {group: int(quantile(pool, "p99")) for group, pool in pools.items() if pool}
