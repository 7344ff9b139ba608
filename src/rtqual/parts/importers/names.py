# SPDX-License-Identifier: MIT
"""What the runs of one file are called, so that only what belongs together is ever put together."""

from collections.abc import Sequence
from pathlib import Path

from rtqual.parts.importers.file_account import bad, one_line
from rtqual.parts.importers.reading import Reading

_LONGEST = 80


def candidates_of(file: Path, readings: Sequence[Reading], asked: Sequence[str]) -> list[str]:
    """The candidate of each run. Runs under one heading and kernel are of one system.

    `asked`: one name for the file, or one a system in the file's order; none: its kernel's. Raises BadInput.
    """
    labels = [reading.above.label if reading.above and len(readings) > 1 else ("", "") for reading in readings]
    systems = list(dict.fromkeys(labels))
    if not asked:
        if any(reading.kernel is None for reading in readings):
            raise bad(file, None, "it does not name its kernel: say what was measured with --candidate")
        return [one_line(str(reading.kernel).split()[0][:_LONGEST]) for reading in readings]
    if len(asked) == 1:
        return [asked[0] if len(systems) == 1 else _within(asked[0], label, systems) for label in labels]
    if len(asked) == len(systems):
        return [asked[systems.index(label)] for label in labels]
    if len(systems) == 1 and len(asked) == len(readings):
        return list(asked)
    raise bad(
        file,
        None,
        f"{len(asked)} candidates for {len(readings)} runs under {len(systems)} headings: give --candidate once, or "
        f"{len(systems)} times in the order of the file",
    )


def _within(asked: str, label: tuple[str, str], systems: Sequence[tuple[str, str]]) -> str:
    """The name of one of a file's systems: by its heading where that is enough, else by its kernel too."""
    heading, kernel = label
    alike = [system for system in systems if system[0] == heading]
    if len(alike) == len(systems) and kernel:
        heading = ""  # it stands above them all
    words = [heading, kernel.split()[0] if kernel and (len(alike) > 1 or not heading) else ""]
    said = ", ".join(word for word in words if word)
    return f"{asked} ({said})" if said else asked


def instruments_of(readings: Sequence[Reading], candidates: Sequence[str], asked: str | None) -> list[str]:
    """The instrument of each run: with the parameters in which runs of one candidate and instrument differ."""
    names = [asked or reading.instrument for reading in readings]
    together: dict[tuple[str, str], list[Reading]] = {}
    for reading, candidate, name in zip(readings, candidates, names, strict=True):
        together.setdefault((candidate, name), []).append(reading)
    made = []
    for reading, candidate, name in zip(readings, candidates, names, strict=True):
        others = together[candidate, name]
        keys = sorted({key for reading in others for key in reading.parameters})
        differ = [key for key in keys if len({str(reading.parameters.get(key)) for reading in others}) > 1]
        said = ", ".join(f"{key} {reading.parameters[key]}" for key in differ if key in reading.parameters)
        made.append(one_line(f"{name} ({said})"[:200]) if said else name)
    return made
