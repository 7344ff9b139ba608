# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import Command, Part

PART = Part(
    "images",
    commands=(
        Command(
            220,
            "rtqual.parts.images.command:image",
            "image",
            "Make a system image for a flight disk, with a list of what is inside (docs/image.md).",
        ),
    ),
)
