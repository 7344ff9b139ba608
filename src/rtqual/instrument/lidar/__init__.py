# SPDX-License-Identifier: MIT
"""The docking camera's instruments.

ways.py    frames to ranges, an instrument a way; faults.py: what the driver does when the camera fails
wifi.py    poses at another spacecraft; air.py: their way
script.py  the programs as shell; output.py: what they print
"""
