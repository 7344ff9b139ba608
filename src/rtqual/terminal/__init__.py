# SPDX-License-Identifier: MIT
"""What people read on a terminal, and the same for machines with --json.

figures.py  history.py   a campaign's figures, and those of several versions
verdict.py  gate.py  lint.py  record.py  comparison.py  image.py  card.py  importer.py  published.py  explain.py
bisect.py  verify.py     what a command prints
published_compare.py   a study beside the campaign that repeats it
published_document.py  the audits of all published studies as one document
progress.py            a campaign while it runs
plain.py               results as plain values, for JSON
"""
