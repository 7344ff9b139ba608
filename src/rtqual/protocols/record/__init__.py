# SPDX-License-Identifier: MIT
"""Records: one measurement with its samples and provenance, and the store that keeps them.

schema.py   the typed record (a manifest and its series of samples)
parquet.py  the samples as Parquet, in constant memory
facts.py    names of facts
files.py    the hash of a file
store.py    a directory a run, written whole or not at all, checked when read
"""
