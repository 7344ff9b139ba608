# SPDX-License-Identifier: MIT
"""Dictionaries of other people's flight software: names to octets, octets to reports (docs/dictionaries.md).

- `model`: types, fields, packets and commands, whatever the format; `codec`: values to octets and back.
- `fprime`, `xtce`, `cosmos`, `scos`, `table`: a reader a format; `formats`: a row each.
- `xtce_writer`, `xtce_flat`: any of them as XTCE.
- `spoken`: any of them as procedures are played by it.
- `command`: `rtqual dictionary`; `part`: what it registers.
"""
