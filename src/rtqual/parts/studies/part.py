# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import CommandOfPart, Part, Row, Section

PART = Part(
    "studies",
    commands=(
        CommandOfPart(
            210,
            "rtqual.parts.studies.command:published_app",
            "published",
            "Published studies: their figures, and what does not follow from them.",
        ),
    ),
    printed=(Row(10, "rtqual.parts.studies.study_candidates:PRINTED"),),
    sections=(
        Section(90, "rtqual.parts.studies.chapter_beside:beside", "Beside published figures"),
        Section(100, "rtqual.parts.studies.chapter_repeated:repeated", "Studies repeated"),
    ),
)
