# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import CommandOfPart, Keyed, Part

PART = Part(
    "images",
    commands=(
        CommandOfPart(
            220,
            "rtqual.parts.images.command:image",
            "image",
            "Make a system image for a flight disk, with a list of what is inside (docs/image.md).",
        ),
    ),
    roots=(
        Keyed(10, "rtqual.parts.images.measuring_root:under_root", "minimal"),
        Keyed(20, "rtqual.parts.images.measuring_root:under_root", "debian"),
    ),
    forms=(Keyed(10, "rtqual.parts.images.cards.command_import:take", "card"),),
    ways=(Keyed(10, "rtqual.parts.images.cards.card_board:CardBoard", "card"),),
)
