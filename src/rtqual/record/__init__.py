# SPDX-License-Identifier: MIT
"""Records: one measurement with its samples and provenance, and the store that keeps them.

schema.py  the typed record (a manifest and its series of samples)
store.py   a directory a run: manifest.json and samples.parquet, written whole or not at all
"""
