# SPDX-License-Identifier: MIT
"""The stages: each takes a mission or a folder to its result, one file a stage.

init.py       a mission of one's own from a template
select.py     which operating system meets the mission, and by how much
tailor.py     what can be removed, and what that gained; trim.py: what else the mission's runs do not use
lidar.py      how fast and how late depth frames become ranges and poses
verify.py     a flight program under telecommands, faults and load
ground.py     Yamcs, ready for the flight program
lint.py       settings that cost latency
show.py       the figures of a campaign, and its headline
board.py      boards on the network: whether one is ready, bringing one back
card.py       a board without a network: its card made, and what it measured taken
compare.py    two records, or two campaigns, beside each other
repeated.py   a study beside the campaign that repeats it
history.py    figures over several versions, and where they changed
gate.py       worse than a baseline?
reproduce.py  a record's run once more
explain.py    why samples were late; measured.py: which can be told; why.py: those of a campaign, for its report;
              late.py: where the measured system told; advice.py: what the lint says about it
bisect.py     which change moved the tail; ends.py: between what; axis.py: by which steps
query.py      records of many campaigns, asked in SQL
seal.py       a campaign's signature
"""
