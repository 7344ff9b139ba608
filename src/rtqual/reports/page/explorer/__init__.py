# SPDX-License-Identifier: MIT
"""What makes report.html interactive: plots that zoom, tables that sort. Without scripts nothing is missing.

scripts.py  the page's scripts (*.js here, and uPlot's), and the policy that lets no others run
sort.py     what the columns of a table sort by
"""
