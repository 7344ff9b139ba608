# SPDX-License-Identifier: MIT
"""Lines that cyclictest prints beside its figures, whichever of its outputs is read."""

import re

from rtqual.parts.importers import invocation
from rtqual.parts.importers.source import Source

# How its lines of figures begin: what begins so and is none of them is damaged.
OWN = re.compile(
    r"\s*(T:|(?!\d\d:\d\d:\d\d(\s*$| up ))\d+:\s*\d|"
    r"\d{6,}\s|#\s*(Total|Min Lat|Avg Lat|Max Lat|Histogram Overflows|Thread\s+\d+:))",
    re.ASCII | re.IGNORECASE,
)
HISTOGRAM = re.compile(
    r"\s*(\d{6,9}(\s+\d{1,18})+|#\s*Histogram( Overflow at cycle number:)?|"
    r"#\s*(Total|(Min|Avg|Max) Latencies|Histogram Overflows):(\s+\d{1,18})*|"
    r"#\s*Thread \d{1,4}:[ \d]*(#\s*\d+ others)?)\s*",
    re.ASCII,
)
_SETTINGS = re.compile(
    r"\s*(#?.*/dev/cpu_dma_latency set to \d+\s*us|policy: [\w/]+:? loadavg: [\d./ ]+|(Max|Online) CPUs = \d+|"
    r"Thread \d+ Interval: \d+|# Thread Ids:( \d+)+|(?:INFO|DEBUG): .*|"
    r"# Histogram|# Histogram Overflow at cycle number:)\s*",
    re.ASCII | re.IGNORECASE,
)
_SPIKE = re.compile(r"\s*(T: \d{1,4} Spike:\s*\d+: TS:\s*\d+|spikes = \d+)\s*", re.ASCII)
_BREAK = re.compile(r"\s*# Break (thread|value): (\d{1,18})\s*", re.ASCII)


def take_from(source: Source, number: int, text: str) -> None:
    """The same of a line that was not asked for one by one."""
    with source.line(number, text, OWN):
        take(source, number, text)


def take(source: Source, number: int, text: str) -> None:
    """A line of no figures: skipped where it is one of these; a command line is kept for the run below it."""
    if "cyclictest" in text and invocation.find(text):
        source.command(text)
    elif _SETTINGS.fullmatch(text):
        source.skip("a setting")
    elif _SPIKE.fullmatch(text):
        source.skip("a spike, which the maximum holds")
    elif match := _BREAK.fullmatch(text):
        source.use()
        if match[1] == "value":
            source.account.fail(f"line {number}: it was ended by a latency of {match[2]} (-b)")
