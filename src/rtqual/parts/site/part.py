# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import CommandOfPart, Part

PART = Part(
    "site",
    commands=(
        CommandOfPart(
            125,
            "rtqual.parts.site.command:site",
            "site",
            "Write a static site over the campaigns of many boards, kernels and versions (docs/lab.md).",
            examples=("site out --out public/",),
        ),
    ),
)
