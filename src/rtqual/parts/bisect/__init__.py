# SPDX-License-Identifier: MIT
"""Which change moved the tail between two candidates.

part.py     what this part brings
command.py  words.py   the command, and what it prints
bisect.py   kernels in between, made and measured alike
ends.py     between what; axis.py: by which steps
isolate.py  the change, isolated
"""
