# SPDX-License-Identifier: MIT
"""Analysis: pure functions of records. Nothing in here talks to a board or a file.

model.py      the results: figures with intervals, summaries, comparisons, verdict
summary.py    one candidate, one instrument, one load
intervals.py  how sure a figure is
compare.py    one candidate beside another
verdict.py    what the records support
"""
