# SPDX-License-Identifier: MIT
"""Trends of a soak: the slope of what grew as it grew, and an interval where there are segments enough."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rtqual.engine.procedure.played_log import LOG_SERIES, OCTET, log_of
from rtqual.protocols.record.schema import Record, Series
from rtqual.reports.trends import Trend, trends
from rtqual_docking.procedures.log_figures import figures
from rtqual_docking.procedures.model import Procedure
from support.analysis_records import record
from support.ground_log import Log, definition, procedure

S = 10**9
SEGMENT = """
title = "A segment"
verifies = ["MEM-010"]
soak = true
ends = "100 s"

[[step]]
at = "1 s"
times = 20
every = "5 s"
send = "HK_ONCE"
entries = [{ structure = "SYSTEM" }]
"""


def _segment(of: Procedure, memory_kib: Callable[[float], int]) -> Record:
    """`memory_kib`: at a time in s."""
    system = definition().reports["HK_SYSTEM"]
    names = [one.name for one in system.fields]
    before = sum(one.octets for one in system.fields[: names.index("memory_kib")])
    after = sum(one.octets for one in system.fields[names.index("memory_kib") + 1 :])
    log = Log(of)
    for line in range(len(log.lines) - 1):
        at_ns = log.done(line) + 300_000
        value = memory_kib(at_ns / S).to_bytes(4, "big")
        log.got(at_ns, 3, 25, bytes([system.id or 0]) + bytes(before) + value + bytes(after))
    octets = np.frombuffer(log.ended().text.encode(), np.uint8).astype(np.int64)
    return record([Series.raw(octets, name=LOG_SERIES, unit=OCTET)], instrument="procedure-segment")


def _memory(folder: Path, *segments: Callable[[float], int]) -> Trend:
    of = procedure(folder, SEGMENT, "segment")
    courses = [figures(of, log_of(_segment(of, one)), definition()).courses for one in segments]
    found = {one.name: one for one in trends((of.ends, each) for each in courses)}
    return found["memory"]


def test_a_slope_is_that_of_what_grew_and_no_interval_comes_of_few_segments(tmp_path: Path) -> None:
    trend = _memory(tmp_path, *[lambda at: 1000 + round(at)] * 3)
    assert trend.per_hour == pytest.approx(1024 * 3600, rel=0.01), "1 KiB/s"
    assert (trend.interval, trend.why_none) == (None, "3 segments; an interval needs 10")
    assert trend.said == "nobody knows"


def test_what_comes_at_a_segments_start_is_no_trend(tmp_path: Path) -> None:
    trend = _memory(tmp_path, *[lambda at: 1000 + 500 * (at > 15)] * 12)
    assert (trend.slopes, trend.interval, trend.said) == ((0.0,) * 12, (0.0, 0.0), "no trend shown")


def test_the_interval_comes_from_how_segments_differ(tmp_path: Path) -> None:
    """Steps within a segment are alike, so that each slope looks sure; together they are as likely up as down."""
    rng = np.random.default_rng(15)
    walks = [np.cumsum(rng.choice([-4, 4], 120)) for _ in range(20)]
    aimless = _memory(tmp_path, *[lambda at, walk=walk: 1000 + int(walk[int(at)]) for walk in walks])
    assert aimless.interval and aimless.interval[0] < 0 < aimless.interval[1]
    leaking = _memory(tmp_path, *[lambda at, walk=walk: 1000 + int(walk[int(at)] + 4 * at) for walk in walks])
    assert leaking.interval and leaking.interval[0] < 4 * 1024 * 3600 < leaking.interval[1]
    assert leaking.said == "grows"
