# SPDX-License-Identifier: MIT
"""The report: a pure function of mission, analysis and records; equal inputs give equal bytes.

No time of day and no duration of a run stands in it: a campaign killed and resumed gives the same report.

text.py       how figures and units are written
document.py   the report as a tree of plain text, tables and plots
plots.py      SVG
material.py   what a report is made of, in a fixed order
executive.py  the verdicts in short             chapters.py     what was tested, with what, how
results.py    the figures, with distributions.py, what is plotted of them
judgement.py  stability.py  comparisons.py      the analysis;   view.py puts all together
render.py     the tree as HTML, PDF and Markdown (templates/)
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rtqual.analysis.model import Evidence
from rtqual.errors import RunFailed
from rtqual.mission import Mission
from rtqual.record.schema import Manifest


def write_report(
    folder: Path,
    mission: Mission,
    evidence: Evidence,
    records: Sequence[Manifest],
    failures: Mapping[Any, str],
) -> list[Path]:
    """Write report.html, report.pdf and report.md (with plots/*.svg beside it) into a folder.

    `failures`: cell (a Group or a name) -> why it gave no record, added to those of the evidence.
    Returns the three reports. Raises RunFailed when they cannot be written, BadInput without WeasyPrint.
    """
    from rtqual.report.canvas import standalone  # noqa: PLC0415
    from rtqual.report.material import gather  # noqa: PLC0415 - matplotlib and jinja2 are slow to load
    from rtqual.report.render import PLOT_FOLDER, to_html, to_markdown, to_pdf  # noqa: PLC0415
    from rtqual.report.view import build  # noqa: PLC0415

    document = build(gather(mission, evidence, records, failures))
    contents = {
        "report.html": to_html(document).encode(),
        "report.pdf": to_pdf(document),
        "report.md": to_markdown(document).encode(),
        **{f"{PLOT_FOLDER}/{plot.file}": standalone(plot.svg).encode() for plot in document.plots},
    }
    try:
        (folder / PLOT_FOLDER).mkdir(parents=True, exist_ok=True)
        for stale in (folder / PLOT_FOLDER).glob("figure-*.svg"):
            stale.unlink()
        for name, content in contents.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise RunFailed(
            f"{folder}: the report cannot be written ({error.strerror}): free space or choose another folder"
        ) from error
    return [folder / name for name in ("report.html", "report.pdf", "report.md")]
