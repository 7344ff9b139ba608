# SPDX-License-Identifier: MIT
"""rteval's report (summary.xml): cyclictest or timerlat under rteval's own loads, a histogram a CPU.

Its "system" entry pools all CPUs and is not read. It keeps only what fell into cyclictest's bins but the largest
latency of all, and it adds timerlat's IRQ, thread and user latencies into one histogram, which nothing can undo.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

from rtqual.parts.importers import invocation
from rtqual.parts.importers.file_account import bad
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.placed_values import KnownPlaces, xml_values
from rtqual.parts.importers.reading import UNITS_NS, Reading, resolution
from rtqual.parts.importers.source import Source
from rtqual.parts.importers.tally import LARGEST, Tally
from rtqual.protocols.record.schema import Measurement

_STOPS = ("abort_report", "stoptrace_report")
_SUMS = "rteval adds timerlat's IRQ, thread and user latencies into one histogram: it is none of them"
UNTOLD = (
    "the order of the samples: how they depend on each other and drift cannot be judged",
    "how many samples overflowed the histogram: rteval leaves them out",
)


_STATISTICS = ("samples", "minimum", "maximum", "mean")
_OTHER_STATISTICS = ("median", "mode", "range", "mean_absolute_deviation", "standard_deviation")
_TOOLS = [f"rteval/Measurements/{profile}{tool}" for profile in ("", "Profile/") for tool in ("cyclictest", "timerlat")]
_KNOWN = KnownPlaces(
    used=(
        *("rteval/@version/*", "rteval/run_info/**", "rteval/loads/command_line/**", "rteval/SystemInfo/**"),
        *("rteval/uname/**", "rteval/cmdline/**", "rteval/clocksource/**"),
        *(f"{tool}/{rest}" for tool in _TOOLS for rest in (
            "@command_line/*", "core/@id/*", "core/histogram/bucket/@index/*", "core/histogram/bucket/@value/*",
            "abort_report/**", "stoptrace_report/**", "max_timerlat_report/**", "stoptrace_invoked/**",
            *(f"core/statistics/{name}/**" for name in _STATISTICS),
        )),
    ),
    without_data={
        **{f"{tool}/system/**": "all CPUs together" for tool in _TOOLS},
        **{f"{tool}/core/@priority/*": "a setting" for tool in _TOOLS},
        **{f"{tool}/core/histogram/@nbuckets/*": "a setting" for tool in _TOOLS},
        **{f"{tool}/timestamps/**": "a time" for tool in _TOOLS},
        **{f"{tool}/core/statistics/{name}/**": "a figure that follows from the histogram"
           for tool in _TOOLS for name in _OTHER_STATISTICS},
        "rteval/Measurements/@*/*": "a setting",
        "rteval/Measurements/Profile/@*/*": "a setting",
        **{f"rteval/Measurements/{profile}{name}/**": "another measurement, which is not read"
           for profile in ("", "Profile/") for name in ("hwlatdetect", "sysstat", "cpupower", "hwlat")},
        "rteval/loads/**": "the loads",
        "rteval/clone_run/**": "the machine",
        "rteval/hardware/**": "the machine",
        "rteval/network_config/**": "the machine",
    },
)  # fmt: skip


def read(source: Source, _unit: str | None) -> list[Reading]:
    path = source.path
    text = source.whole_text()
    try:
        values = xml_values(source, text)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise bad(path, error.lineno, f"not XML ({what}): give the whole summary.xml") from None
    try:
        root = ET.fromstring(text.encode(), ET.XMLParser(encoding="utf-8"))  # noqa: S314 xml_values() refused entities
    except ET.ParseError as error:  # of names with a prefix
        raise bad(path, error.position[0], f"not XML ({error.msg.split(':')[0]}): give the whole summary.xml") from None
    found = [(tool, node) for tool in ("cyclictest", "timerlat") for node in root.iter(tool)]
    if root.tag != "rteval" or not found:
        raise bad(path, 1, "no measurement by cyclictest or timerlat in it: give rteval's summary.xml")
    _KNOWN.account(source, values)
    return [_reading(path, root, tool, node) for tool, node in found]


def _reading(path: Path, root: ET.Element, tool: str, node: ET.Element) -> Reading:
    cores = list(_cores(path, node))
    tallies = dict(cores)
    if len(tallies) < len(cores):
        raise bad(path, None, f"{tool} has a CPU twice: the file is damaged; give the whole file")
    if not tallies:
        raise bad(
            path,
            None,
            f"rteval kept no figures of {tool}: a latency beyond its buckets makes it drop them all; run it with more",
        )
    unit_ns = UNITS_NS["us"]
    series = tuple(tally.series("latency", unit_ns, cpu) for cpu, tally in sorted(tallies.items()))
    problems = [f"{tool} on CPU {cpu}: {text}" for cpu, tally in tallies.items() for text in tally.problems()]
    command = invocation.parse(node.get("command_line") or "") if tool == "cyclictest" else None
    loads = [load.get("name", "") for load in root.iter("command_line") if load.get("run", "1") == "1"]
    if command:
        problems += command.contradictions([tally.binned for tally in tallies.values()])
    if [element for name in _STOPS for element in node.iter(name)]:
        problems.append(f"{tool} was stopped by a latency beyond its limit")
    stopped = [element.get("reason") or "unknown reason" for element in node.iter("abort_report")]
    return Reading(
        instrument="cyclictest" if tool == "cyclictest" else "rteval-timerlat",
        measurement=Measurement(series, resolution(unit_ns), (*problems, *((_SUMS,) if tool == "timerlat" else ()))),
        parameters=command.parameters if command else {},
        programs={"rteval": root.get("version", "")} if root.get("version") else {},
        command=tuple((node.get("command_line") or "").split()),
        cpus=len(tallies),
        load="+".join(["rteval", *filter(None, loads)]),
        started=" ".join(filter(None, (_text(root, "run_info/date"), _text(root, "run_info/time")))) or None,
        wall_s=_wall_s(root),
        kernel=_text(root, ".//uname/kernel"),
        kernel_cmdline=_text(root, ".//cmdline"),
        clocksource=_text(root, ".//ClockSource/source[@current='1']") or _text(root, "clocksource/current"),
        facts={"aborted": ", ".join(stopped)} if stopped else {},
        untold=UNTOLD,
    )


def _cores(path: Path, node: ET.Element) -> Iterator[tuple[int, Tally]]:
    for core in node.iter("core"):
        cpu = _whole(path, core.get("id"), "a core's id")
        counts: dict[int, int] = {}
        for bucket in core.iter("bucket"):
            index = _whole(path, bucket.get("index"), "a bucket's index")
            if index in counts:
                raise bad(path, None, f"bucket {index} of CPU {cpu} twice: the file is damaged; give the whole file")
            counts[index] = _whole(path, bucket.get("value"), "a bucket's value")
        samples = _whole(path, _text(core, "statistics/samples"), "a core's samples")
        if samples == 0 and not any(counts.values()):
            yield cpu, Tally({})
            continue
        low, high = (
            _whole(path, _text(core, f"statistics/{name}"), f"a core's {name}") for name in ("minimum", "maximum")
        )
        last = max((index for index, count in counts.items() if count), default=0)
        # The largest latency is cyclictest's own; equal to the last bucket, nothing overflowed.
        overflow = 0 if high <= last else None
        yield cpu, Tally(counts, binned=samples, overflow=overflow, low=low, avg=_mean(core), high=high)


def _mean(core: ET.Element) -> float | None:
    try:
        mean = float(_text(core, "statistics/mean") or "")
    except ValueError:
        return None
    return mean if 0 <= mean < LARGEST else None


def _wall_s(root: ET.Element) -> float | None:
    info = root.find("run_info")
    parts = [info.get(name, "") for name in ("days", "hours", "minutes", "seconds")] if info is not None else []
    if not parts or not all(part.isdecimal() and len(part) < 8 for part in parts):
        return None
    days, hours, minutes, seconds = map(int, parts)
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def _text(node: ET.Element, where: str) -> str | None:
    all_found = node.findall(where)
    if not all_found or (len(all_found) > 1 and where.startswith("statistics/")):
        return None  # a figure that is there twice is none
    return (all_found[0].text or "").strip() or None


def _whole(path: Path, text: str | None, what: str) -> int:
    if text is None or not (text.isascii() and text.isdigit()) or int(text[:17]) >= LARGEST or len(text) > 16:
        raise bad(path, None, f"{what} is {(text or 'missing')[:40]!r}: the file is damaged; give the whole file")
    return int(text)


FORMAT = Format("rteval", "rteval's summary.xml", mark(r"<rteval[\s>]"), read)
