# SPDX-License-Identifier: MIT
"""The probe's instruments: families.py, and output.py for what it prints."""
