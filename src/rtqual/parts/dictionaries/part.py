# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import CommandOfPart, Keyed, Part

PART = Part(
    "dictionaries",
    commands=(
        CommandOfPart(
            185,
            "rtqual.parts.dictionaries.command:dictionary_app",
            "dictionary",
            "Dictionaries of flight software: what can be commanded, octets of a command, values of a packet.",
        ),
    ),
    dictionaries=(
        Keyed(10, "rtqual.parts.dictionaries.spoken:TABLE", "table"),
        Keyed(20, "rtqual.parts.dictionaries.spoken:FPRIME", "fprime"),
        Keyed(30, "rtqual.parts.dictionaries.spoken:XTCE", "xtce"),
        Keyed(40, "rtqual.parts.dictionaries.spoken:COSMOS", "cosmos"),
        Keyed(50, "rtqual.parts.dictionaries.spoken:SCOS", "scos"),
    ),
)
