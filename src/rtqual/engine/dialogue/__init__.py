# SPDX-License-Identifier: MIT
"""Procedures for any program: what is said to it, by its own dictionary, and what it must answer.

language.py  the dictionary with what the mission adds: telecommands to octets, octets to reports with meanings
meaning.py   what a report says of a telecommand; the rows that rtqual brings
seal.py      what is filled into a packet last: lengths, counts, checksums
framing.py   how packets lie on a link
model.py     a procedure as it is written; load.py: from its file; kept.py: as a campaign keeps it
robust.py    procedures for every telecommand of a dictionary, which name no program
script.py    as the timed script that `rtqual-wire` plays
judge.py     whether what came back is what must; figures.py: how long telecommands take
"""
