# SPDX-License-Identifier: MIT
"""A ground system for the flight program: Yamcs, and what it does not bring.

yamcs.py    Yamcs's configuration: links, streams, files, events, displays
stacks.py   procedures as stacks that an operator runs in Yamcs
serial.py   the program's serial line as a TCP port
"""
