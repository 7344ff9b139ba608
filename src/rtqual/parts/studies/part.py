# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import Command, Part, Section

PART = Part(
    "studies",
    commands=(
        Command(
            210,
            "rtqual.parts.studies.command:published_app",
            "published",
            "Published studies: their figures, and what does not follow from them.",
        ),
    ),
    sections=(
        Section(90, "rtqual.parts.studies.chapter_beside:beside", "Beside published figures"),
        Section(100, "rtqual.parts.studies.chapter_repeated:repeated", "Studies repeated"),
    ),
)
