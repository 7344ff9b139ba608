# SPDX-License-Identifier: MIT
"""Candidates beside each other.

model.py      the results
compare.py    effect sizes, statistic by statistic; shift.py: at each quantile
boards.py     boards of one model, measured as one, beside each other
statement.py  what may be said of a difference, margins, how many runs would decide it
together.py   differences that are told together
"""
