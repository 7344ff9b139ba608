# SPDX-License-Identifier: MIT
"""The docking camera's instruments.

ways.py    frames to ranges, an instrument a way; faults.py: what the driver does when the camera fails
script.py  the programs as shell; output.py: what they print
"""
