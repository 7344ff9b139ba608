# SPDX-License-Identifier: MIT
"""Dictionaries of other people's flight software: names to octets, octets to reports (docs/dictionaries.md).

- `model`: types, fields, packets and commands, whatever the format; `codec`: values to octets and back.
- `fprime`, `xtce`, `cosmos`, `scos`: a reader a format; `formats`: a row each.
- `seal`: what stands in no dictionary and is filled in last: lengths, counts, checksums.
- `command`: `rtqual dictionary`; `part`: what it registers.
"""
