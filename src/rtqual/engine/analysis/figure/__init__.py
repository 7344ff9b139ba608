# SPDX-License-Identifier: MIT
"""Figures of what was measured.

model.py             the results: figures with intervals, summaries
asked.py             what a mission asks for, and the runs and samples that a figure takes
pool.py              the runs of a group put together, as counts over values
statistics.py        every statistic of a pool
intervals.py         how sure a figure is
figures.py           statistics as figures: with an interval, or the reason why not
summary.py           one candidate, one instrument, one load
comparable.py        which figures may be compared at all
early.py             whether runs that began at once differ from what came later
losses.py            runs that gave no record
spread.py            runs that stand apart from the others
dependence.py        how the samples of a run depend on each other, and how many independent samples they are worth
operation_shares.py  shares of one figure in another, agreement in order
cells.py             what was measured on one board, as a mission names it
wording.py           figures in sentences
"""
