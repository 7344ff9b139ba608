# SPDX-License-Identifier: MIT
"""The mission file: what is accepted, where errors point, that bad input gives nothing but BadInput."""

import re
import tomllib
from pathlib import Path

import jsonschema
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rtqual.base.errors import BadInput
from rtqual.base.units import AS_WRITTEN
from rtqual.instrument.registry import INSTRUMENTS
from rtqual.load.registry import LOADS
from rtqual.mission import Mission, Need, load_mission, mission_schema
from rtqual.mission.toml_lines import KeyPath, key_lines

MISSIONS = sorted((Path(__file__).parents[2] / "missions").glob("*.toml"))
MEASURED = [path for path in MISSIONS if path.stem != "aarest-study"]  # its candidates are published: nothing runs

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


@pytest.fixture
def mission_file(tmp_path: Path) -> Path:
    return tmp_path / "mission.toml"


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


def test_reads_every_key(mission_file: Path) -> None:
    mission_file.write_text(GOOD)
    mission = load_mission(mission_file)
    assert mission.path == mission_file
    assert re.fullmatch("[0-9a-f]{64}", mission.sha256)
    assert mission.mission.duration == 6 * 3600 * 10**9
    assert mission.mission.purpose == "Two lines"
    assert mission.mission.needs == (Need.REALTIME, Need.USB)
    rt, stock, here = mission.candidates
    assert (rt.package, rt.preempt, rt.boot, rt.this_machine) == ("linux-image-rt-amd64", None, (), False)
    assert (stock.preempt, stock.boot) == ("full", ("tsc=reliable",))
    assert here.this_machine and here.package is None
    limits = [(r.limit.value, r.limit.unit, r.limit.text) for r in mission.requirements]
    assert limits == [(100_000, "ns", "100 us"), (64 * 2**20, "B", "64 MiB"), (20, None, "20")]
    assert (mission.criteria[0].load, mission.criteria[0].weight, mission.criteria[0].better) == (
        "none",
        3,
        "lower",
    )
    first, second = mission.scale().plan
    assert [c.name for c in mission.candidates_of(first)] == ["rt", "stock"]
    assert [c.name for c in mission.candidates_of(second)] == ["rt", "stock", "here"]
    assert (second.loads, second.cpus, second.runs) == (("none",), (1,), 1)


def test_parameters_of_the_scale_win(mission_file: Path) -> None:
    mission_file.write_text(GOOD)
    mission = load_mission(mission_file)
    assert mission.parameters_for("demo", "cyclictest") == {"interval": "2 ms", "cycles": 1000}
    assert mission.parameters_for("demo", "sysbench-cpu") == {}
    with pytest.raises(BadInput, match="no scale 'dmo'; did you mean 'demo'"):
        mission.parameters_for("dmo", "cyclictest")


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
    "unknown load": ('load = "hackbench"', 'load = "heckbench"', "heckbench", "did you mean 'hackbench'?"),
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

# A key under a wrong name is missing under its own.
CAUSES_MORE = {"unknown key", "unknown key, nothing near", "scale's name"}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_error_points_at_its_line(mission_file: Path, mistake: str) -> None:
    old, new, at, says = MISTAKES[mistake]
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    line, _, message = refusal(mission_file, text).partition(": ")
    assert says in message
    assert int(line) == line_of(text, at)
    assert "more error" not in message or mistake in CAUSES_MORE


def test_first_of_several_errors(mission_file: Path) -> None:
    text = GOOD.replace("weight = 3", "weight = 0").replace('"usb"', '"usv"').replace("runs = 1\n", "runs = 0\n")
    assert refusal(mission_file, text).startswith(f"{line_of(text, 'usv')}: mission.needs[1]: ")
    assert refusal(mission_file, text).endswith("(and 2 more errors)")


def test_single_table_where_a_list_of_tables_is_wanted(mission_file: Path) -> None:
    text = GOOD[: GOOD.index("[[candidate]]")] + "[candidate]\n" + GOOD[GOOD.index("[[requirement]]") :]
    message = refusal(mission_file, text)
    assert message.startswith(f"{line_of(text, '[candidate]')}: candidate: is one table")
    assert "write [[candidate]]" in message


def test_no_candidate(mission_file: Path) -> None:
    text = GOOD[: GOOD.index("[[candidate]]")] + GOOD[GOOD.index("[[requirement]]") :]
    assert "candidate: is missing: The systems to choose from, one [[candidate]] each" in refusal(mission_file, text)
    assert "candidate: is empty; write at least 1" in refusal(mission_file, "candidate = []\n" + text)


@pytest.mark.parametrize("content", ["", "\n\n", "# only a comment\n"])
def test_empty_file(mission_file: Path, content: str) -> None:
    assert refusal(mission_file, content).startswith("1: is empty; a mission has [mission], [[candidate]]")


def test_not_utf8(mission_file: Path) -> None:
    assert refusal(mission_file, GOOD.encode() + b"\xff").startswith(f"{GOOD.count(chr(10)) + 1}: not UTF-8")


def test_not_a_mission_file(tmp_path: Path) -> None:
    for path, says in (
        (tmp_path / "missing.toml", "cannot be read: No such file"),
        (tmp_path, "cannot be read: Is a directory"),
        (tmp_path / "zero\0byte", "cannot be read: embedded null byte"),
        (Path("/dev/zero"), "larger than 131072 bytes"),
    ):
        with pytest.raises(BadInput, match=says):
            load_mission(path)


def test_requirement_that_no_plan_measures_is_legitimate(mission_file: Path) -> None:
    mission_file.write_text(GOOD.replace('load = "hackbench"', 'load = "stress-io"'))
    assert load_mission(mission_file).requirements[0].load == "stress-io"


def test_windows_line_ends(mission_file: Path) -> None:
    text = GOOD.replace("weight = 3", "weight = 0").replace("\n", "\r\n")
    assert refusal(mission_file, text).startswith(f"{line_of(text, 'weight')}: criterion[0].weight")


def test_model_built_in_python() -> None:
    """Without the file, under Python's names and with integers for durations."""
    data = tomllib.loads(GOOD)
    by_name = {
        "candidate": "candidates",
        "requirement": "requirements",
        "criterion": "criteria",
        "scale": "scales",
    }
    mission = Mission(**{by_name.get(key, key): value for key, value in data.items()})
    assert mission.sha256 == "" and mission.path is None
    assert Mission.model_validate({**data, "mission": {**data["mission"], "duration": 5}}).mission.duration == 5


@pytest.mark.parametrize("path", MEASURED, ids=lambda path: path.stem)
def test_missions_of_the_project(path: Path) -> None:
    mission = load_mission(path)
    assert mission.mission.name == path.stem
    selected = path.stem != "docking-arm64"  # which is there to be tailored
    assert ({"demo", "full"} if selected else {"tailor"}) <= mission.scales.keys()
    shortest = "demo" if selected else "tailor"
    measured = {(i, load) for plan in mission.scale(shortest).plan for i in plan.instruments for load in plan.loads}
    for figure in (*mission.requirements, *mission.criteria):
        assert (figure.instrument, figure.load) in measured, f"{figure.name} is not measured at scale {shortest}"
    for scale in mission.scales:
        for name, instrument in INSTRUMENTS.items():
            instrument.parameters.model_validate(mission.parameters_for(scale, name), context=AS_WRITTEN)


def test_docking_mission_follows_the_study() -> None:
    mission = load_mission(next(path for path in MISSIONS if path.stem == "docking"))
    assert [n.value for n in mission.mission.needs] == [
        "realtime",
        "usb",
        "usb-storage",
        "wifi",
        "depth-camera",
    ]
    wake_up = mission.requirements[0]
    assert (wake_up.instrument, wake_up.load, wake_up.statistic) == ("cyclictest", "hackbench", "max")
    assert wake_up.limit.value == 100_000
    weights = {(c.instrument, c.statistic): c.weight for c in mission.criteria}
    mutex = min(weights["sysbench-mutex", "max-min"], weights["sysbench-mutex", "p95-avg"])
    second = [weights[i, s] for i in ("sysbench-threads", "sysbench-fileio-usb") for s in ("max-min", "p95-avg")]
    others = [w for (i, s), w in weights.items() if (i, s) != ("sysbench-mutex", "avg") and w not in (mutex, *second)]
    assert mutex > max(second) and min(second) > max(others)
    assert weights["sysbench-mutex", "avg"] < mutex  # stability before speed
    full = mission.scale("full").plan
    assert set(full[0].loads) == set(LOADS) and full[0].cpus == (1, 2, 4) and full[0].runs == 30
    others = {"timerlat", "osnoise", "exercise"}
    of_the_study = {name for name in INSTRUMENTS if not name.startswith(("probe-", "lidar-"))} - others
    assert {i for plan in full for i in plan.instruments} == of_the_study


def test_a_margin_is_a_quantity_or_a_part(mission_file: Path) -> None:
    def margin(written: str) -> tuple[float, str | None]:
        mission_file.write_text(GOOD.replace('at_most = "100 us"', f'at_most = "100 us"\nmargin = {written}', 1))
        found = load_mission(mission_file).requirements[0].margin
        assert found is not None
        return found.value, found.unit

    assert margin('"2 us"') == (2_000, "ns")
    assert margin('" 2.5 % "') == (2.5, "%")


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = mission_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("path", MISSIONS, ids=lambda path: path.stem)
def test_schema_accepts_the_missions(validator: jsonschema.Draft202012Validator, path: Path) -> None:
    assert list(validator.iter_errors(tomllib.loads(path.read_text()))) == []


def test_schema_accepts_every_key(validator: jsonschema.Draft202012Validator) -> None:
    assert list(validator.iter_errors(tomllib.loads(GOOD))) == []


# What a JSON Schema cannot say is left to load_mission.
BEYOND_SCHEMA = {
    "same candidate",
    "too long",
    "empty title",
    "nothing long",
    "need twice",
    "unknown candidate",
}
BEYOND_SCHEMA |= {
    "limit without unit",
    "size for a duration",
    "limit in no unit",
    "limit without end",
    "margin of nothing",
    "margin in no unit",
    "margin of a size",
    "weight nan",
}
BEYOND_SCHEMA |= {
    "parameter too small",
    "parameter uneven",
    "cpus here",
    "guest's load here",
    "beyond 64 bits",
}
BEYOND_SCHEMA |= {"thousands of digits", "syntax", "key twice", "very deep"}


@pytest.mark.parametrize("mistake", sorted(MISTAKES.keys() - BEYOND_SCHEMA))
def test_schema_refuses_what_load_mission_refuses(validator: jsonschema.Draft202012Validator, mistake: str) -> None:
    old, new, _, _ = MISTAKES[mistake]
    assert list(validator.iter_errors(tomllib.loads(GOOD.replace(old, new, 1))))


def test_schema_describes_every_key_of_the_mission() -> None:
    schema = mission_schema()
    tables = {"Mission": schema, **schema["$defs"]}
    for name in ("Mission", "Header", "Candidate", "Requirement", "Criterion", "Scale", "Plan"):
        for key, node in tables[name]["properties"].items():
            referred = tables.get(node.get("$ref", "").removeprefix("#/$defs/"), {})
            assert node.get("description") or referred.get("description"), f"{name}.{key}"


def test_least_mission_of_the_reference_loads(mission_file: Path) -> None:
    reference = (Path(__file__).parents[2] / "docs" / "mission.md").read_text()
    mission_file.write_text(reference.partition("```toml\n")[2].partition("```")[0])
    assert load_mission(mission_file).mission.name == "docking"


def test_reference_names_every_key() -> None:
    reference = (Path(__file__).parents[2] / "docs" / "mission.md").read_text()
    schema = mission_schema()
    tables = [schema, *(node for node in schema["$defs"].values() if "properties" in node)]
    written = {key for table in tables for key in table["properties"]}
    written |= {value for node in schema["$defs"].values() for value in node.get("enum", [])}
    assert not {name for name in written | set(LOADS) if f"`{name}`" not in reference}


# --- arbitrary input: a Mission or BadInput, never anything else ---


def load_or_refuse(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    try:
        mission = load_mission(path)
    except BadInput as error:
        assert len(str(error).splitlines()) == 1
    else:
        assert mission.candidates


@pytest.fixture(scope="module")
def fuzz_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "mission.toml"


@settings(max_examples=200, deadline=None)
@given(content=st.binary(max_size=200))
@example(content=b"\xef\xbb\xbf[mission]\n")
@example(content=b'"\\u2028" = 1')
@example(content=b"mission = 1979-05-27")
def test_arbitrary_bytes(fuzz_file: Path, content: bytes) -> None:
    load_or_refuse(fuzz_file, content)


LINES = GOOD.splitlines(keepends=True)
VALUES = [
    "",
    "0",
    "-1",
    "nan",
    "true",
    '""',
    '"0 s"',
    "[]",
    "[[]]",
    "{}",
    "{x=1}",
    "1979-05-27",
    "'''\n\n'''",
    "0x1F",
]
NAMES = [
    "name",
    "a.b",
    '"[key]"',
    '""',
    '"\\n"',
    "this-machine",
    "[mission]",
    "[[scale]]",
    "[[mission.needs]]",
    "[x",
]


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_mutated_missions(fuzz_file: Path, data: st.DataObject) -> None:
    lines = list(LINES)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(lines) - 1))
        key, equals, value = lines[at].partition("=")
        change = data.draw(st.sampled_from(["drop", "double", "swap", "value", "name", "cut"]))
        other = data.draw(st.integers(0, len(lines) - 1))
        if change == "drop":
            lines[at] = ""
        elif change == "double":
            lines[at] *= 2
        elif change == "swap":
            lines[at], lines[other] = lines[other], lines[at]
        elif change == "value":
            lines[at] = f"{key}={data.draw(st.sampled_from(VALUES))}\n"
        elif change == "name":
            lines[at] = f"{data.draw(st.sampled_from(NAMES))}{equals}{value}\n"
        else:
            lines[at] = lines[at][: data.draw(st.integers(0, len(lines[at])))]
    load_or_refuse(fuzz_file, "".join(lines).encode())


def paths_in(value: object, path: KeyPath = ()) -> set[KeyPath]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {path} | {deeper for key, one in inner for deeper in paths_in(one, (*path, key))}


def test_every_key_is_found() -> None:
    tricky = """\
a = 1.5 # = [
"b.c".'d]' = \"\"\"
x = 1\"y\"\"\\"
\"\"\"\"\"
e = [ 1, # [
 "]", {x = 1979-05-27 07:32:00, y.z=[]}, [
 '''
 ]''']
]
[[k.m]]
n = ''
[ k . m . o ]
p = -1e5
[[k.m]]
[[k.m.q]]
[[k.m.q]]
r = inf
[k.s]
"""
    lines = key_lines(tricky)
    assert lines.keys() | {()} == paths_in(tomllib.loads(tricky))
    expected: dict[KeyPath, int] = {
        ("b.c", "d]"): 2,
        ("e",): 5,
        ("e", 2, "y", "z"): 6,
        ("e", 3, 0): 7,
        ("k", "m", 0, "o", "p"): 13,
        ("k", "m", 1): 14,
        ("k", "m", 1, "q", 1, "r"): 17,
        ("k", "s"): 18,
    }
    assert {path: lines[path] for path in expected} == expected


KEYS = st.sampled_from(["a", "b-1", '"a.b"', "'c]'", '"\\t"', "a.b", "1.2", '"#"', "'='"])
SCALARS = st.sampled_from(
    ["1", "1.5", '"]"', "'}'", '"\\"["', "''", '""', "'''\n#'''", '"""a""\n"""', "07:32:00", "nan"]
)
TOML_VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[ #[\n" + "\n,".join(items) + "\n]"),
        st.tuples(KEYS, inner).map(lambda pair: f"{{ {pair[0]} = {pair[1]} }}"),
    ),
    max_leaves=6,
)
STATEMENTS = st.one_of(
    st.tuples(KEYS, TOML_VALUES).map(lambda pair: f"{pair[0]} = {pair[1]}"),
    KEYS.map(lambda key: f"[{key}]"),
    KEYS.map(lambda key: f"[[ {key} ]] # ="),
    st.just(""),
)


@settings(max_examples=300, deadline=None)
@given(statements=st.lists(STATEMENTS, max_size=8))
def test_whatever_tomllib_accepts_is_found(statements: list[str]) -> None:
    text = "\n".join(statements)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    lines = key_lines(text)
    assert lines.keys() | {()} == paths_in(document)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())
