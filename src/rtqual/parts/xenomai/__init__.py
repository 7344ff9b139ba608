# SPDX-License-Identifier: MIT
"""Instruments of real-time cores beside Linux: Xenomai's latency (Cobalt) and libevl's latmus (EVL).

part.py      what this part brings
gravity.py   how early the core sets its timers, which decides what a latency means
probes.py    the probe on Xenomai's Alchemy skin and on EVL
latency.py   Xenomai's
latmus.py    libevl's
"""
