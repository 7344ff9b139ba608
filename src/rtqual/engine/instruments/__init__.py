# SPDX-License-Identifier: MIT
"""The instruments that rtqual brings.

cyclictest/   sysbench/  probe/   tools with several ways or forms of output
hackbench.py  stress_ng_cyclic.py   other tools
tracer.py     the kernel's own tracers
late.py       wake-ups that the measured system itself explains
footprint.py  memory and time of booting
"""
