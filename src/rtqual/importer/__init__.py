# SPDX-License-Identifier: MIT
"""Import: what others measured, as records. One small reader a format; what a format cannot tell stays absent.

reading.py        what a reader hands back
source.py         the file: opened, streamed, complained about
detect.py         which format a file has
tally.py          a tool's histogram of one thread, and what contradicts it
invocation.py     a cyclictest command line, where a file has kept one
cyclictest_*.py   its histogram, every sample (-v), summary lines (-q) and JSON
sysbench.py hackbench.py stress_ng.py rtla.py jitterdebugger.py rteval.py
table.py          a column of samples in Parquet or comma-separated text
records.py        readings -> records in a store
telling.py        what was read, and what could not be told
"""
