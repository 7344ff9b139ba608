# SPDX-License-Identifier: MIT
"""What a scenario showed no use of.

used.py     which code ran; objects.py: from code to symbols
search.py   what could go; protected.toml: what may not
trimmed.py  the result, as kept
stage.py    all of it; chapter.py: in the report
"""
