# SPDX-License-Identifier: MIT
"""stress-ng's YAML (--yaml with --metrics): a record a stressor, of rates and times only."""

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from rtqual.importer.reading import Reading
from rtqual.importer.source import bad, whole_text
from rtqual.record.schema import Measurement, Scalar

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
UNTOLD = (
    "samples, percentiles and extremes: stress-ng prints a rate for the whole run",
    "the command line: how many instances ran, and what else ran beside them",
    "how a rate compares with one of another version: what a bogo operation is changes between versions",
)


def read(path: Path, _unit: str | None) -> list[Reading]:
    found = [reading for document in _documents(path) for reading in _readings(path, document)]
    if not found:
        raise bad(path, None, "no metrics in it: run stress-ng with --metrics beside --yaml")
    return found


def _documents(path: Path) -> list[dict[str, Any]]:
    try:
        # Every value a string: YAML 1.1 would make a sexagesimal number of the date 2026:11:21.
        documents = list(yaml.load_all(whole_text(path), Loader=yaml.BaseLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise bad(path, mark.line + 1 if mark else None, f"not YAML: {error.problem}; give the whole file") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise bad(path, None, f"not YAML: {str(error).splitlines()[0] if str(error) else 'nested too deep'}") from None
    return [document for document in documents if isinstance(document, dict)]


def _readings(path: Path, document: dict[str, Any]) -> list[Reading]:
    metrics, system, times = (document.get(name) for name in ("metrics", "system-info", "times"))
    system = _texts(system)
    entries = [entry for entry in metrics if isinstance(entry, dict)] if isinstance(metrics, list) else []
    cpus = system.get("cpus-online", "")
    return [
        Reading(
            instrument=f"stress-ng-{entry.get('stressor', 'unknown')}",
            measurement=_measurement(path, _texts(entry)),
            programs={"stress-ng": system["stress-ng-version"]} if "stress-ng-version" in system else {},
            cpus=int(cpus) if cpus.isdecimal() and 0 < len(cpus) < 6 else None,
            started=_started(system.get("epoch-secs", "")),
            wall_s=_number(_texts(times).get("run-time", "")),
            kernel=" ".join(system[key] for key in ("release", "version") if key in system) or None,
            facts={key: system[key] for key in ("machine", "cpus", "cpus-online") if key in system},
            untold=UNTOLD,
        )
        for entry in entries
    ]


def _measurement(path: Path, entry: dict[str, str]) -> Measurement:
    stressor = entry.pop("stressor", None)
    if stressor is None:
        raise bad(path, None, "an entry of its metrics names no stressor: the file is damaged; write it again")
    scalars, problems = {}, []
    for key, text in entry.items():
        value = _number(text)
        name, factor, unit = _FIGURES.get(key, (key, 1.0, "as named"))
        if value is None:
            problems.append(f"stress-ng's {key} is {text[:40]!r}, no number")
        else:
            scalars[name] = Scalar(value=value * factor, unit=unit)
    if not scalars:
        raise bad(path, None, f"stressor {stressor[:40]!r} has no figures: the file is cut off; give the whole file")
    return Measurement((), scalars, tuple(problems))


def _texts(value: Any) -> dict[str, str]:
    """The plain entries of a mapping."""
    if not isinstance(value, dict):
        return {}
    return {key: one for key, one in value.items() if isinstance(key, str) and isinstance(one, str)}


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
