# SPDX-License-Identifier: MIT
"""Procedures for any program: what is said to it, by its own dictionary, and what it must answer.

language.py         the dictionary with what the mission adds: telecommands to octets, octets to reports with meanings
meaning.py          what a report says of a telecommand; the rows that rtqual brings
sealing.py          what is filled into a packet last: lengths, counts, checksums
framing.py          how packets lie on a link; octets.py: lengths, checksums, COBS
model.py            a procedure as it is written; dialogue_files.py: from its file; dialogues.py: as a campaign keeps it
robust.py           procedures for every telecommand of a dictionary, which name no program
dialogue_script.py  as the timed script that `rtqual-wire` plays
lives.py            what becomes of each telecommand
liveness.py         whether all threads of the program are still there
hearing.py          whether what came back is what must; answer_times.py: how long telecommands take
"""
