# SPDX-License-Identifier: MIT
"""Import: what others measured, as records. One small reader a format; what a format cannot tell stays absent.

part.py           what this part brings
command.py  words.py   the command, and what it prints
reading.py        what a reader hands back
account.py        what became of every line: used, known to be without data, or an error that names it
source.py         the file: opened, streamed, accounted for; values.py: the same for JSON, YAML and XML
detect.py         which format a file has
tally.py          a tool's histogram of one thread, and what contradicts it
invocation.py     a cyclictest command line, where a file has kept one
cyclictest_*.py   its histogram, every sample (-v), summary lines (-q) and JSON; cyclictest_lines.py: what all print
sysbench.py (its lines: sysbench_lines.py) hackbench.py stress_ng.py rtla.py jitterdebugger.py rteval.py
table.py          a column of samples in Parquet or comma-separated text
records.py        readings -> records in a store
"""
