# SPDX-License-Identifier: MIT
"""Campaigns: the cells a mission asks for, run once each and kept in a folder.

run.py       the cells, their order, their runs
folder.py    what a finished campaign keeps
approach.py  an approach of the docking target, with its errors
"""
