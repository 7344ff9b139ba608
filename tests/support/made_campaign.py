# SPDX-License-Identifier: MIT
"""A finished campaign's folder of records that were made up."""

from collections.abc import Sequence
from pathlib import Path

from rtqual.engine.campaign import folder as kept
from rtqual.protocols.record.schema import Measurement, Record
from rtqual.protocols.record.store import Store, make
from support.command import mission_text


def campaign_of(folder: Path, records: Sequence[Record], *candidates: str) -> Path:
    folder.mkdir(parents=True)
    finished = tuple(map(sealed, records))
    for one in finished:
        Store(folder / kept.RECORDS).write(one)
    kept.keep(folder, mission_text(*candidates).encode(), "demo", kept.Result(finished, {}, {}))
    return folder


def sealed(one: Record) -> Record:
    """With the hash that a record of these inputs and samples has."""
    known = one.manifest
    measurement = Measurement(one.series, known.scalars, tuple(known.problems))
    return make(known.inputs, measurement, known.provenance, timing=known.timing, repeat=known.repeat)
