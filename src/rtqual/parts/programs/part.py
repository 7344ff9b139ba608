# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import Command, Family, Part

PART = Part(
    "programs",
    commands=(
        Command(
            105,
            "rtqual.parts.programs.command:program_app",
            "program",
            "Programs of your own, judged job by job (docs/programs.md).",
        ),
    ),
    families=(Family(0, "rtqual.parts.programs.instrument:program", "program-"),),
)
