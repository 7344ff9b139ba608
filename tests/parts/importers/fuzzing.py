# SPDX-License-Identifier: MIT
"""Mutated outputs of measuring tools, and what must hold of each: read with every line accounted for, or refused."""

import json
import random
import re
import resource
import time
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import yaml

from rtqual.base.errors import BadInput
from rtqual.parts.importers.detect import detect, formats
from rtqual.parts.importers.placed_values import LOADER
from rtqual.parts.importers.reading import Reading
from rtqual.parts.importers.records import Circumstances, FoundRun, to_record
from support.mutated import mutated

LONGEST_S = 10.0  # of processor time, for one input


def expected_total(name: str, path: Path) -> int | None:
    """Counted in another way than the importer does; None where there is no other way."""
    data = path.read_bytes()
    if name == "parquet":
        return int(duckdb.sql(f"SELECT count(*) FROM read_parquet('{path}')").fetchall()[0][0])  # noqa: S608 - a test's own path
    text = data.decode("utf-8-sig", errors="replace")
    if name in ("cyclictest-json", "jitterdebugger", "osadl", "rt-tests-json"):
        return _json_total(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.replace("\r\n", "\n").replace("\r", "\n")))
    if name in ("stress-ng", "rteval"):
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.replace("\r\n", "\n").replace("\r", "\n"))
        return _xml_total(text) if name == "rteval" else _yaml_total(text)
    if name == "csv" and (b'"' in data or b"\r" in data):
        return None
    return data.count(b"\n") + (not data.endswith(b"\n"))


def _json_total(text: str) -> int:
    def leaves(value: object) -> int:
        if isinstance(value, list) and value:
            pairs = [one if isinstance(one, tuple) else (None, one) for one in value]
            return sum(leaves(inner) for _, inner in pairs)
        return 1

    start = re.search(r"^[^\S\n]*\{", text, re.MULTILINE)
    stop = [match.end() for match in re.finditer(r"\}[^\S\n]*$", text, re.MULTILINE)][-1]
    assert start is not None
    inside = text[start.start() : stop]
    around = text[: start.start()].count("\n") + text[stop:].count("\n")
    return leaves(json.loads(inside, object_pairs_hook=lambda pairs: pairs)) + around


def _yaml_total(text: str) -> int:
    def leaves(node: yaml.Node) -> int:
        if isinstance(node, yaml.MappingNode):
            return sum(leaves(value) for _, value in node.value)
        return sum(map(leaves, node.value)) if isinstance(node, yaml.SequenceNode) else 1

    return sum(leaves(node) for node in yaml.compose_all(text, Loader=LOADER) if node)


def _xml_total(text: str) -> int:
    found = 0
    for node in ET.fromstring(text.encode(), ET.XMLParser(encoding="utf-8")).iter():  # noqa: S314 - no entities
        found += len(node.attrib) + bool((node.text or "").strip()) + bool((node.tail or "").strip())
    return found


@dataclass
class Outcome:
    """Of the inputs made from one format's files."""

    inputs: int = 0
    detected: int = 0  # as this format
    as_another: int = 0
    read: int = 0
    with_problems: int = 0
    refused: int = 0


@dataclass
class Report:
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    slowest_s: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)

    def table(self) -> str:
        rows = ["| format | inputs | reach its parser | found as another | read | of them with problems | refused |",
                "|---|---|---|---|---|---|---|"]  # fmt: skip
        for name, one in self.outcomes.items():
            shares = (f"{100 * part / one.inputs:.0f} %" for part in (one.detected, one.as_another, one.read))
            problems = f"{100 * one.with_problems / max(one.read, 1):.0f} %"
            rows.append(
                f"| `{name}` | {one.inputs} | {' | '.join(shares)} | {problems} | "
                f"{100 * one.refused / one.inputs:.0f} % |"
            )
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return "\n".join([*rows, f"slowest input {self.slowest_s:.2f} s, peak memory {peak_mb:.0f} MiB"])


def fuzz(seed: int, count: int, files: dict[str, list[Path]], folder: Path, *, first: int = 0) -> Report:
    """The inputs from `first` up to `count`, over all formats by turns.

    Raises AssertionError with the file kept, by its seed and number.
    """
    report = Report({name: Outcome() for name in files})
    seeds = {name: [path.read_bytes() for path in paths] for name, paths in files.items()}
    everything = [data for found in seeds.values() for data in found]
    path = folder / "input"
    for number in range(first, count):
        name = list(files)[number % len(files)]
        rng = random.Random(f"{seed} {number}")  # noqa: S311 - not for secrets
        path.write_bytes(mutated(rng, seeds[name], everything))
        begun = time.process_time()
        try:
            _try(name, path, report)
        except Exception as error:
            kept = folder / f"failed-{seed}-{number}"
            kept.write_bytes(path.read_bytes())
            raise AssertionError(f"{kept} ({name}): {type(error).__name__}: {error}") from error
        took_s = time.process_time() - begun
        assert took_s < LONGEST_S, f"{seed} {number} ({name}) took {took_s:.1f} s"
        report.slowest_s = max(report.slowest_s, took_s)
    return report


def _try(name: str, path: Path, report: Report) -> None:
    """As it is found, and if it is found as another or not at all, with --format too."""
    outcome = report.outcomes[name]
    outcome.inputs += 1
    try:
        found = detect(path).name
    except BadInput as error:
        assert_refusal(error, path)
        found = None
    outcome.detected += found == name
    outcome.as_another += found not in (name, None)
    if found not in (name, None):
        assert_sound(str(found), path)
    readings = assert_sound(name, path)
    outcome.read += readings is not None
    outcome.refused += readings is None
    outcome.with_problems += bool(readings and any(one.measurement.problems for one in readings))


def assert_sound(name: str, path: Path) -> list[Reading] | None:
    """None: refused, in one line."""
    format_ = formats()[name]
    try:
        readings = format_.read(path, "ns" if name in ("parquet", "csv") else None)
        records = [
            to_record(FoundRun(path, "0" * 64, format_, n, one), Circumstances("a")) for n, one in enumerate(readings)
        ]
    except BadInput as error:
        assert_refusal(error, path)
        return None
    assert readings and records
    account = readings[0].account
    assert account is not None
    total = expected_total(name, path)
    assert total is None or account.total == total, f"{account.told()}: {account.total} of {total}"
    problems = [text for one in readings for text in one.measurement.problems]
    assert all(text.isprintable() for text in problems), problems
    return readings


def assert_refusal(error: BadInput, path: Path) -> None:
    assert str(error).startswith(str(path))
    assert str(error).isprintable(), f"{error!r}"
    assert len(str(error)) < len(str(path)) + 500
