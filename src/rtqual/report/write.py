# SPDX-License-Identifier: MIT
"""A campaign's reports, written into its folder."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from rtqual.analysis.model import Evidence
from rtqual.base.errors import RunFailed
from rtqual.campaign.approach import Approach
from rtqual.kernel.account import Account
from rtqual.mission import Mission
from rtqual.record.schema import Manifest
from rtqual.report.page.markdown import PLOT_FOLDER

PAGES = {"html": "report.html", "pdf": "report.pdf", "md": "report.md"}
FOR_MACHINES = {
    "junit": "junit.xml",
    "prometheus": "metrics.prom",
    "bencher": "bencher.json",
    "github": "summary.md",
}
FORMATS = PAGES | FOR_MACHINES  # format -> file


def write_report(
    folder: Path,
    mission: Mission,
    evidence: Evidence,
    records: Sequence[Manifest],
    failures: Mapping[Any, str],
    formats: Collection[str] = tuple(PAGES),
    out: Path | None = None,
    accounts: Sequence[Account] = (),
    approach: Approach | None = None,
) -> list[Path]:
    """Write reports into a folder: report.html, report.pdf and report.md (with plots/*.svg beside it) unless told.

    `failures`: cell (a Group or a name) -> why it gave no record, added to those of the evidence.
    `out`: the file of the only format. `accounts`: of the kernels that were tailored to the mission; `approach`: of the
    docking target. Returns the reports, without the plots, in the order of FORMATS. Raises RunFailed when they cannot
    be written, BadInput without WeasyPrint.
    """
    contents = _machine_formats(mission, evidence, formats)
    if not PAGES.keys().isdisjoint(formats):
        contents |= _pages(mission, evidence, records, failures, formats, accounts, approach)
    reports = {name: folder / name for name in FORMATS.values() if name in contents}
    if out is not None:
        reports = dict.fromkeys(reports, out)
    try:
        for stale in (folder / PLOT_FOLDER).glob("figure-*.svg") if "md" in formats else ():
            stale.unlink()
        for name, content in contents.items():
            path = reports.get(name, folder / name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    except OSError as error:
        raise RunFailed(
            f"{folder}: the report cannot be written ({error.strerror}): free space or choose another folder"
        ) from error
    return list(reports.values())


def _pages(
    mission: Mission,
    evidence: Evidence,
    records: Sequence[Manifest],
    failures: Mapping[Any, str],
    formats: Collection[str],
    accounts: Sequence[Account],
    approach: Approach | None,
) -> dict[str, bytes]:
    from rtqual.report.draw.canvas import standalone  # noqa: PLC0415
    from rtqual.report.material import gather  # noqa: PLC0415 - matplotlib and jinja2 are slow to load
    from rtqual.report.page.render import to_html, to_markdown, to_pdf  # noqa: PLC0415
    from rtqual.report.view import build  # noqa: PLC0415

    document = build(gather(mission, evidence, records, failures, accounts, approach))
    contents: dict[str, bytes] = {}
    if "html" in formats:
        contents[PAGES["html"]] = to_html(document).encode()
    if "pdf" in formats:
        contents[PAGES["pdf"]] = to_pdf(document)
    if "md" in formats:
        contents[PAGES["md"]] = to_markdown(document).encode()
        contents |= {f"{PLOT_FOLDER}/{plot.file}": standalone(plot.svg).encode() for plot in document.plots}
    return contents


def _machine_formats(mission: Mission, evidence: Evidence, formats: Collection[str]) -> dict[str, bytes]:
    from rtqual.report.machine.bencher import to_bencher  # noqa: PLC0415 - the libraries behind these are slow to load
    from rtqual.report.machine.github import to_github  # noqa: PLC0415
    from rtqual.report.machine.junit import to_junit  # noqa: PLC0415
    from rtqual.report.machine.prometheus import to_prometheus  # noqa: PLC0415

    writers = {"junit": to_junit, "prometheus": to_prometheus, "bencher": to_bencher, "github": to_github}
    return {FOR_MACHINES[name]: write(mission, evidence).encode() for name, write in writers.items() if name in formats}
