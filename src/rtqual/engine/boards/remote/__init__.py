# SPDX-License-Identifier: MIT
"""A board that is reached over the network: candidates are put on it one after the other, and it always comes back.

settings.py      what is known of a board, as the mission file states it
link.py          commands and files over ssh, each with a deadline
lease.py         who may command the board: a token on it that every command checks
farm.py          the place of a farm (labgrid) that it stands in
switch.py        how a boot loader starts another system once
power.py         its power, its console
staged.py        a candidate's files, and their way onto the board
job.py           a job that runs there by itself, and its results
clock_rate.py    whether its clock runs as fast as the host's
truth.py         what decides how the board keeps time, before and after a job
tune.py          settings that steady it, and the way back
check.py         whether a board has what a campaign needs; unnamed.py: what it is, before a mission names it
session.py       known-good system -> candidate -> known-good system, whatever happens in between
measured.py      a candidate as a board measures it: its files, its jobs' names, what came back
remote_board.py  all this as a board like any other; row.py: what a mission asks of it
"""
