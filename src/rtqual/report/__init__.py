# SPDX-License-Identifier: MIT
"""The report: a pure function of mission, analysis and records; equal inputs give equal bytes.

No time of day and no duration of a run stands in it: a campaign killed and resumed gives the same report.

text.py       how figures and units are written
document.py   the report as a tree of plain text, tables and plots
plots.py      SVG, with plots_shift.py, plots_tails.py
material.py   what a report is made of, in a fixed order
executive.py  the verdicts in short             chapters.py     what was tested, with what, how
results.py    the figures, with distributions.py, what is plotted of them, battery.py and paths.py, those of the probe
mechanisms.py  the probe's by operating system, published ones beside them
tailor.py     what tailoring a kernel changed, with goals.py, tailor_lint.py, tailor_roots.py (whole systems),
              trim.py (what a scenario showed no use of)
lidar.py      the docking camera: ways from frames to ranges, its faults, an approach
judgement.py  stability.py  comparisons.py  shift.py  tails.py  beside.py  the analysis;   view.py puts all together
render.py     the tree as HTML, PDF and Markdown (templates/); markdown.py escapes
explore.py    the samples that report.html plots anew, with explore_script.py, its scripts; explore_sort.py, its tables
junit.py  prometheus.py  bencher.py  github.py   for machines, from the evidence alone
regressions.py  what the regression gate found, as text
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from rtqual.analysis.model import Evidence
from rtqual.approach import Approach
from rtqual.errors import RunFailed
from rtqual.kernel.account import Account
from rtqual.mission import Mission
from rtqual.record.schema import Manifest

PLOT_FOLDER = "plots"
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
    from rtqual.report.canvas import standalone  # noqa: PLC0415
    from rtqual.report.material import gather  # noqa: PLC0415 - matplotlib and jinja2 are slow to load
    from rtqual.report.render import to_html, to_markdown, to_pdf  # noqa: PLC0415
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
    from rtqual.report.bencher import to_bencher  # noqa: PLC0415 - the libraries behind these are slow to load
    from rtqual.report.github import to_github  # noqa: PLC0415
    from rtqual.report.junit import to_junit  # noqa: PLC0415
    from rtqual.report.prometheus import to_prometheus  # noqa: PLC0415

    writers = {"junit": to_junit, "prometheus": to_prometheus, "bencher": to_bencher, "github": to_github}
    return {FOR_MACHINES[name]: write(mission, evidence).encode() for name, write in writers.items() if name in formats}
