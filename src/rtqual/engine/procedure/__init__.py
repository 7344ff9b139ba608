# SPDX-License-Identifier: MIT
"""Procedures: telecommands and faults at their times, and what must come back.

described.py        what procedures for any program have
model.py            a procedure as it is written in TOML
procedure_files.py  reading and checking files of them
unknown.py          what they name that no packet has
kept_procedures.py  procedures as a campaign keeps them
script.py           a procedure as the timed script that `rtqual-ground` plays
line.py             the lines of such a script, whatever plays it
log.py              what was logged, with every line checked
transfers.py        files from the board, as that log tells of their ends
judging.py          what a judge says: checks, and which report serves which expectation
own_program.py      rtqual's own flight program as the judge (engine/dialogue/hearing.py) knows it
sound.py            what must hold of every log of it, whatever the procedure says
log_figures.py      latencies and counts of a log
played_log.py       one that was played: its name in records, the log that these keep
peer.py             whether a procedure's peer got what it asks for
compliance.py       what played procedures say of the requirements
"""
