# SPDX-License-Identifier: MIT
"""What was read from a file, and what its format leaves open: for people and for machines."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rtqual.base.units import format_value
from rtqual.engine.analysis.figure.summary import groups, measure
from rtqual.engine.analysis.figure.wording import figure
from rtqual.parts.importers.records import Imported
from rtqual.protocols.record.schema import Series, SeriesKind

_HELD = {
    SeriesKind.RAW: "every sample in its order",
    SeriesKind.HISTOGRAM: "every value and how often it came",
    SeriesKind.BINNED: "counts in the tool's own bins",
    SeriesKind.SUMMARY: "the tool's own figures only",
}
_SHOWN = ("min", "avg", "p50", "p95", "p99", "p99.9", "max")
_MOST_SERIES = 32  # that are listed one by one


def lines(imported: Sequence[Imported]) -> list[str]:
    """For each run a headline, what was read and assumed, and its problems; below a file's runs what it leaves open."""
    text: list[str] = []
    for _, together in groupby(imported, key=lambda imported: imported.found.source):
        runs = list(together)
        text += [line for imported in runs for line in _run_lines(imported)]
        account = runs[0].found.reading.account
        text += [f"  beside the figures: {remark}" for remark in (account.beside() if account else ())]
        text += [
            f"  cannot tell: {text}"
            for text in dict.fromkeys(t for imported in runs for t in imported.found.reading.untold)
        ]
    return text


def _run_lines(imported: Imported) -> Iterator[str]:
    inputs, series, manifest = imported.record.inputs, imported.record.series, imported.record.manifest
    found = imported.found
    head = f"{found.source}: {found.format.title} -> {inputs.candidate}: {inputs.instrument}, load {inputs.load}"
    yield f"{head}; record {imported.path.name}"
    names = list(dict.fromkeys(each.info.name for each in series))
    if series:
        apart = f" in {len(series)} series, kept apart" if len(series) > 1 else ""
        kind = max((each.info.kind for each in series), key=list(SeriesKind).index)
        numbers = [_number(each) for each in series]
        number = f"{_sum(series):,} samples" if any(n is not None for n in numbers) else "an unknown number of samples"
        yield f"  read: {number}{apart}: {_HELD[kind]}"
    else:
        yield f"  read: {len(manifest.scalars)} figures, no samples"
    for name in names:
        several = [each for each in series if each.info.name == name]
        if shown := _figures(imported, name if name != names[0] else ""):
            of = f" of {name}, {_sum(several):,} samples" if len(names) > 1 else ""
            of += f", all {len(several)} series together" if len(several) > 1 else ""
            yield f"  figures{of}: {', '.join(shown)}"
        yield from (f"    {text}" for text in _one_by_one(several))
    if scalars := {name: scalar for name, scalar in manifest.scalars.items() if name != "resolution"}:
        told = [f"{name} {format_value(scalar.value, scalar.unit)}" for name, scalar in scalars.items()]
        yield f"  {'and' if series else 'figures'}: {', '.join(told)}"
    yield from (f"  problem: {text}" for text in manifest.problems)
    if kernel := manifest.provenance.kernel:
        machine = manifest.provenance.facts.get("machine", "")
        yield f"  kernel: {kernel}{', ' if machine else ''}{machine}"
    yield f"  assumed: {manifest.provenance.facts['assumed']}"


def _one_by_one(several: Sequence[Series]) -> Iterator[str]:
    """Each series where there are some, and how many of its samples have no value."""
    for series in several[:_MOST_SERIES] if len(several) > 1 or any(each.info.overflow for each in several) else ():
        info = series.info
        place = f"CPU {info.cpu}: " if info.cpu is not None else ""
        known = {"samples": _number(series), **_extremes(series)}
        told = [f"{value:,} {name}" if name == "samples" else f"{name} {format_value(value, info.unit)}"
                for name, value in known.items() if value is not None]  # fmt: skip
        above = ""
        if info.overflow:
            limit = "the last bin" if info.overflow_from is None else format_value(info.overflow_from, info.unit)
            above = f"; of {info.overflow:,} it is known only that they lie at or above {limit}"
        yield f"{place}{', '.join(told) or 'no samples'}{above}"
    if len(several) > _MOST_SERIES:
        yield f"and {len(several) - _MOST_SERIES} more series"


def as_dict(imported: Imported) -> dict[str, object]:
    manifest = imported.record.manifest
    account = imported.found.reading.account
    return {
        "file": str(imported.found.source),
        "format": imported.found.format.name,
        "record": str(imported.path),
        "hash": manifest.hash,
        "candidate": manifest.inputs.candidate,
        "instrument": manifest.inputs.instrument,
        "load": manifest.inputs.load,
        "board": manifest.inputs.board,
        "cpus": manifest.inputs.cpus,
        "parameters": manifest.inputs.parameters,
        "samples": _sum(imported.record.series),
        "series": [
            {**series.info.model_dump(mode="json"), "samples": _number(series), **_extremes(series)}
            for series in imported.record.series
        ],
        "scalars": {name: scalar.model_dump() for name, scalar in manifest.scalars.items()},
        "problems": manifest.problems,
        "kernel": manifest.provenance.kernel,
        "facts": {name: fact for name, fact in manifest.provenance.facts.items() if name != "configuration"},
        "beside_the_figures": list(account.beside()) if account else [],
        "assumed": manifest.provenance.facts["assumed"],
        "cannot_tell": list(imported.found.reading.untold),
    }


def _number(series: Series) -> int | None:
    """Its samples; a format without samples may still give their number. None where it does not."""
    if series.total or "n" not in series.info.reported:
        return series.total if series.total or series.info.kind is not SeriesKind.SUMMARY else None
    return int(series.info.reported["n"])


def _sum(several: Sequence[Series]) -> int:
    return sum(_number(series) or 0 for series in several)


def _extremes(series: Series) -> dict[str, float | None]:
    """Smallest, average and largest: the tool's own, else those of the samples."""
    told = series.info.reported
    values, counts = series.values, series.counts
    if not len(values):
        return {name: told.get(name) for name in ("min", "avg", "max")}
    whole = None if series.info.overflow else float((values * counts).sum() / counts.sum())
    largest = None if series.info.overflow else float(values[-1])
    return {"min": told.get("min", float(values[0])), "avg": told.get("avg", whole), "max": told.get("max", largest)}


def _figures(imported: Imported, series: str) -> list[str]:
    """Of a series; of the first without its name."""
    ((group, records),) = groups([imported.record]).items()
    figures = measure(group, records).summary.figures
    prefix = f"{series} " if series else ""
    return [f"{name} {figure(figures[prefix + name])}" for name in _SHOWN if prefix + name in figures]
