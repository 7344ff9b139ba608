# SPDX-License-Identifier: MIT
"""Analysis: pure functions of records. Nothing in here talks to a board or a file.

evidence.py  from records to all that a report shows (model.py)
regression/  worse than a baseline?
tails/       how late the rare samples are, and how often a limit is passed
verdict/     requirements, scores, the verdict
difference/  candidates beside each other
figure/      figures with their intervals
"""
