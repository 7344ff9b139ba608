# SPDX-License-Identifier: MIT
"""What the records support.

model.py      the results
clock.py      what a clock can decide
gates.py      requirements and needs: met, not met, undecided; chance.py: out by more than chance
goals.py      what parts judge beside them
score.py      weighted criteria
stopping.py   what more runs could decide
differing.py  what candidates do not have in common besides the kernel
judge.py      the verdict of each board; findings.py: candidates beside each other, as sentences
headline.py   it in a sentence, and that of all boards
change.py     what would turn it
"""
