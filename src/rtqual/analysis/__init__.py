# SPDX-License-Identifier: MIT
"""Analysis: pure functions of records. Nothing in here talks to a board or a file.

model.py       the results: figures with intervals, summaries, comparisons, verdict
pool.py        the runs of a group put together, as counts over values
statistics.py  every statistic of a pool
intervals.py   how sure a figure is
figures.py     statistics as figures: with an interval, or the reason why not
summary.py     one candidate, one instrument, one load
dependence.py  how much the samples of a run tell of each other, and what they are worth as independent ones
operations.py  shares of one figure in another, agreement in order
tails/         estimates of how late the rare samples are, and how often a limit is passed
compare.py     one candidate beside another; shift.py: at each quantile
statement.py   what a difference allows to say, margins, how many runs would tell
needs.py       what the mission needs of a kernel's configuration
cells.py       what was measured on one board, as a mission names it
gates.py       requirements and needs: met, not met, undecided
score.py       weighted criteria
change.py      what would turn a verdict
verdict.py     what the records support; findings.py: candidates beside each other, as sentences
camera.py      the docking camera's goals
evidence.py    from records to all of it
regression.py  worse than a baseline? course.py: the results, pairs.py: cell by cell, direction.py: which way is
               better, origin.py: whether two sets can be compared, and which inputs changed
wording.py     figures in sentences
"""
