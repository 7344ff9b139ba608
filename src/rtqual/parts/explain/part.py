# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import Chapter, CommandOfPart, Part, Row

PART = Part(
    "explain",
    commands=(
        CommandOfPart(
            150,
            "rtqual.parts.explain.command:explain",
            "explain",
            "Say why samples were late: the run is made again and watched from outside of the guest, "
            "which stays as it is.",
        ),
    ),
    chapters=(
        Chapter(50, "rtqual.parts.explain.chapter:why", "", "Why samples were late"),
        Chapter(90, "rtqual.parts.explain.chapter:worst", "a", "The worst samples, part by part"),  # results link there
    ),
    annexes=(Row(40, "rtqual.parts.explain.whys:WHY"),),
)
