# SPDX-License-Identifier: MIT
"""The document, and its forms.

document.py  the report as a tree of plain text, tables and plots
text.py      how figures and units are written
render.py    the tree as HTML, PDF and Markdown (templates/); markdown.py escapes
explorer/    the page's scripts: plots that zoom, tables that sort
"""
