# SPDX-License-Identifier: MIT
"""The published studies: their figures as data, the audit of them, and how a mission and a report use them.

data/*.toml   a study each: figures as printed, rules (what is computed from what), claims of the text
study.py      the data's model
rounded.py    a printed figure and what rounding leaves open
formula.py    formulas over printed figures
misprint.py   what kind of mistake a misprint is
audit.py      rules and claims against the figures
wording.py    findings in words
records.py    a published system's figures as records
choice.py     what a study says of its systems, and which it chose
beside.py     a published table for one's own results to stand beside
operations.py what the probe measures too, by its names
document.py   all audits as one document
text.py       all of it as Markdown and as plain values
"""

from rtqual.published.audit import Audit, Finding, audit
from rtqual.published.document import document
from rtqual.published.misprint import Kind
from rtqual.published.study import Study, studies, study, systems

__all__ = [
    "Audit",
    "Finding",
    "Kind",
    "Study",
    "audit",
    "document",
    "studies",
    "study",
    "systems",
]
