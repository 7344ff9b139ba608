# SPDX-License-Identifier: MIT
"""Candidates: operating systems under evaluation, ready to be put on a board.

kernel.py   the kernel of a candidate: Debian's, tailored (parts/tailor/tailored.py), or given
debian.py   Debian's own kernels, by package name
given.py    kernels that were built elsewhere, by where elsewhere.py finds them
ready.py    from a kernel's files to what a board boots
roots.py    what a mission's needs put into a root
rtos.py     FreeRTOS with the probe, in one image
linked.py   an RTOS image that was linked elsewhere, by its mark (mark.py), and tried.py once before it is measured
printed.py  systems that nothing runs, whose figures others printed
offers.py   what a system brings besides scheduling, and its licence
carried.py  our own modules and programs beside a kernel: module.py builds them, with headers.py, from sources.py
"""
