# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import CommandOfPart, Part

PART = Part(
    "query",
    commands=(
        CommandOfPart(
            180,
            "rtqual.parts.query.command:query",
            "query",
            "Ask the records of many campaigns and boards in SQL (docs/query.md).",
        ),
    ),
)
