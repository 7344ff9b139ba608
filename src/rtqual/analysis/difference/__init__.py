# SPDX-License-Identifier: MIT
"""Candidates beside each other.

model.py      the results
compare.py    effect sizes, statistic by statistic; shift.py: at each quantile
statement.py  what may be said of a difference, margins, how many runs would decide it
"""
