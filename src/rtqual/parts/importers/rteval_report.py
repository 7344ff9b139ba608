# SPDX-License-Identifier: MIT
"""rteval's report, as it prints it: of cyclictest's samples a few figures a core. Its summary.xml has all of them.

    CPU core 0       Priority: 95
    Statistics:
      Samples:           6005785
      Mean:              5.122747817312807us
      Median:            0.0us

The median is left out (rteval 3 prints 0.0 of an even number of samples), the sum over all cores checked against them.
"""

import re
from dataclasses import dataclass, field

from rtqual.parts.importers import invocation
from rtqual.parts.importers.file_account import Above, bad, one_line
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import Reading, resolution, summary
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Measurement

_TITLE = re.compile(r"\s*rteval \(v(\d[\w.+-]{0,20})\) report\s*", re.ASCII)
_FACT = re.compile(
    r"\s*(Test run|Run time|Tested node|Model|BIOS version|CPU cores|NUMA Nodes|Memory|Kernel|Base OS|Architecture|"
    r"Clocksource|Available|Load average|Cmdline|Started|Stopped|Command): +(\S.{0,2000}?)\s*"
)
_PART = re.compile(r"\s*(?:(System):|CPU core (\d{1,5}) +Priority: (\d{1,3}))\s*", re.ASCII)
_FIGURE = re.compile(
    r"\s*(Samples|Mean|Min|Max|Std\.dev|Median|Mode|Range|Mean Absolute Dev): +(\d{1,15}(?:\.\d{1,20})?(?:e-\d{1,2})?)"
    r"(us)?\s*",
    re.ASCII,
)
_LOAD = re.compile(r"\s*- (\w{1,40}): \S.*", re.ASCII)
_SETTING = re.compile(
    r"\s*(={5,}|-{5,}|Statistics:|System load:|Executed loads:|Measurement profile .*|Latency test|\*\* .* \*\*|"
    r"\[(?:INFO|DEBUG|WARN)\].*|got system topology: .*|rteval run on .* started at .*|(?:started|stopping) .*|"
    r"Run duration: .*)\s*"
)
_NAMES = {"Samples": "n", "Mean": "avg", "Min": "min", "Max": "max", "Std.dev": "std"}


@dataclass
class _Part:
    cpu: int | None
    priority: int | None
    figures: dict[str, float] = field(default_factory=dict)


def read(source: Source, _unit: str | None) -> list[Reading]:
    above, version, facts, loads = Above(), "", dict[str, str](), list[str]()
    parts: list[_Part] = []
    for number, line in source.lines(re.compile(r"\s*(Samples|Mean|Min|Max|CPU core \d)\b.*:")):
        if match := _TITLE.fullmatch(line):
            if version:
                raise bad(source.path, number, "a second report: give each a file of its own")
            version, above = match[1], source.begin()
        elif (match := _PART.fullmatch(line)) and version:
            parts.append(_Part(int(match[2]) if match[2] else None, int(match[3]) if match[3] else None))
            source.use()
        elif parts and (match := _FIGURE.fullmatch(line)):
            name = _NAMES.get(match[1])
            if name is None:
                source.skip("a figure that is not read: median, mode, range")
                continue
            if name in parts[-1].figures:
                raise bad(source.path, number, f"{match[1]!r} a second time for one core: the report is damaged")
            parts[-1].figures[name] = float(match[2])
            source.use()
        elif (match := _FACT.fullmatch(line)) and version:
            facts.setdefault(match[1], match[2])
            source.skip("a setting")
        elif match := _LOAD.fullmatch(line):
            loads.append(match[1])
            source.skip("a load")
        elif _SETTING.fullmatch(line):
            source.skip("a setting")
    cores = [part for part in parts if part.cpu is not None]
    if not cores or any({"n", "avg", "min", "max"} - part.figures.keys() for part in cores):
        raise bad(source.path, None, "not 'Samples:', 'Mean:', 'Min:' and 'Max:' of each core: give the whole report")
    if len({part.cpu for part in cores}) < len(cores):
        raise bad(source.path, None, "a core a second time: the report is damaged; give each run a file of its own")
    return [_reading(parts, version, facts, loads, above)]


def _reading(parts: list[_Part], version: str, facts: dict[str, str], loads: list[str], above: Above) -> Reading:
    cores = [part for part in parts if part.cpu is not None]
    problems = [f"core {part.cpu}: its minimum, average and maximum are not in order" for part in cores
                if not part.figures["min"] - 1 < part.figures["avg"] < part.figures["max"] + 1]  # fmt: skip
    told = sum(part.figures.get("n", 0) for part in parts if part.cpu is None)
    held = sum(part.figures["n"] for part in cores)
    if told and told != held:
        problems.append(f"its cores have {held:.0f} samples, all of them together {told:.0f}: cores are missing")
    command = invocation.parse(facts.get("Command", ""))
    priorities = {part.priority for part in cores}
    return Reading(
        instrument="cyclictest",
        measurement=Measurement(
            tuple(summary("latency", part.cpu, 1_000, **part.figures) for part in cores),
            resolution(1_000),
            tuple(problems),
        ),
        parameters={**({"priority": priorities.pop()} if len(priorities) == 1 else {}),
                    **(command.parameters if command else {})},
        programs={"rteval": version},
        command=command.argv if command else (),
        cpus=len(cores),
        load="+".join(["rteval", *dict.fromkeys(loads)]) if loads else None,
        started=facts.get("Test run"),
        kernel=one_line(facts["Kernel"].split()[0]) if "Kernel" in facts else None,
        kernel_cmdline=facts.get("Cmdline"),
        clocksource=facts.get("Clocksource"),
        facts={"machine": one_line(facts["Model"])} if "Model" in facts else {},
        untold=("percentiles: rteval's summary.xml, which lies beside its report, has every sample",),
        above=above,
    )  # fmt: skip


FORMAT = Format("rteval-report", "rteval's report", mark(r"^\s*rteval \(v[\w.+-]+\) report"), read)
