# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import Part, Row

PART = Part(
    "xenomai",
    instruments=(
        Row(30, "rtqual.parts.xenomai.latency:LATENCY"),
        Row(40, "rtqual.parts.xenomai.latmus:LATMUS"),
        Row(120, "rtqual.parts.xenomai.probes:CORE_PROBES"),
    ),
)
