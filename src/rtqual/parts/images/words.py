# SPDX-License-Identifier: MIT
"""Images as a table for people and as plain values for machines."""

from collections.abc import Iterator, Mapping

from rich.console import Console

from rtqual.base.units import format_bytes
from rtqual.base.words import listed
from rtqual.face.terminal.plain import plain
from rtqual.face.terminal.tables import table
from rtqual.parts.images.assembly import MINIMAL_ROOT_AT_MOST_B
from rtqual.parts.images.known_good import CANDIDATES
from rtqual.parts.images.pi import Tried
from rtqual.parts.images.two_roots import MeasuredImage


def as_dict(measured: Mapping[str, MeasuredImage]) -> dict[str, object]:
    return {
        "images": [
            {
                "flavour": shown.image.flavour,
                "form": shown.image.form,
                "architecture": shown.image.architecture.name,
                "path": str(shown.image.path),
                "kernel": str(shown.image.kernel) if shown.image.kernel else None,
                "sbom": str(shown.image.sbom),
                "sha256": shown.image.sha256,
                "release": shown.image.release,
                "parameters": shown.image.parameters,
                "missing": list(shown.image.missing),
                "host_key": shown.image.host_key or None,
                "room_b": shown.image.room_b or None,
                "figures": {
                    name: {"value": value, "unit": unit, "samples": 1}
                    for name, (value, unit) in shown.figures().items()
                },
                "booted": plain(shown.booted) if shown.booted else None,
            }
            for shown in measured.values()
        ]
    }


def print_images(console: Console, measured: Mapping[str, MeasuredImage]) -> None:
    images = list(measured.values())
    rows = []
    for name in images[-1].figures():
        cells = [measured.figures().get(name) for measured in images]
        rows.append((name, *("not measured" if cell is None else _value(*cell) for cell in cells)))
    console.print(table(("", *(measured.image.flavour for measured in images)), rows), "")
    for shown in images:
        image = shown.image
        console.print(f"{image.path}: kernel {image.release}, sha256 {image.sha256[:16]}...", soft_wrap=True)
        if image.host_key:
            room = f"{CANDIDATES} candidates with their modules, and their results"
            console.print(f"  its boot partition has {format_bytes(image.room_b)} left: {room}", soft_wrap=True)
            console.print("  in the mission, of this board:", soft_wrap=True)
            console.print(f'    host_key = "{image.host_key}"', soft_wrap=True)
            console.print(f'    good = "{image.release}"', soft_wrap=True)
        elif image.flavour == "minimal":
            holds = "kept" if image.root.content_b <= MINIMAL_ROOT_AT_MOST_B else "NOT kept"
            limit, has = format_bytes(MINIMAL_ROOT_AT_MOST_B), format_bytes(image.root.content_b)
            console.print(f"  a minimal root is to take at most {limit}: {holds} ({has} without modules)")
        if shown.booted and (tried := shown.booted.tried):
            for line in tried_lines(tried):
                console.print(f"  {line}", soft_wrap=True)
        for missing in image.missing:
            console.print(f"  MISSING: {missing}", soft_wrap=True)


def tried_lines(tried: Tried) -> Iterator[str]:
    """What of an image worked on the emulated board, and what it cannot show."""
    where = f"{tried.machine} (QEMU {tried.emulator})"
    yield f"tried on {where}: {listed(tried.works)} work; that machine has no {listed(tried.absent, 'or')}"
    if tried.fails:
        yield f"DOES NOT WORK on {where}: {listed(tried.fails)}"


def _value(value: float, unit: str) -> str:
    if unit == "B":
        return format_bytes(value)
    return f"{value:g}" if unit == "1" else f"{value:.2f} {unit}"
