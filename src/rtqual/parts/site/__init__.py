# SPDX-License-Identifier: MIT
"""A lab's campaigns as a static site: lab.py (what their digests say, row by row), data.py (its files), stage.py,
command.py, part.py; page/ is what a browser shows."""
