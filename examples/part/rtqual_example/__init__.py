# SPDX-License-Identifier: MIT
"""How long a program takes to start, beside a load, on a board and from a file: each kind that a package may bring."""
