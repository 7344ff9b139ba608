# SPDX-License-Identifier: MIT
"""The report: a pure function of mission, analysis and records; equal inputs give equal bytes.

Times stand in it as its records and calls have them: when it is written makes no difference.

part.py          the chapters and sections, a row each
formats.py       the formats and their files
told.py          what a campaign says of its runs beside the records
write.py         a campaign's reports, written into its folder
written.py       whether a report that was written before still stands
view.py          all chapters as one document, a row each
machine/         JUnit, Prometheus, Bencher, GitHub, SPDX: for machines, from the evidence; rows in formats.py, write.py
verification.py  what `rtqual verify` played: its figures, JSON, JUnit
trends.py        what grows in a soak
control.py       the verification control document, written into its folder
chapter/         what the report says, one file a chapter
material.py      what a report is made of, in a fixed order
draw/            plots, as SVG
page/            the document, and its forms: HTML, PDF and Markdown
"""
