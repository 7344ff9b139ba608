# SPDX-License-Identifier: MIT
"""The report's own chapters. As a test report has them: purpose, systems, method, judgement, conclusion; in the annex
all that they rest on."""

from rtqual.protocols.part import Chapter, Part, Row, Section

_CHAPTER = "rtqual.reports.chapter"
PART = Part(
    "reports",
    boxes=(Row(20, f"{_CHAPTER}.verdicts:verdict_boxes"),),
    chapters=(
        Chapter(10, f"{_CHAPTER}.purpose:purpose", "1", "Test purpose"),
        Chapter(20, f"{_CHAPTER}.systems:systems", "2", "Systems under test"),
        Chapter(30, f"{_CHAPTER}.method:method", "3", "Test method"),
        Chapter(40, f"{_CHAPTER}.analysis:judgement", "4", "Requirements and scores"),
        Chapter(60, f"{_CHAPTER}.failures:failures", "5", "Failures and problems"),
        Chapter(70, f"{_CHAPTER}.conclusion:conclusion", "6", "Conclusion"),
        Chapter(80, f"{_CHAPTER}.glossary:glossary", "7", "Glossary"),
        Chapter(90, f"{_CHAPTER}.qualification:qualification", "8", "Qualification of the tool"),
        Chapter(100, f"{_CHAPTER}.measured_with:tools", "A", "Test tools"),
        Chapter(110, f"{_CHAPTER}.environment:environment", "B", "Test environment"),
        Chapter(120, f"{_CHAPTER}.results:results", "C", "Test results"),
        Chapter(130, f"{_CHAPTER}.analysis:analysis", "D", "Analysis"),
        Chapter(140, f"{_CHAPTER}.reproduction:reproduction", "E", "Commands to reproduce every group"),
    ),
    sections=(
        Section(40, f"{_CHAPTER}.mechanisms:mechanisms", "By operating system"),
        Section(50, f"{_CHAPTER}.stability:stability", "Stability"),
        Section(60, f"{_CHAPTER}.comparisons:comparisons", "Comparisons"),
        Section(70, f"{_CHAPTER}.independence:dependence", "Dependence of the samples"),
        Section(80, f"{_CHAPTER}.tails:tails", "Tails"),
    ),
)
