# SPDX-License-Identifier: MIT
"""Campaigns: the cells a mission asks for, run once each and kept in a folder.

cell.py        one run to do
plan.py        the cells of a mission at a scale, in their order
looks.py       how far they go where runs are "auto"
looked.py      after which numbers of runs a folder was judged
prepared.py    what boards start: kernels and images, prepared once
stated.py      candidates that are this machine under a kernel they state
cost.py        the time and the disk they need
feasible.py    whether they can run on this machine
foresee.py     what a scale cannot judge, whatever is measured
run.py         their runs; runner.py: those that parts make elsewhere
trusted.py     which programs of the user's own may run
provenance.py  where a record comes from
folder.py      a campaign's folder: its files, who writes them, its lock
sessions.py    when, where and by whom it was measured; guests.py: what ran in its guests
annex.py       evidence beside the records, which parts bring
manifest.py    its campaign.json: what it rests on, under one hash
digest.py      its digest.json: what it came to, for those who look at many
lost.py        runs that left no record, remembered
find.py        the records that a user means
"""
