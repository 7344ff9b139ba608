# SPDX-License-Identifier: MIT
"""cyclictest: measure.py; json_output.py and verbose.py read what it prints."""
