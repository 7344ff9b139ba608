# SPDX-License-Identifier: MIT
"""The items under test, so that a reader can tell each from any other: releases, packages, hashes."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from rtqual.engine.mission import PUBLISHED
from rtqual.protocols.record.schema import Manifest, unvaried
from rtqual.reports.material import Material
from rtqual.reports.page.document import Block, TableCell, texts
from rtqual.reports.page.text import clean, distinct

_SHA256 = re.compile(r"[0-9a-f]{64}")
_Read = Callable[[Manifest], str | None]


def _fact(name: str) -> _Read:
    return lambda manifest: manifest.provenance.facts.get(name)


def _sha256(name: str) -> _Read:
    """Of a running machine's kernel only the version is known, which is no hash."""
    return lambda manifest: value if _SHA256.fullmatch(value := manifest.inputs.artefacts.get(name, "")) else None


# What identifies an item, in the order a reader asks for it; the configuration's hash comes after the package.
_IDENTITY: Mapping[str, _Read] = {
    "Kernel": lambda manifest: manifest.provenance.kernel,
    "Package": _fact("package"),
    "Kernel image, SHA-256": _sha256("kernel"),
    "Image, SHA-256": _sha256("image"),
    "Root file system with its kernel's modules, SHA-256": _sha256("initramfs"),
    "Boot parameters": lambda manifest: unvaried(manifest.provenance.kernel_cmdline or ""),
    "Machine": _fact("machine"),
    "Model": _fact("model"),
    "Serial number": _fact("serial"),
    "Processor": _fact("processor"),
    "Runs in": _fact("hypervisor"),
}


def items(material: Material) -> Iterator[Block]:
    """A line for each thing that identifies a candidate; nothing where nothing was measured."""
    rows = [
        (TableCell(clean(name)), TableCell(title), TableCell(clean(value), code=True))
        for name in material.measured
        for title, value in _identity(material, name, [r for r in material.records if r.inputs.candidate == name])
    ]
    if rows:
        yield material.numbering.table("Items under test", texts("Candidate", "What", "Value"), rows)


def _identity(material: Material, name: str, records: Sequence[Manifest]) -> Iterator[tuple[str, str]]:
    records = [manifest for manifest in records if manifest.inputs.board != PUBLISHED]
    for title, read in _IDENTITY.items():
        values = {value for manifest in records if (value := read(manifest))}
        if values:
            yield title, distinct(values)
        if title == "Package" and (digest := material.told.configs.get(name)):
            yield "Configuration, SHA-256", digest
