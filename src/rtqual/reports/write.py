# SPDX-License-Identifier: MIT
"""A campaign's reports, written into its folder."""

from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

from rtqual.base import unlinked
from rtqual.base.errors import RunFailed
from rtqual.engine.analysis.figure.model import Group
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.campaign.annex import Annexes
from rtqual.engine.mission import Mission
from rtqual.protocols.record.schema import Manifest
from rtqual.reports.formats import FOR_MACHINES, FORMATS, PAGES
from rtqual.reports.machine.bencher import to_bencher
from rtqual.reports.machine.github import to_github
from rtqual.reports.machine.junit import to_junit
from rtqual.reports.machine.prometheus import to_prometheus
from rtqual.reports.machine.sbom_of_runs import to_sbom
from rtqual.reports.page.document import AS_USUAL, PLOT_FOLDER, Printed
from rtqual.reports.told import UNTOLD, Told

_TO_TEXT: dict[str, Callable[[Mission, Evidence], str]] = {
    "junit": to_junit,
    "prometheus": to_prometheus,
    "bencher": to_bencher,
    "github": to_github,
}


def contents_of(
    mission: Mission,
    evidence: Evidence,
    records: Sequence[Manifest],
    failures: Mapping[Group, str] | Mapping[str, str],
    formats: Collection[str],
    annexes: Annexes | None = None,
    printed: Printed = AS_USUAL,
    told: Told = UNTOLD,
) -> dict[str, bytes]:
    """What reports hold, by their files' names, with the plots of report.md.

    `failures`: cell (a Group or a name) -> why it gave no record, added to those of the evidence. `annexes`: evidence
    beside the records; `printed`: what the PDF holds; `told`: what else a campaign says of its runs.
    """
    wanted = [name for name in FOR_MACHINES if name in formats]
    contents = {FOR_MACHINES[name]: _TO_TEXT[name](mission, evidence).encode() for name in wanted if name in _TO_TEXT}
    if "sbom" in wanted:
        contents[FOR_MACHINES["sbom"]] = to_sbom(mission, records, annexes or {}).encode()
    if not PAGES.keys().isdisjoint(formats):
        from rtqual.reports.material import gather  # noqa: PLC0415 - matplotlib and jinja2 are slow to load
        from rtqual.reports.view import build, pages  # noqa: PLC0415

        gathered = gather(mission, evidence, records, failures, annexes, told)
        contents |= pages(build(gathered), formats, printed)
    return contents


def put(folder: Path, contents: Mapping[str, bytes], formats: Collection[str], out: Path | None) -> list[Path]:
    """Write them, and remove the plots of a report before. Returns the reports. Raises RunFailed."""
    reports = {name: folder / name for name in FORMATS.values() if name in contents}
    if out is not None:
        reports = dict.fromkeys(reports, out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for stale in unlinked.names(folder, PLOT_FOLDER) if "md" in formats and out is None else ():
            if fnmatch(stale, "figure-*.svg"):
                unlinked.remove(folder, f"{PLOT_FOLDER}/{stale}")
        for name, content in contents.items():
            if out is not None and name in reports:
                out.parent.mkdir(parents=True, exist_ok=True)
                out.write_bytes(content)
            else:
                unlinked.write(folder, name, content)
    except OSError as error:
        raise RunFailed(
            f"{folder}: the report cannot be written ({error.strerror}): free space or choose another folder"
        ) from error
    return list(reports.values())
