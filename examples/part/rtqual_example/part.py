# SPDX-License-Identifier: MIT
"""What this package brings."""

from rtqual.protocols.part import Part, Row

PART = Part(
    "example",
    instruments=(Row(1000, "rtqual_example.starts:STARTS"),),
    loads=(Row(1000, "rtqual_example.copying:COPY"),),
)
