# SPDX-License-Identifier: MIT
"""Procedures: telecommands and faults at their times, and what must come back.

described.py        what procedures for any program have
procedure_files.py  reading and checking files of them
kinds.py            as a campaign keeps them, and the kind of program that they are for
line.py             the lines of the timed script that the ground plays
log.py              what was logged, with every line checked
transfers.py        files from the board, as that log tells of their ends
judging.py          what a judge says: checks, and which report serves which expectation
played_log.py       one that was played: its name in records, the log that these keep
compliance.py       what played procedures say of the requirements
"""
