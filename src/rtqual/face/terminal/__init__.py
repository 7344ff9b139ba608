# SPDX-License-Identifier: MIT
"""What people read on a terminal, and the same for machines with --json.

figure_lines.py  history.py   a campaign's figures, and those of several versions
verdict.py  gate.py  record.py  comparison.py  verify_lines.py   what a command prints
tables.py                     how all of these lay out rows
progress.py  watch_lines.py   a campaign while it runs, and any number of them
plain.py                      results as plain values, for JSON
"""
