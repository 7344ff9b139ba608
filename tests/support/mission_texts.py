# SPDX-License-Identifier: MIT
"""A mission file with every kind of table, mistakes to make in it, and the error that a file gives."""

from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.mission import load_mission

ROOT = Path(__file__).parents[2]
MISSIONS = sorted([*ROOT.glob("missions/*.toml"), *ROOT.glob("docking/missions/*.toml")])

GOOD = """\
[mission]
name = "test"
title = "A test"
purpose = '''
Two
lines'''
duration = "6 h"
needs = ["realtime", "usb"]

[[candidate]]
name = "rt"
title = "Debian RT"
package = "linux-image-rt-amd64"

[[candidate]]
name = "stock"
title = "Debian"
package = "linux-image-amd64"
preempt = "full"
boot = ["tsc=reliable"]

[[candidate]]
name = "here"
title = "This machine"
this-machine = true

[[requirement]]
name = "wake-up"
instrument = "cyclictest"
load = "hackbench"
statistic = "max"
at_most = "100 us"

[[requirement]]
name = "memory"
instrument = "footprint"
scalar = "ram_used"
at_most = "64 MiB"

[[requirement]]
name = "requests"
instrument = "sysbench-fileio-usb"
scalar = "requests_per_s"
at_least = 20

[[criterion]]
name = "mutex"
instrument = "sysbench-mutex"
statistic = "max-min"
weight = 3

[parameters.cyclictest]
interval = "2 ms"
cycles = 7

[scale.demo.parameters.cyclictest]
cycles = 1_000

[[scale.demo.plan]]
candidates = ["stock", "rt"]
instruments = ["cyclictest"]
loads = ["none", "hackbench"]
cpus = [1, 2]
runs = 10

[[scale.demo.plan]]
instruments = [
  "sysbench-cpu",
]
runs = 1
"""


def refusal(path: Path, content: str | bytes) -> str:
    """The error without the folder's name; one line, whatever it says."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadInput) as caught:
        load_mission(path)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert message.startswith(f"{path}:")
    return message.removeprefix(f"{path}:")


def line_of(text: str, part: str) -> int:
    assert part in text
    return text[: text.index(part)].count("\n") + 1


# What is changed in GOOD -> text whose line the error must point at, and what it must say.
MISTAKES = {
    "unknown key": (
        "duration",
        "duraton",
        "duraton",
        "mission.duraton: unknown key; did you mean 'duration'?",
    ),
    "unknown key, nothing near": (
        "duration",
        "zzz",
        "zzz",
        "unknown key; allowed: accept-virtual, duration, name, needs",
    ),
    "unknown table": ("[parameters.", "[parameter.", "[parameter.", "did you mean 'parameters'?"),
    "wrong unit": ('"6 h"', '"6 hrs"', "6 hrs", "one of ns, us, ms, s, min, h, d"),
    "no unit": (
        '"6 h"',
        "6",
        "duration",
        "mission.duration: '6' is not a duration: write a number and one of ns",
    ),
    "nothing long": ('"6 h"', '"0 h"', "duration", "write more than 0 ns"),
    "too long": ('"6 h"', f'"{"9" * 400} h"', "duration", "is too much for a duration"),
    "unknown need": (
        '"usb"',
        '"usv"',
        "needs",
        "mission.needs[1]: 'usv' is not allowed; did you mean 'usb'?",
    ),
    "need twice": ('"usb"', '"realtime"', "needs", "'realtime' is listed twice"),
    "name with blank": ('"test"', '"a test"', '"a test"', "write lower-case letters, digits and '-'"),
    "empty title": ('"A test"', '" "', "title", "mission.title: is empty"),
    "number for text": ('"A test"', "5", "title", "mission.title: 5 should be a string"),
    "same candidate": (
        '"here"',
        '"rt"',
        'name = "rt"\ntitle = "This',
        "'rt' is the name of another candidate already",
    ),
    "no source": (
        'package = "linux-image-rt-amd64"',
        "",
        "[[candidate]]",
        'write package = "linux-image-..."',
    ),
    "release of a package": (
        'package = "linux-image-rt-amd64"',
        'package = "linux-image-rt-amd64"\nrelease = "6.1.0-18-rt-amd64"',
        "release =",
        "candidate[0].release: says what this machine must run; write it beside this-machine = true",
    ),
    "preempt-rt of a package": (
        'package = "linux-image-rt-amd64"',
        'package = "linux-image-rt-amd64"\npreempt-rt = false',
        "preempt-rt =",
        "candidate[0].preempt-rt: says what this machine must run",
    ),
    "one kernel, two candidates": (
        "this-machine = true",
        'this-machine = true\nrelease = "6.1.0-18-amd64"\n\n[[candidate]]\nname = "again"\ntitle = "x"\n'
        "this-machine = true",
        '[[candidate]]\nname = "again"',
        "candidate[3]: may be the very kernel that here is; state release (or preempt-rt) for both",
    ),
    "true for a number": ("cycles = 1_000", "cycles = true", "cycles = true", "True should be a whole number"),
    "text for a number": ("cycles = 1_000", 'cycles = "7"', 'cycles = "7"', "'7' should be a whole number"),
    "a fraction for a number": ("cycles = 1_000", "cycles = 7.0", "cycles = 7.0", "7.0 should be a whole number"),
    "lists without end": (
        "cpus = [1, 2]\nruns = 10\n",
        "cpus = [1, 2, 4]\nruns = 10_000\n",
        "runs = 10_000",
        "makes 120,000 runs of this scale, with all its lists; write at most 100,000",
    ),
    "runs without end": (
        "runs = 10\n",
        "runs = 10_001\n",
        "runs = 10_001",
        "10001 should be less than or equal to 10000",
    ),
    "two sources": (
        "this-machine = true",
        'this-machine = true\npackage = "a1"',
        'package = "a1"',
        "leave it out",
    ),
    "python's spelling": ("this-machine", "this_machine", "this_machine", "did you mean 'this-machine'?"),
    "not a package": ("linux-image-rt", "-o Dir::Etc=linux", "-o Dir", "is not a Debian package name"),
    "preempt": ('"full"', '"fully"', "preempt", "did you mean 'full'?"),
    "boot with blank": ('"tsc=reliable"', '"a b"', "boot", "boot[0]: 'a b' is not one kernel parameter"),
    "unknown instrument": (
        '"cyclictest"\nload',
        '"cyclitest"\nload',
        "cyclitest",
        "requirement[0].instrument: unknown instrument 'cyclitest'; did you mean 'cyclictest'?",
    ),
    "unknown load": ('load = "hackbench"', 'load = "heckbench"', "heckbench", "did you mean 'hackbench'"),
    "unknown statistic": ('"max"', '"p98"', "p98", "did you mean 'p99' or 'p95'?"),
    "no statistic": ('statistic = "max"\n', "", "[[requirement]]", "write statistic (min, avg, max"),
    "both figures": ('"max"\n', '"max"\nscalar = "x"\n', 'scalar = "x"', "keep one of the two"),
    "no limit": ('at_most = "100 us"\n', "", "[[requirement]]", "requirement[0]: has no limit"),
    "both limits": ('"100 us"\n', '"100 us"\nat_least = "1 us"\n', "at_least", "stands beside at_most"),
    "limit without unit": ('"100 us"', "100", "at_most", "one of ns, us, ms, s, min, h, d"),
    "size for a duration": ('"100 us"', '"100 MiB"', "at_most", "one of ns, us, ms, s, min, h, d"),
    "limit in no unit": ('"64 MiB"', '"64 MiBs"', "MiBs", "a size (B, kB, MB, GB, KiB, MiB, GiB)"),
    "limit without end": ("at_least = 20", "at_least = inf", "at_least", "is not a limit"),
    "margin of nothing": (
        '"100 us"\n',
        '"100 us"\nmargin = "0 %"\n',
        "margin",
        "'0 %' is not a margin: write a duration",
    ),
    "margin in no unit": ('"100 us"\n', '"100 us"\nmargin = "5"\n', "margin", "a part, as '5 %', or a number, above 0"),
    "margin of a size": (
        '"100 us"\n',
        '"100 us"\nmargin = "1 MiB"\n',
        "margin",
        "no margin for a statistic of durations",
    ),
    "weight zero": ("weight = 3", "weight = 0", "weight", "criterion[0].weight: 0 should be greater than 0"),
    "weight nan": ("weight = 3", "weight = nan", "weight", "should be a finite number"),
    "weight text": ("weight = 3", 'weight = "3"', "weight", "should be a number"),
    "no weight": ("weight = 3\n", "", "[[criterion]]", "criterion[0].weight: is missing: Its share"),
    "parameters of nothing": (
        "[parameters.cyc",
        "[parameters.cic",
        "[parameters.cic",
        "did you mean 'cyclictest'?",
    ),
    "parameter unknown": (
        "interval",
        "intervall",
        "intervall",
        "parameters.cyclictest.intervall: unknown key; did",
    ),
    "parameter without unit": ('"2 ms"', "2000", "interval", "one of ns, us, ms, s, min, h, d"),
    "parameter too small": ('"2 ms"', '"2 ns"', "interval", "'2 ns' is not allowed; write at least 1 us"),
    "parameter uneven": ('"2 ms"', '"2001 ns"', "interval", "write a multiple of 1 us"),
    "parameter overridden": (
        "cycles = 1_000",
        "cycles = 0",
        "cycles = 0",
        "scale.demo.parameters.cyclictest.cycles: 0",
    ),
    "unknown candidate": (
        '["stock", "rt"]',
        '["stock", "rtt"]',
        "rtt",
        "unknown candidate 'rtt'; did you mean 'rt'?",
    ),
    "plan's unknown load": (
        '"hackbench"]',
        '"hackbnch"]',
        "hackbnch",
        "plan[0].loads[1]: unknown load 'hackbnch'",
    ),
    "plan's instrument": (
        '"sysbench-cpu"',
        '"sysbench"',
        '"sysbench"',
        "plan[1].instruments[0]: unknown instrument",
    ),
    "plan without candidate": (
        '["stock", "rt"]',
        "[]",
        "candidates",
        "plan[0].candidates: is empty; write at least 1",
    ),
    "auto where nothing is asked": (
        'loads = ["none", "hackbench"]\ncpus = [1, 2]\nruns = 10',
        'runs = "auto"',
        'runs = "auto"',
        "plan[0].runs: no requirement or criterion asks for cyclictest idle, so nothing says when it is decided; give",
    ),
    "auto on several CPUs": (
        'loads = ["none", "hackbench"]\ncpus = [1, 2]\nruns = 10',
        'loads = ["hackbench"]\ncpus = [1, 2]\nruns = "auto"',
        "cpus = [1, 2]",
        "plan[0].cpus: a verdict rests on one number of CPUs",
    ),
    "auto beside a number": (
        'loads = ["none", "hackbench"]\ncpus = [1, 2]\nruns = 10\n',
        'loads = ["hackbench"]\nruns = "auto"\n\n[[scale.demo.plan]]\ninstruments = ["cyclictest"]\n'
        'loads = ["hackbench"]\nruns = 5\n',
        "runs = 5",
        "plan[1].runs: another plan runs cyclictest under hackbench of",
    ),
    "auto of sizes": (
        '  "sysbench-cpu",\n]\nruns = 1',
        '  "footprint",\n]\nruns = "auto"',
        'runs = "auto"',
        "footprint reads the same off a system each time",
    ),
    "most runs of a number": (
        "runs = 10",
        "runs = 10\nmost_runs = 20",
        "most_runs = 20",
        'most_runs: needs runs = "auto" beside it',
    ),
    "most runs too few": (
        "runs = 10",
        'runs = "auto"\nmost_runs = 9',
        "most_runs = 9",
        "9 should be greater than or equal to 10",
    ),
    "no number of runs": (
        "runs = 10",
        'runs = "some"',
        'runs = "some"',
        "'some' is not a number of runs: write a whole number, or \"auto\"",
    ),
    "no runs": ("runs = 10", "runs = 0", "runs = 0", "plan[0].runs: 0 should be greater than or equal to 1"),
    "runs a truth": ("runs = 10", "runs = true", "runs = true", "True should be a whole number"),
    "three cpus": ("[1, 2]", "[1, 3]", "cpus", "cpus[1]: 3 is not allowed; allowed: 1, 2, 4"),
    "cpus a truth": ("[1, 2]", "[true, 2]", "cpus", "write 1, 2 or 4"),
    "cpus here": ("runs = 1\n", "runs = 1\ncpus = [2]\n", "cpus = [2]", "give here a plan of its own"),
    "guest's load here": ("runs = 1\n", 'runs = 1\nloads = ["wifi"]\n', '["wifi"]', "runs in a guest only"),
    "scale's name": ("scale.demo.par", "scale.Demo.par", "scale.Demo", "'Demo' is not a short name"),
    "scale without plan": (GOOD[GOOD.index("[[scale") :], "", "[scale.demo", "scale.demo.plan: is missing"),
    "beyond 64 bits": ("runs = 10", f"runs = 0x{'f' * 5000}", "runs = 0x", "plan[0].runs: is beyond 64 bits"),
    "thousands of digits": ("runs = 10", f"runs = {'9' * 5000}", "runs = 1\n", "not TOML"),
    "syntax": ("[[criterion]]", "[[criterion]", "[[criterion]", "not TOML: Expected ']]'"),
    "key twice": ('title = "Debian"', 'name = "x"', 'name = "x"', "not TOML: Cannot overwrite a value"),
    "deep": ("needs = ", f"needs = {'[' * 40}{']' * 40} #", "[mission]", "nested deeper than 16 levels"),
    "very deep": (
        "needs = ",
        f"needs = {'[' * 9000}{']' * 9000} #",
        "[mission]",
        "nested deeper than 16 levels",
    ),
    "deep by dots": ("name = ", f"{'a.' * 2000}name = ", "[mission]", "nested deeper than 16 levels"),
}
