# SPDX-License-Identifier: MIT
"""sysbench's instruments: tests.py, and sysbench_output.py for what it prints."""
