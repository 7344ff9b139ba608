# SPDX-License-Identifier: MIT
"""The published studies: the audit of them, and how a mission and a report use them. Their figures are in study/.

audit.py      rules and claims against the figures
wording.py    findings in words
records.py    a published system's figures as records
choice.py     what a study says of its systems, and which it chose
beside.py     a published table, in the shape of our own results
compare.py    a study beside a campaign that repeats it
operations.py what the probe measures too, by its names
"""
