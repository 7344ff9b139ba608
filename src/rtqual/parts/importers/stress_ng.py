# SPDX-License-Identifier: MIT
"""stress-ng's YAML (--yaml with --metrics): a record a stressor, of rates and times only."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from rtqual.base.errors import first_line
from rtqual.parts.importers.file_account import bad
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.placed_values import LOADER, KnownPlaces, yaml_values
from rtqual.parts.importers.reading import Reading
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Measurement, Scalar

# stress-ng's keys, their names here, and the factor to the unit.
_FIGURES = {
    "bogo-ops": ("bogo_ops", 1.0, "1"),
    "bogo-ops-per-second-real-time": ("bogo_ops_per_s", 1.0, "1/s"),
    "bogo-ops-per-second-usr-sys-time": ("bogo_ops_per_cpu_s", 1.0, "1/s"),
    "wall-clock-time": ("total_time", 1e9, "ns"),
    "user-time": ("user_time", 1e9, "ns"),
    "system-time": ("system_time", 1e9, "ns"),
    "cpu-usage-per-instance": ("cpu_usage", 1.0, "%"),
    "max-rss": ("max_rss", 1024.0, "B"),
}
_MOST_CPUS = 100_000
UNTOLD = (
    "samples, percentiles and extremes: stress-ng prints a rate for the whole run",
    "the command line: how many instances ran, and what else ran beside them",
    "how a rate compares with one of another version: what a bogo operation is changes between versions",
)


_SECTIONS = ("perfstats", "thermal-zones", "tcp", "iostat", "c-states", "interrupts", "rapl", "freq", "net")
_KNOWN = KnownPlaces(
    used=(
        "*/metrics/*/*",
        *(f"*/system-info/{name}" for name in ("stress-ng-version", "epoch-secs", "release", "version", "machine")),
        *("*/system-info/cpus", "*/system-info/cpus-online", "*/times/run-time", "*/times/available-cpu-time"),
    ),
    without_data={
        "*/system-info/*": "the machine",
        "*/times/*": "the whole run's times",
        "*/metrics": "an empty part",
        **{f"*/{name}/**": "another measurement, which is not read" for name in _SECTIONS},
        **{f"*/{name}": "an empty part" for name in (*_SECTIONS, "times", "system-info")},
    },
)


def read(source: Source, _unit: str | None) -> list[Reading]:
    path = source.path
    found = [reading for document in _documents(source) for reading in _readings(path, document)]
    if not found:
        raise bad(path, None, "no metrics in it: run stress-ng with --metrics beside --yaml")
    return found


def _documents(source: Source) -> list[dict[str, Any]]:
    path, text = source.path, source.whole_text()
    try:
        values = list(yaml_values(source, text))
        # Every value a string: YAML 1.1 would make a sexagesimal number of the date 2026:11:21.
        documents = list(yaml.load_all(text, Loader=LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise bad(path, mark.line + 1 if mark else None, f"not YAML: {error.problem}; give the whole file") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise bad(path, None, f"not YAML: {first_line(error) if str(error) else 'nested too deep'}") from None
    _KNOWN.account(source, iter(values))
    return [document for document in documents if isinstance(document, dict)]


def _readings(path: Path, document: dict[str, Any]) -> list[Reading]:
    metrics, system, times = (document.get(name) for name in ("metrics", "system-info", "times"))
    system = _texts(system)
    entries = [entry for entry in metrics if isinstance(entry, dict)] if isinstance(metrics, list) else []
    cpus, problems = _cpus(path, system, _texts(times))
    return [
        Reading(
            instrument=f"stress-ng-{entry.get('stressor', 'unknown')}",
            measurement=_measurement(path, _texts(entry), problems),
            programs={"stress-ng": system["stress-ng-version"]} if "stress-ng-version" in system else {},
            cpus=cpus,
            cpus_told=cpus is not None,
            started=_started(system.get("epoch-secs", "")),
            wall_s=_number(_texts(times).get("run-time", "")),
            kernel=" ".join(system[key] for key in ("release", "version") if key in system) or None,
            facts={key: system[key] for key in ("machine", "cpus", "cpus-online") if key in system},
            untold=UNTOLD,
        )
        for entry in entries
    ]


def _cpus(path: Path, system: dict[str, str], times: dict[str, str]) -> tuple[int | None, list[str]]:
    """The CPUs that were online, and what contradicts their number."""
    online, there = (system.get(name) for name in ("cpus-online", "cpus"))
    for name, text in (("cpus-online", online), ("cpus", there)):
        if text is not None and not (text.isascii() and text.isdigit() and len(text) < 6 and int(text) > 0):
            raise bad(
                path, None, f"its {name} is {text[:20]!r}, no number of CPUs: the file is damaged; write it again"
            )
    problems = []
    if online is not None and there is not None and int(online) > int(there):
        problems.append(f"stress-ng names {online} CPUs online of {there}")
    run_s, available_s = (_number(times.get(name, "")) for name in ("run-time", "available-cpu-time"))
    had = available_s / run_s if run_s and available_s else None
    number = online or there or (None if had is None or not 0.5 <= had < _MOST_CPUS else round(had))
    if number is not None and had is not None and abs(had - int(number)) > 0.01 * int(number):
        problems.append(f"stress-ng had the time of {had:.3g} CPUs, not of the {number} it names")
    return None if number is None else int(number), problems


def _rate_problems(entry: Mapping[str, float]) -> list[str]:
    """A rate that does not follow from its count and time."""
    count, time_s = entry.get("bogo-ops"), entry.get("wall-clock-time")
    rate = entry.get("bogo-ops-per-second-real-time")
    if count is None or not time_s or rate is None or abs(count / time_s - rate) <= 0.01 * rate + 0.01:
        return []
    return [f"stress-ng's {count:g} operations in {time_s:g} s are not {rate:g} a second"]


def _measurement(path: Path, entry: dict[str, str], problems: Sequence[str]) -> Measurement:
    stressor = entry.pop("stressor", None)
    if stressor is None:
        raise bad(path, None, "an entry of its metrics names no stressor: the file is damaged; write it again")
    scalars: dict[str, Scalar] = {}
    values: dict[str, float] = {}
    found = list(problems)
    for key, text in entry.items():
        value = _number(text)
        name, factor, unit = _FIGURES.get(key, (key, 1.0, "as named"))
        if value is None:
            found.append(f"stress-ng's {key[:60]} is {text[:40]!r}, no number")
            continue
        if value < 0 and key in _FIGURES:
            found.append(f"stress-ng's {key} is {text[:40]}, below zero")
        if name in scalars:
            raise bad(path, None, f"{key[:40]!r} a second time under stressor {stressor[:40]!r}: the file is damaged")
        values[key] = value
        scalars[name] = Scalar(value=value * factor, unit=unit)
    found += _rate_problems(values)
    if not scalars:
        raise bad(path, None, f"stressor {stressor[:40]!r} has no figures: the file is cut off; give the whole file")
    return Measurement((), scalars, tuple(found))


def _texts(value: Any) -> dict[str, str]:
    """The plain entries of a mapping."""
    if not isinstance(value, dict):
        return {}
    return {key: item for key, item in value.items() if isinstance(key, str) and isinstance(item, str)}


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _started(text: str) -> str | None:
    try:
        return datetime.fromtimestamp(int(text), UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return None


FORMAT = Format(
    "stress-ng",
    "stress-ng --metrics --yaml",
    mark(r"^\s*stress-ng-version:|^metrics:\s*$|^ +- stressor: "),
    read,
)
