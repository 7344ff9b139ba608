# SPDX-License-Identifier: MIT
"""The probe's instruments: families.py, and probe_output.py for what it prints."""
