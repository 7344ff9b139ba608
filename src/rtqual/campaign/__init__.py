# SPDX-License-Identifier: MIT
"""Campaigns: the cells a mission asks for, run once each and kept in a folder.

cell.py        one run to do
plan.py        the cells of a mission at a scale, in their order
systems.py     what boards start: kernels and images, prepared once
stated.py      candidates that are this machine under a kernel they state
forecast.py    the time and the disk they need
feasible.py    whether they can run on this machine
foresee.py     what a scale cannot judge, whatever is measured
run.py         their runs
provenance.py  where a record comes from
folder.py      a campaign's folder: its files, who writes them, its lock
approach.py    an approach of the docking target, with its errors
"""
