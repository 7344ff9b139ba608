# SPDX-License-Identifier: MIT
"""Plots, as SVG.

canvas.py  what all plots share: colours, axes, the drawing itself
plots.py  plots_choice.py  plots_shift.py  plots_spaces.py  plots_tails.py   the plots
"""
