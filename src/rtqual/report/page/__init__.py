# SPDX-License-Identifier: MIT
"""The document, and its forms.

document.py  the report as a tree of plain text, tables and plots
text.py      how figures and units are written
render.py    the tree as HTML, PDF and Markdown (templates/); markdown.py escapes
explore_script.py  the page's scripts; explore_sort.py: how its tables sort
"""
