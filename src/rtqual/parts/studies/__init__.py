# SPDX-License-Identifier: MIT
"""Five published studies: their figures as data, the audit of them, and how a mission and a report use them.

part.py              what this part brings
data/*.toml   a study each: figures as printed, rules (what is computed from what), claims of the text
catalogue.py         the data's model, and the studies by name
rounded.py           a printed figure and what rounding leaves open
formula.py           formulas over printed figures
misprint.py          what kind of mistake a misprint is
audit.py             rules and claims against the figures
misprint_words.py    findings in words
study_candidates.py  their systems as candidates
study_records.py     a published system's figures as records
choice.py            what a study says of its systems, and which it chose
beside.py            a published table, in the shape of our own results
repetition.py        a study beside a campaign that repeats it; repeated.py: of one
operations.py        what the probe measures too, by its names
command.py           words.py  words_compare.py  audits.py   the command, and what is printed
chapter_beside.py    chapter_repeated.py   in the report
"""
