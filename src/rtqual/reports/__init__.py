# SPDX-License-Identifier: MIT
"""The report: a pure function of mission, analysis and records; equal inputs give equal bytes.

No time of day and no duration of a run stands in it: a campaign killed and resumed gives the same report.

part.py      the chapters and sections, a row each
formats.py   the formats and their files
write.py     a campaign's reports, written into its folder
written.py   whether a report that was written before still stands
view.py      all chapters as one document, a row each
machine/     JUnit, Prometheus, Bencher, GitHub: for machines, from the evidence alone; rows in formats.py, write.py
verification.py  what `rtqual verify` played: its figures, JSON, JUnit
trends.py    what grows in a soak
control.py   the verification control document, written into its folder
chapter/     what the report says, one file a chapter
material.py  what a report is made of, in a fixed order
draw/        plots, as SVG
page/        the document, and its forms: HTML, PDF and Markdown
"""
