# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import Command, Part

PART = Part(
    "dictionaries",
    commands=(
        Command(
            185,
            "rtqual.parts.dictionaries.command:dictionary_app",
            "dictionary",
            "Dictionaries of flight software: what can be commanded, octets of a command, values of a packet.",
        ),
    ),
)
