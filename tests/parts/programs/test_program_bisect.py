# SPDX-License-Identifier: MIT
"""A program's figure, bisected: a statistic is one series' own."""

import pytest

from rtqual.base.errors import BadInput
from rtqual.parts.bisect.ends import figure
from rtqual.protocols.record.schema import Measurement, Scalar, Series
from support.store_records import record


def test_a_statistic_is_of_one_series() -> None:
    some = Series.raw([8_000, 9_000], name="control response"), Series.raw([1, 2], name="control start")
    run = record(Measurement(some, {"control missed": Scalar(value=3, unit="1")}))
    told = ("max", "control response max", "control start max", "control missed")
    drawn = [figure(run, name) for name in told]
    assert [(one.value, one.unit, one.samples) for one in drawn] == [
        (9_000, "ns", 2), (9_000, "ns", 2), (2, "ns", 2), (3, "1", 1),
    ]  # fmt: skip
    for name in ("control late max", "p44", "control"):
        with pytest.raises(BadInput, match=f"--statistic {name}: not of a run of"):
            figure(run, name)
