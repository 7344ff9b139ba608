# SPDX-License-Identifier: MIT
"""How late the rare wake-ups are: estimates of what is passed once in a mission, or why there is none (docs/tails.md).

model.py       the results: estimates, refusals, diagnostics
streams.py     one thread's samples in all runs, and the running time they cover
peaks.py       exceedances of a threshold, their clusters, the extremal index
tail_model.py  the extreme-value model: likelihood, fit, profile-likelihood intervals
thresholds.py  the stability table, and the rule that picks a threshold
checks.py      diagnostics, each judged by its size
estimate.py    the estimate of one thread
group.py       that of a group, and the refusals that concern all of it
"""
