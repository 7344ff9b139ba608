# SPDX-License-Identifier: MIT
"""sysbench's instruments: tests.py, and output.py for what it prints."""
