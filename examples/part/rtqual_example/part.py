# SPDX-License-Identifier: MIT
"""What this package brings."""

from rtqual.protocols.part import Part, Row

PART = Part(
    "example",
    instruments=(Row(1000, "rtqual_example.starts:STARTS"),),
    boards=(Row(1000, "rtqual_example.shelf:SHELF"),),
    loads=(Row(1000, "rtqual_example.copying:COPY"),),
    imports=(Row(1000, "rtqual_example.hyperfine:HYPERFINE"),),
)
