# SPDX-License-Identifier: MIT
"""What the report says: one file a chapter, and one for each longer part of a chapter.

decision.py    the first page: the decision, what it rests on, what would change it
verdicts.py    the next: every board's verdict in short
purpose.py     measured_with.py  environment.py
systems.py     (items.py: what identifies each; choosing.py: what it takes and lacks)
method.py      with conduct.py: who ran the tests, when, where and with what
results.py     the figures, with distributions.py (what is plotted of them), battery.py and paths.py (the probe's),
               explore.py (the samples that report.html plots anew)
analysis.py    judgement.py (requirements, scores); and sections: mechanisms.py (the probe's figures by operating
               system) with mechanism_plots.py, stability.py, comparisons.py with shifts.py, independence.py,
               tails.py,
               reached.py
conclusion.py  reproduction.py  failures.py  glossary.py  qualification.py (of rtqual itself)

A new chapter is a file here and a row in a part (protocols/part.py); so is a new section of the
analysis.
"""
