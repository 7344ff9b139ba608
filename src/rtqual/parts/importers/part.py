# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import Command, Part, Row

PART = Part(
    "importers",
    commands=(
        Command(
            200,
            "rtqual.parts.importers.command:import_",
            "import",
            "Read what other tools measured into records (docs/import.md).",
        ),
    ),
    boards=(Row(70, "rtqual.parts.importers.boards:BOARD"),),
)
