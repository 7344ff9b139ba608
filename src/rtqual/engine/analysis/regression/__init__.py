# SPDX-License-Identifier: MIT
"""Worse than a baseline?

regressions.py  all of it
pairs.py        cell by cell; direction.py: which way is better
origin.py       whether two sets can be compared, and which inputs changed
course.py       the results
changes.py      where a series over versions changes
"""
