# SPDX-License-Identifier: MIT
"""What the report says, one file a subject.

executive.py     the verdicts in short
chapters.py      what was tested, with what, how
results.py       the figures, with distributions.py (what is plotted of them), battery.py and paths.py (the probe's)
mechanisms.py    the probe's figures by operating system, published ones beside them
tailor.py        what tailoring a kernel changed, with goals.py, steps.py, tailor_lint.py, tailor_roots.py (whole
                 systems) and trim.py (what a scenario showed no use of)
lidar.py         the docking camera: ways from frames to ranges, its faults, an approach
judgement.py  stability.py  comparisons.py  shift.py  tails.py  beside.py   the analysis
explore.py       the samples that report.html plots anew
"""
