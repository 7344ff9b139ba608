# SPDX-License-Identifier: MIT
"""Procedures for rtqual's own flight program: its dictionary, and its verbs of faults.

model.py        a procedure as it is written in TOML; script.py: as the timed script that `rtqual-ground` plays
checked_procedures.py  from their files; unknown.py: what they name that no packet has
kept_procedures.py     as a campaign keeps them
own_program.py  the program as the judge (engine/dialogue/hearing.py) knows it: its packets, its link, its files
sound.py        what must hold of every log, whatever the procedure says
peer.py         whether a procedure's peer got what it asks for
log_figures.py  latencies and counts of a log
own_flown.py    all of it as `rtqual verify` asks for it
"""
