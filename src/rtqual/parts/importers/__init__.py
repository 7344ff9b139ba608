# SPDX-License-Identifier: MIT
"""Import: what others measured, as records. One small reader a format; what a format cannot tell stays absent.

part.py          what this part brings
command.py  words.py   the command, and what it prints
reading.py       what a reader hands back
lines.py         what a line is that holds no figures: a command, a fact, a warning, prose, or not understood
file_account.py  what became of every line: used, of a kind without figures, or an error that names it
names.py         what the runs of a file are called, so that only what belongs together is put together
source.py        the file: opened, streamed, accounted for; placed_values.py: the same for JSON, YAML and XML
mail.py          a mail as it was sent, made plain
format.py        what a format is: its mark and its reader; detect.py: which of those that parts bring a file has
tally.py         a tool's histogram of one thread, and what contradicts it
invocation.py    a cyclictest command line, where a file has kept one
cyclictest_*.py   its histogram, every sample (-v), summary lines (-q) and JSON; cyclictest_lines.py: what all print
sysbench.py (its lines: sysbench_lines.py) hackbench_times.py stress_ng.py rtla.py jitterdebugger.py rteval.py
xenomai.py stress_ng_text.py rt_pairs.py latency_tracer.py hwlatdetect.py hwlat_trace.py tracer_lines.py rtla_top.py
noise.py rteval_report.py
perf_sched.py rt_app.py rt_tests_json.py rtosbench.py zephyr.py osadl.py probe_result.py   other tools' outputs
columns.py       a column of samples in Parquet or comma-separated text; histogram_table.py: one of counts
records.py       readings -> records in a store
board_rows.py imported.py   records as a mission's candidate: imported = FOLDER
"""
