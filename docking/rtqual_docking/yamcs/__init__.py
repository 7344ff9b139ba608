# SPDX-License-Identifier: MIT
"""A ground system for the flight program: Yamcs, and what it does not bring.

command.py           stage.py   Yamcs, ready for the flight program; command_serial.py: the serial line
yamcs.py             Yamcs's configuration: links, streams, files, events, displays
mission_database.py  its database of telecommands and telemetry
stacks.py            procedures as stacks that an operator runs in Yamcs
serial.py            the program's serial line as a TCP port
"""
