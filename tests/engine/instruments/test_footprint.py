# SPDX-License-Identifier: MIT
"""The footprint where the kernel's counters disagree."""

import re

from rtqual.protocols.record.schema import Scalar
from support.instrument_outputs import captured_text, read_text


def test_memory_that_was_counted_at_two_moments_is_absent_and_another_figure_stands_for_it() -> None:
    text = captured_text("footprint")
    free = 381_292 // 4
    lists = f"Node 0, zone    DMA32\n  pages free     {free}\n    cpu: 0\n              count:    {free}\n"
    found = read_text("footprint", text + lists)
    available = int(re.search(r"MemAvailable: +(\d+) kB", text)[1])  # type: ignore[index]
    assert "ram_used" not in found.scalars
    assert found.scalars["ram_not_available"] == Scalar(value=(468_452 - available) * 1024, unit="B")
    assert "count more free than there is (-" in found.absent["ram_used"]
    assert "MemTotal - MemAvailable, stands for it" in found.absent["ram_used"]
    assert found.problems == ()
    without = text.replace("MemAvailable", "X") + lists
    assert "ram_not_available" not in read_text("footprint", without).scalars
    whole = read_text("footprint", text)
    assert "ram_not_available" not in whole.scalars and whole.absent == {}
