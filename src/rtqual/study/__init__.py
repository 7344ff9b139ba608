# SPDX-License-Identifier: MIT
"""Five published studies as data.

data/*.toml   a study each: figures as printed, rules (what is computed from what), claims of the text
catalogue.py  the data's model, and the studies by name
rounded.py    a printed figure and what rounding leaves open
formula.py    formulas over printed figures
misprint.py   what kind of mistake a misprint is
"""
