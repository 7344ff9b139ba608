# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import CommandOfPart, Keyed, Part, Row, Section

PART = Part(
    "tailor",
    commands=(
        CommandOfPart(
            30,
            "rtqual.parts.tailor.command:tailor",
            "tailor",
            "Cut a kernel down to a mission, build it, and measure it beside the kernel it replaces (docs/tailor.md).",
        ),
        CommandOfPart(
            230,
            "rtqual.parts.tailor.lint.command:lint",
            "lint",
            "Judge the settings that decide latency, of a kernel's configuration or a running system (docs/lint.md).",
        ),
    ),
    sections=(Section(10, "rtqual.parts.tailor.chapter:tailoring", "Tailored kernels"),),
    kernels=(Keyed(10, "rtqual.parts.tailor.tailored:of_mission", "tailor"),),
    annexes=(Row(10, "rtqual.parts.tailor.tailor_account:ACCOUNTS"), Row(20, "rtqual.parts.tailor.trim.trimmed:TRIMS")),
    contradictions=(Keyed(10, "rtqual.parts.tailor.wishes:contradiction", "tailor"),),
    packages=(Keyed(10, "rtqual.parts.tailor.tailored:package_of", "tailor"),),
    steps=(Keyed(10, "rtqual.parts.tailor.steps:SettingSteps", "settings"),),
)
