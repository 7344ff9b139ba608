# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import CommandOfPart, Part

PART = Part(
    "bisect",
    commands=(
        CommandOfPart(
            160,
            "rtqual.parts.bisect.command:bisect",
            "bisect",
            "Find which change moved the tail between two candidates: kernels in between are made and measured alike.",
        ),
    ),
)
