# SPDX-License-Identifier: MIT
"""What of a tailored kernel cannot be had together."""

import pytest

from rtqual.engine.mission import Candidate, Tailor
from rtqual.parts.tailor.wishes import contradiction


@pytest.mark.parametrize(
    ("tailor", "needs", "expected"),
    [
        (Tailor(forbid=("CONFIG_PREEMPT_RT",)), ("realtime",), "PREEMPT_RT is to be left out (forbidden by name), but"),
        (Tailor(require={"PREEMPT_RT": "n"}), ("realtime",), "PREEMPT_RT is to be left out (asked for by name), but"),
        (Tailor(require={"PREEMPT_RT": "m"}), ("realtime",), "PREEMPT_RT is to be m (asked for by name), but realtime"),
        (Tailor(forbid=("PREEMPT_RT",)), ("usb",), ""),
        (Tailor(forbid=("PREEMPT_RT",), source="/a/tree"), ("realtime",), ""),  # says no version
    ],
)
def test_needs_and_symbols_that_exclude_each_other_are_foreseen(
    tailor: Tailor, needs: tuple[str, ...], expected: str
) -> None:
    candidate = Candidate(name="cut", title="Cut down", tailor=tailor)
    found = contradiction(candidate, needs)
    assert found.startswith(expected)
    assert bool(found) == bool(expected)
