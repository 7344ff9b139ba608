# SPDX-License-Identifier: MIT
"""Telecommands and telemetry of the flight program: one definition, packets.toml, and what is made from it.

definition.py     reads and checks the definition
codec.py          telecommands from names and arguments, fields from telemetry
packet_octets.py  times, authentication, and damage for tests

Only the standard library is used: the flight program's build makes its tables of it.
"""
