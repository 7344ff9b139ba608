# SPDX-License-Identifier: MIT
"""Series that a program prints itself."""

import csv
import json
import re
from collections.abc import Iterator, Sequence

from rtqual.base.errors import RunFailed
from rtqual.base.units import DURATIONS_NS
from rtqual.base.words import clean
from rtqual.engine.mission.program import Output
from rtqual.protocols.record.schema import Series, SeriesKind

_LARGEST = 2**62
_MOST_SAMPLES = 4_000_000
_LONGEST_LINE = 4096  # that a pattern is tried on


def series(output: Output, text: str) -> list[Series]:
    """Raises RunFailed where the text is not what the mission says, with its line."""
    where = output.from_
    if output.format == "histogram":
        (name,) = output.series
        counts: dict[int, int] = {}
        for number, line in _filled(text):
            words = line.split()
            if len(words) != 2:
                raise RunFailed(f"{where}, line {number}: not a value and a count: {_short(line)}")
            value, count = (_number(word, where, number) for word in words)
            scaled = _scaled(value, output, where, number)
            counts[scaled] = counts.get(scaled, 0) + round(count)
        return [Series.counted(counts, SeriesKind.HISTOGRAM, name=name, unit=_unit(output))]
    found: dict[str, list[int]] = {name: [] for name in output.series}
    for number, row in _rows(output, text):
        for name, key in output.series.items():
            if key not in row:
                raise RunFailed(f"{where}, line {number}: has no {key!r}: {_short(str(row))}")
            found[name].append(_scaled(_number(row[key], where, number), output, where, number))
        if number > _MOST_SAMPLES:
            raise RunFailed(f"{where}: has more than {_MOST_SAMPLES:,} lines")
    empty = [name for name, values in found.items() if not values]
    if empty:
        raise RunFailed(
            f"{where}: holds no {empty[0]} ({output.format}); its first line: {_short(text.partition(chr(10))[0])}"
        )
    return [Series.raw(values, name=name, unit=_unit(output)) for name, values in found.items()]


def _unit(output: Output) -> str:
    return "1" if output.unit == "1" else "ns"


def _rows(output: Output, text: str) -> Iterator[tuple[int, dict[str, object]]]:
    where = output.from_
    if output.format == "csv":
        lines = list(_filled(text))
        names = next(csv.reader([lines[0][1]]), []) if lines else []
        for number, line in lines[1:]:
            values: Sequence[str] = next(csv.reader([line]), [])
            if len(values) != len(names):
                raise RunFailed(f"{where}, line {number}: has {len(values)} columns of {len(names)}: {_short(line)}")
            yield number, dict(zip(map(str.strip, names), values, strict=True))
    elif output.format == "json":
        for number, line in _filled(text):
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                raise RunFailed(f"{where}, line {number}: is no JSON: {_short(line)}") from None
            if not isinstance(value, dict):
                raise RunFailed(f"{where}, line {number}: is no object: {_short(line)}")
            yield number, value
    else:
        pattern = re.compile(output.match or "")
        for number, line in _filled(text):
            if len(line) <= _LONGEST_LINE and (match := pattern.search(line)):
                yield number, dict(match.groupdict())


def _filled(text: str) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip())


def _number(written: object, where: str, number: int) -> float:
    try:
        value = float(str(written)) if not isinstance(written, bool) else None
    except ValueError:
        value = None
    if value is None or not abs(value) < _LARGEST:
        raise RunFailed(f"{where}, line {number}: {_short(str(written))} is no number")
    return value


def _scaled(value: float, output: Output, where: str, number: int) -> int:
    scaled = value * (1 if output.unit == "1" else DURATIONS_NS[output.unit])
    if abs(scaled) >= _LARGEST:
        raise RunFailed(f"{where}, line {number}: {value:g} {output.unit} is too large")
    return round(scaled)


def _short(text: str) -> str:
    return repr(clean(text)[:60])
