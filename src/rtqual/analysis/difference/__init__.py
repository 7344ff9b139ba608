# SPDX-License-Identifier: MIT
"""Candidates beside each other.

compare.py    effect sizes, statistic by statistic; shift.py: at each quantile
statement.py  what a difference allows to say, margins, how many runs would tell
"""
