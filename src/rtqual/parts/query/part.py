# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import Command, Part

PART = Part(
    "query",
    commands=(
        Command(
            180,
            "rtqual.parts.query.command:query",
            "query",
            "Ask the records of many campaigns and boards in SQL (docs/query.md).",
        ),
    ),
)
