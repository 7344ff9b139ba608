# SPDX-License-Identifier: MIT
"""A report of made-up evidence, written into a folder."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from rtqual.engine.analysis.figure.model import Group
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.campaign.annex import Annexes
from rtqual.engine.mission import Mission
from rtqual.protocols.record.schema import Manifest
from rtqual.reports.formats import PAGES
from rtqual.reports.page.document import AS_USUAL, Printed
from rtqual.reports.write import contents_of, put


def write_report(
    folder: Path,
    mission: Mission,
    evidence: Evidence,
    records: Sequence[Manifest],
    failures: Mapping[Group, str] | Mapping[str, str],
    formats: Collection[str] = tuple(PAGES),
    out: Path | None = None,
    annexes: Annexes | None = None,
    printed: Printed = AS_USUAL,
) -> list[Path]:
    """The reports, without the plots, in the order of FORMATS. `out`: the file of the only format."""
    return put(folder, contents_of(mission, evidence, records, failures, formats, annexes, printed), formats, out)
