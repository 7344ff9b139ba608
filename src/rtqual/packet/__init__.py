# SPDX-License-Identifier: MIT
"""Telecommands and telemetry of the flight program: one definition, flight/packets.toml, and what is made from it.

definition.py  reads and checks the definition
codec.py       telecommands from names and arguments, fields from telemetry
octets.py      checksums, times, frames on a serial line, authentication, and damage for tests
c_tables.py    the flight program's tables, made when it is built
xtce.py        the mission database for Yamcs
reference.py   docs/telecommands.md

Only the standard library is used: the flight program's build runs c_tables.py.
"""
