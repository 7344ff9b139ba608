# SPDX-License-Identifier: MIT
"""What was read from a file, and what its format leaves open: for people and for machines."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rtqual.engine.analysis.figure.summary import groups, measure
from rtqual.engine.analysis.figure.wording import figure
from rtqual.parts.importers.records import Imported
from rtqual.protocols.record.schema import Kind

_HELD = {
    Kind.RAW: "every sample in its order",
    Kind.HISTOGRAM: "every value and how often it came",
    Kind.BINNED: "counts in the tool's own bins",
    Kind.SUMMARY: "the tool's own figures only",
}
_SHOWN = ("min", "avg", "p50", "p95", "p99", "p99.9", "max")


def lines(imported: Sequence[Imported]) -> list[str]:
    """For each run a headline, what was read and assumed, and its problems; below a file's runs what it leaves open."""
    text: list[str] = []
    for _, together in groupby(imported, key=lambda one: one.found.source):
        runs = list(together)
        text += [line for one in runs for line in _run_lines(one)]
        text += [
            f"  cannot tell: {text}" for text in dict.fromkeys(t for one in runs for t in one.found.reading.untold)
        ]
    return text


def _run_lines(one: Imported) -> Iterator[str]:
    inputs, series, manifest = one.record.inputs, one.record.series, one.record.manifest
    head = (
        f"{one.found.source}: {one.found.format.title} -> {inputs.candidate}: {inputs.instrument}, load {inputs.load}"
    )
    yield f"{head}; record {one.path.name}"
    if series:
        apart = f" in {len(series)} series, kept apart" if len(series) > 1 else ""
        kind = max((one.info.kind for one in series), key=list(Kind).index)
        number = f"{_samples(one):,} samples" if _samples(one) else "an untold number of samples"
        yield f"  read: {number}{apart}: {_HELD[kind]}"
    else:
        yield f"  read: {len(manifest.scalars)} figures, no samples"
    if shown := _figures(one):
        yield f"  figures: {', '.join(shown)}"
    yield from (f"  problem: {text}" for text in manifest.problems)
    yield f"  assumed: {manifest.provenance.facts['assumed']}"


def as_dict(one: Imported) -> dict[str, object]:
    manifest = one.record.manifest
    return {
        "file": str(one.found.source),
        "format": one.found.format.name,
        "record": str(one.path),
        "hash": manifest.hash,
        "candidate": manifest.inputs.candidate,
        "instrument": manifest.inputs.instrument,
        "load": manifest.inputs.load,
        "board": manifest.inputs.board,
        "cpus": manifest.inputs.cpus,
        "samples": _samples(one),
        "series": [info.model_dump(mode="json") for info in manifest.series],
        "scalars": {name: scalar.model_dump() for name, scalar in manifest.scalars.items()},
        "problems": manifest.problems,
        "assumed": manifest.provenance.facts["assumed"],
        "cannot_tell": list(one.found.reading.untold),
    }


def _samples(one: Imported) -> int:
    """The samples of the headline series; a format without samples may still give their number."""
    series = one.record.series
    return sum(s.total or int(s.info.reported.get("n", 0)) for s in series if s.info.name == series[0].info.name)


def _figures(one: Imported) -> list[str]:
    ((group, records),) = groups([one.record]).items()
    figures = measure(group, records).summary.figures
    wanted = _SHOWN if one.record.series else tuple(figures)
    return [f"{name} {figure(figures[name])}" for name in wanted if name in figures]
