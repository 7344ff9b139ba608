# SPDX-License-Identifier: MIT
"""The stages: each takes a mission or a folder to its result, one file a stage.

init.py          a mission of one's own from a template
selection.py     which operating system meets the mission, and by how much
verify.py        a flight program under telecommands, faults and load; flown.py: rtqual's own, or the user's
show.py          the figures of a campaign, and its headline
named_boards.py  boards on the network: whether one is ready, bringing one back
digests.py       what campaigns came to, as they left it or made anew
side_by_side.py  two records, or two campaigns, beside each other
watched.py       campaigns while they run
history.py       figures over several versions, and where they changed
gate.py          worse than a baseline?
ci_file.py       the file by which another repository asks that on each change
reproduced.py    a record's run once more
signature.py     a campaign's signature
doctor/          what this machine can do, and what is missing
"""
