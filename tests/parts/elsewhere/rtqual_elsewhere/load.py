# SPDX-License-Identifier: MIT
"""A shell that sums."""

from rtqual.protocols.board import Command
from rtqual.protocols.load import Load

SUM = Load(
    name="elsewhere-sum", title="A shell that sums without end",
    background=(Command(("sh", "-c", "i=0; while :; do i=$((i + 1)); done")),),
)  # fmt: skip
