# SPDX-License-Identifier: MIT
"""What a report can be written as: the name of each format and the file it is written to."""

PAGES = {"html": "report.html", "pdf": "report.pdf", "md": "report.md"}
FOR_MACHINES = {
    "junit": "junit.xml",
    "prometheus": "metrics.prom",
    "bencher": "bencher.json",
    "github": "summary.md",
    "sbom": "software.spdx.json",
}
FORMATS = PAGES | FOR_MACHINES
