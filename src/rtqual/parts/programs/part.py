# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import Chapter, CommandOfPart, Family, Keyed, Part

PART = Part(
    "programs",
    commands=(
        CommandOfPart(
            105,
            "rtqual.parts.programs.command:program_app",
            "program",
            "Programs of your own, judged job by job (docs/programs.md).",
        ),
    ),
    chapters=(Chapter(45, "rtqual.parts.programs.chapter:programs", "", "Programs, job by job"),),
    families=(Family(0, "rtqual.parts.programs.instrument:program", "program-"),),
    verified=(Keyed(20, "rtqual.parts.programs.users_program:PROGRAM", "program"),),
    drafts=(Keyed(10, "rtqual.parts.programs.begin:begin", "program"),),
)
