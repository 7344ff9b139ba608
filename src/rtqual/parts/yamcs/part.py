# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import CommandOfPart, Part

PART = Part(
    "yamcs",
    commands=(
        CommandOfPart(
            60,
            "rtqual.parts.yamcs.command:ground",
            "ground",
            "Write what Yamcs needs to be the flight program's ground, and how to start it (docs/docking/ground.md).",
        ),
        CommandOfPart(
            70,
            "rtqual.parts.yamcs.command_serial:serial",
            "serial",
            "Carry the flight program's serial line to a TCP port, for Yamcs and others (docs/docking/ground.md).",
        ),
    ),
)
