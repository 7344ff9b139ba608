# SPDX-License-Identifier: MIT
"""What two sets of records were measured with: whether they can be compared, and which inputs changed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rtqual.base.errors import BadInput
from rtqual.base.words import count, under
from rtqual.engine.analysis.figure.early import rested
from rtqual.engine.analysis.figure.model import Group
from rtqual.protocols.record.schema import Record, Timing, unvaried

_SHA256 = re.compile(r"[0-9a-f]{64}")
_HEX_SHOWN = 12
_IMPORTED = "imported_sha256"  # in the job of an imported record, which has no command line to compare
Groups = Mapping[Group, Sequence[Record]]


@dataclass(frozen=True)
class InputChange:
    """An input other than the instrument that has changed; '-': not there."""

    candidate: str
    board: str
    what: str
    before: str
    after: str


def cell_name(group: Group) -> str:
    """'debian: cyclictest under hackbench, virtual board, 1 CPU'."""
    return f"{group.candidate}: {group.instrument} {under(group.load)}, {group.board} board, {count(group.cpus, 'CPU')}"


def check_comparable(before: Groups, after: Groups, names: tuple[str, str]) -> None:
    """Raises BadInput where runs were not measured alike; `names` are those of the two sets."""
    for groups, name in ((before, names[0]), (after, names[1])):
        for group, records in groups.items():
            if len({record.inputs.measurement for record in records}) > 1:
                raise BadInput(
                    f"{name}: holds several measurements of {cell_name(group)} (other parameters or programs): "
                    "give the folder of one finished campaign"
                )
    for group in (group for group in before if group in after):
        of = [side[group][0].inputs.parameters for side in (before, after)]
        for parameter in sorted({*of[0], *of[1]}):
            values = [table.get(parameter, "not set") for table in of]
            if values[0] != values[1]:
                raise BadInput(
                    f"{cell_name(group)}: not comparable: the instrument's parameter {parameter} is {values[0]} in "
                    f"{names[0]} and {values[1]} in {names[1]}: measure both alike"
                )
        real = [{record.manifest.timing == Timing.REAL for record in side[group]} for side in (before, after)]
        if real[0] != real[1]:
            raise BadInput(
                f"{cell_name(group)}: not comparable: {names[0]} and {names[1]} were measured by other clocks, "
                "real time and the emulator's: measure both alike"
            )
        waited = [rested(side[group]) for side in (before, after)]
        if set(waited) == {True, False}:
            raise BadInput(
                f"{cell_name(group)}: not comparable: {names[waited.index(False)]} was measured before rtqual waited "
                "for the end of a boot: measure both with the same rtqual"
            )
        _check_jobs(group, before[group], after[group], names)


def _check_jobs(group: Group, before: Sequence[Record], after: Sequence[Record], names: tuple[str, str]) -> None:
    jobs = {kept.inputs.seed: kept.inputs.job for kept in before}
    for record in after:
        old, new = jobs.get(record.inputs.seed, {}), record.inputs.job
        if not old or _IMPORTED in old or _IMPORTED in new:
            continue
        other = [part for part in sorted({*old, *new}) if old.get(part) != new.get(part)]
        if other:
            raise BadInput(
                f"{cell_name(group)}: not comparable: what ran differs ({', '.join(other)}) between {names[0]} and "
                f"{names[1]}, as after an upgrade of rtqual: measure both with the same rtqual"
            )


def input_changes(before: Groups, after: Groups) -> tuple[InputChange, ...]:
    """Programs, kernel and its parameters, and the board's, of the groups that both have."""
    both = [group for group in before if group in after]
    changes: list[InputChange] = []
    for candidate, board in dict.fromkeys((group.candidate, group.board) for group in both):
        groups = [group for group in both if (group.candidate, group.board) == (candidate, board)]
        old, new = (_origins([record for group in groups for record in side[group]]) for side in (before, after))
        for what in dict.fromkeys([*old, *new]):
            gone, come = old.get(what, set()), new.get(what, set())
            if gone != come:
                pair = _apart(_joined(gone - come), _joined(come - gone))
                changes.append(InputChange(candidate, board, what, *pair))
    return tuple(changes)


def _origins(records: Sequence[Record]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for record in records:
        for what, value in _origin(record):
            found.setdefault(what, set()).add(value)
    return found


def _origin(record: Record) -> Iterator[tuple[str, str]]:
    made = record.manifest.provenance
    yield from ((name, unvaried(text)) for name, text in record.inputs.artefacts.items())
    if "package" in made.facts:
        yield "package", made.facts["package"]
    yield from ((f"version of {name}", version) for name, version in made.tools.items())
    yield "rtqual", made.rtqual


def _joined(values: set[str]) -> str:
    return "; ".join(sorted(values)) or "-"


def _apart(before: str, after: str) -> tuple[str, str]:
    """Only the words that differ, where both have several; hashes by their first digits."""
    if _SHA256.fullmatch(before) and _SHA256.fullmatch(after):
        return before[:_HEX_SHOWN], after[:_HEX_SHOWN]
    old, new = before.split(), after.split()
    if min(len(old), len(new)) < 2:
        return before, after
    gone, come = [word for word in old if word not in new], [word for word in new if word not in old]
    return (" ".join(gone) or "-", " ".join(come) or "-") if gone or come else (before, after)
