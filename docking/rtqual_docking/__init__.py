# SPDX-License-Identifier: MIT
"""The docking camera's payload: instruments, goals, judgement, chapters.

part.py          what this part brings
ways.py          frames to ranges, an instrument a way; faults.py: what the driver does when the camera fails
radios.py        poses at another spacecraft; air.py: their way; peer_poses.py: the same beside a procedure
docking.py       exercise.py   the closed loop, and a camera that is worked hard
camera_files.py  what guests hold for them
guest_script.py  the programs as shell; stream_output.py: what they print
procedure.py     a procedure as an instrument: the camera, the flight program and the ground beside a load
procedures/      how they are written, played and judged
packets/         the flight program's telecommands and telemetry: octets of names, and names of octets
yamcs/           its ground
goal.py          goals of a mission; camera_goals.py: whether they are met; approach.py: an approach with its errors
command.py       stage.py   `rtqual lidar`
chapter.py       chapter_docking.py  chapter_wifi.py   in the report
template.py      its template for `rtqual init`
c_tables.py      reference.py   the flight program's tables and docs/docking/telecommands.md, made of packets.toml
"""
