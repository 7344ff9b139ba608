# SPDX-License-Identifier: MIT
"""A program that copies zeros to nowhere."""

from rtqual.protocols.board import Command
from rtqual.protocols.load import Load

COPY = Load(
    name="example-copy",
    title="dd copies zeros to nowhere",
    background=(Command(("dd", "if=/dev/zero", "of=/dev/null", "bs=64k")),),
)
