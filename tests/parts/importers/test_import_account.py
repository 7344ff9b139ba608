# SPDX-License-Identifier: MIT
"""Nothing in a file vanishes: every line is used, known to be without data, or an error that names it."""

import json
import random
import re
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest
from fuzzing import assert_sound, fuzz

from rtqual.base.errors import BadInput
from rtqual.parts.importers.detect import detect, formats
from rtqual.parts.importers.reading import Reading
from rtqual.parts.importers.records import Circumstances, import_files
from rtqual.parts.importers.source import Source

DATA = Path(__file__).parents[2] / "data" / "import"
EVERY = sorted(path for path in DATA.iterdir() if path.name != "README.md")
PUBLIC = sorted(path for path in (DATA.parent / "public").iterdir() if path.name != "README.md")
FORMAT_OF = {path: detect(path).name for path in (*EVERY, *PUBLIC)}
FUZZED = {name: [path for path, its in FORMAT_OF.items() if its == name] for name in formats()}
BY_FORMAT = {name: [path for path in EVERY if FORMAT_OF[path] == name] for name in formats()}
TEXTS = [path for path in EVERY if path.suffix == ".txt"]
TABLES = [path for path in EVERY if path.suffix in (".csv", ".parquet")]


def written(folder: Path, content: str) -> Path:
    path = folder / "file"
    path.write_text(content)
    return path


def read(path: Path, name: str | None = None) -> Sequence[Reading]:
    return (formats()[name] if name else detect(path)).read(path, None)


def problems(path: Path, name: str | None = None) -> list[str]:
    return [text for one in read(path, name) for text in one.measurement.problems]


def refusal(path: Path, name: str | None = None) -> str:
    with pytest.raises(BadInput) as caught:
        read(path, name)
    said = str(caught.value).removeprefix(str(path))
    assert said.isprintable()
    return said


# --- the mechanism ----------------------------------------------------------------------------------------------------


def test_a_reader_that_says_nothing_of_a_line_is_told(tmp_path: Path) -> None:
    source = Source(
        written(tmp_path, "nothing\n\n[    1.000000] usb: 5\n$ ls /tmp\n12:34:56\n17 3\nfigures\n17 4\nfigures\n")
    )
    with pytest.raises(BadInput, match=r":8: '17 4' is damaged"):
        for _, text in source.lines():
            if text == "figures":
                source.use()
    assert source.account.told() == (
        "1 lines used, without data: 1 a command, 1 a kernel message, 1 a time, 1 blank, 2 not understood, "
        "1 text without figures"
    )
    assert source.account.beside() == ("line 6 is not understood, and not used: '17 3'",)
    with pytest.raises(AssertionError, match="twice"):
        for _ in Source(source.path).lines():
            source.use()
            source.use()


def test_a_line_that_begins_like_a_figure_is_never_without_data(tmp_path: Path) -> None:
    source = Source(written(tmp_path, "Total: lost\n"))
    with pytest.raises(BadInput, match=":1: 'Total: lost' is damaged"):
        list(source.lines(re.compile("Total")))


def test_failures_that_a_file_reports_are_problems_of_all_its_runs(tmp_path: Path) -> None:
    text = (DATA / "hackbench.txt").read_text()
    for line in (
        "SENDER: write (error: Broken pipe)",
        "hackbench: line 3: 4711 Killed",
        "Segmentation fault (core dumped)",
        "fork() (error: Cannot allocate memory)",
    ):
        first, second = read(written(tmp_path, f"{line}\n{text}"))
        assert first.measurement.problems == second.measurement.problems
        assert first.measurement.problems[0].startswith("line 1 reports a failure: ")
    many = problems(written(tmp_path, f"{line}\n" * 30 + text))
    assert len(many) == 12 and many[5] == "25 more lines report a failure"


def test_the_record_keeps_what_became_of_the_lines(tmp_path: Path) -> None:
    (one,) = import_files([DATA / "cyclictest-quiet.txt"], tmp_path, Circumstances("flight"))
    told = one.record.manifest.provenance.facts["lines"]
    assert told == "2 lines used, without data: 1 a setting"


# --- every format -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.name)
def test_real_outputs_are_accounted_for(path: Path) -> None:
    assert assert_sound(detect(path).name, path) is not None


def figures(readings: Sequence[Reading]) -> list[object]:
    return [
        (one.instrument, dict(one.parameters), one.measurement.scalars, one.cpus,
         [(s.info, s.values.tolist(), s.counts.tolist()) for s in one.measurement.series])
        for one in readings
    ]  # fmt: skip


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
@pytest.mark.parametrize("change", ["trailing", "10^22", "negative", "letters", "cut"])
def test_a_damaged_line_is_refused_or_a_problem_or_held_no_figure(change: str, path: Path, tmp_path: Path) -> None:
    lines = path.read_text().split("\n")
    format_ = detect(path)
    whole = figures(format_.read(path, None))
    with_digits = [at for at, line in enumerate(lines) if re.search(r"\d", line)]
    rng = random.Random(change)  # noqa: S311 - not for secrets
    refused = 0
    for at in rng.sample(with_digits, min(15, len(with_digits))):
        line = lines[at]
        last = [*re.finditer(r"\d+(\.\d+)?", line)][-1]
        damaged = {
            "trailing": f"{line} 17 junk",
            "10^22": f"{line[: last.start()]}{10**22}{line[last.end() :]}",
            "negative": f"{line[: last.start()]}-{line[last.start() :]}",
            "letters": f"{line[: last.start()]}abc{line[last.end() :]}",
            "cut": line[: last.start()],
        }[change]
        if not damaged.strip():
            continue  # a line that is gone altogether
        changed = written(tmp_path, "\n".join([*lines[:at], damaged, *lines[at + 1 :]]))
        try:
            readings = format_.read(changed, None)
        except BadInput as error:
            assert str(error).startswith(f"{changed}:") and str(error).isprintable()
            refused += 1
            continue
        if not any(one.measurement.problems for one in readings):
            assert figures(readings) == whole, f"{line!r} -> {damaged!r}"
    assert refused or change == "cut"


# --- what contradicts itself ------------------------------------------------------------------------------------------


def test_threads_and_cycles_that_are_not_those_asked_for(tmp_path: Path) -> None:
    text = (DATA / "cyclictest-us.json").read_text()
    (told,) = problems(written(tmp_path, text.replace('"num_threads": 2', '"num_threads": 4')))
    assert told == "its num_threads is 4, the file has 2"
    (told,) = problems(written(tmp_path, text.replace("-l500", "-l50000")))
    assert told == "its command line asks for 50000 cycles, no thread took more than 500"
    (told,) = problems(written(tmp_path, text.replace("-t2", "-t8")))
    assert told == "its command line asks for 8 threads, the file has 2"
    quiet = (DATA / "cyclictest-quiet.txt").read_text()
    for options, said in (("-t2 -l300", []), ("-t2 -l400", ["no thread took more"]), ("-t3 -l300", ["3 threads"]),
                          ("-S -l300", []), ("-p 99 -i200", ["interval", "priority"]),
                          ("-l200", ["a thread took 300"])):  # fmt: skip
        found = problems(written(tmp_path, f"$ cyclictest -q {options}\n{quiet}"))
        assert len(found) == len(said) and all(a in b for a, b in zip(said, found, strict=True)), found
    alike = re.sub(r"I: *\d+", "I:200", quiet)
    assert ["another with the same interval" in told for told in problems(
        written(tmp_path, f"$ cyclictest -q -S -l300\n{alike}"))] == [True]  # fmt: skip


def test_a_lost_row_shows_without_a_total(tmp_path: Path) -> None:
    lines = (DATA / "cyclictest-histfile.txt").read_text().split("\n")
    lost = [line for line in lines if not line.startswith(("000034", "# Total"))]
    assert problems(written(tmp_path, "\n".join(lost)))[0] == "1 rows between the first and the last are missing"
    assert any("without a line 'Total'" in text for text in read(written(tmp_path, "\n".join(lost)))[0].untold)
    overflows = "\n".join(lines).replace("00091 00113", "00091")
    assert problems(written(tmp_path, overflows)) == ["cyclictest thread 1: 5 samples overflowed, but 4 are listed"]


def test_an_average_that_the_samples_cannot_have_shows_with_overflows_too(tmp_path: Path) -> None:
    text = (DATA / "cyclictest-summary-column.txt").read_text()
    for wrong in ("00009", "00900"):
        (told,) = problems(written(tmp_path, text.replace("# Avg Latencies: 00034", f"# Avg Latencies: {wrong}")))
        assert re.fullmatch(r"cyclictest thread 0: its average is \d+, that of its samples lies from .* to .*", told)


def test_a_run_that_a_latency_ended_is_a_reason_to_refuse(tmp_path: Path) -> None:
    text = (DATA / "cyclictest-quiet.txt").read_text() + "# Thread Ids: 13993 13994\n# Break thread: 13993\n"
    (told,) = problems(written(tmp_path, f"{text}# Break value: 26081\n"))
    assert "was ended by a latency of 26081" in told
    (told,) = problems(written(tmp_path, f"WARN: High resolution timers not available\n{text}"))
    assert "High resolution timers" in told


def test_a_last_line_without_its_end_is_a_problem_not_a_figure(tmp_path: Path) -> None:
    text = (DATA / "hackbench.txt").read_text()
    told = problems(written(tmp_path, text + "Time: 0.0"))
    assert any("the last, has no end" in one for one in told)


def test_hackbench_counts_its_tasks_and_its_runs(tmp_path: Path) -> None:
    text = (DATA / "hackbench.txt").read_text()
    assert any(
        "are not 400 tasks" in one for one in problems(written(tmp_path, text.replace("== 40 tasks", "== 400 tasks")))
    )
    lost = text.replace("Time: 0.029\n", "")
    assert set(problems(written(tmp_path, lost))) == {"the run at line 1 printed no time: it failed or was cut off"}
    (old,) = read(written(tmp_path, "Running with 10*40 (== 400) tasks.\nTime: 0.112\n"))
    assert old.parameters == {"groups": 10}


def test_stress_ngs_cpus_are_checked(tmp_path: Path) -> None:
    text = (DATA / "stress-ng.yaml").read_text()
    assert set(problems(written(tmp_path, text.replace("cpus-online: 2", "cpus-online: 1")))) == {
        "stress-ng had the time of 2 CPUs, not of the 1 it names"
    }
    assert any(
        "4 CPUs online of 2" in one for one in problems(written(tmp_path, text.replace("online: 2", "online: 4")))
    )
    for wrong in ("many", "-2", "0", "9999999", "٣"):
        assert "no number of CPUs" in refusal(
            written(tmp_path, text.replace("cpus-online: 2", f"cpus-online: {wrong}"))
        )
    with pytest.raises(BadInput, match="names 2 CPUs: leave out --cpus 4"):
        import_files([DATA / "stress-ng.yaml"], tmp_path, Circumstances("a", cpus=4))
    (wrong_rate, _) = read(written(tmp_path, text.replace("bogo-ops: 228", "bogo-ops: 2280")))
    assert "operations in" in wrong_rate.measurement.problems[0]
    assert any("below zero" in one for one in problems(written(tmp_path, text.replace("1.015627", "-1.015627"))))


def test_sysbenchs_figures_agree(tmp_path: Path) -> None:
    text = (DATA / "sysbench-1.0-histogram.txt").read_text()
    assert any("on average" in one for one in problems(written(tmp_path, text.replace("14.16", "94.16"))))
    wrong = text.replace("total number of events:              200", "total number of events:              900")
    assert any("its total is 900" in one for one in problems(written(tmp_path, wrong)))
    again = text.replace("         avg:", "         min:  0.01\n         avg:")
    assert "'min' a second time" in refusal(written(tmp_path, again))


def test_rtla_figures_twice_and_an_analysis_below(tmp_path: Path) -> None:
    text = (DATA / "rtla-timerlat.txt").read_text()
    line = next(one for one in text.split("\n") if one.startswith("over:"))
    assert ":12: 'over:' a second time" in refusal(written(tmp_path, text.replace(line, f"{line}\n{line}")))
    stopped = (
        f"{text}rtla timerlat hit stop tracing\n## CPU 3 hit stop tracing, analyzing it ##\n  IRQ delay: 11.2 us\n"
    )
    (one,) = read(written(tmp_path, stopped))
    assert one.account and one.account.skipped["rtla's analysis of what stopped it"] == 2


def test_equal_keys_do_not_swallow_each_other(tmp_path: Path) -> None:
    text = (DATA / "cyclictest-us.json").read_text()
    twice = refusal(written(tmp_path, text.replace('"21": 1,', '"21": 1,\n "21": 900,', 1)))
    assert re.match(r":\d+: 'thread/0/histogram/21' a second time", twice)
    text = (DATA / "jitterdebugger.json").read_text()
    assert "a second time" in refusal(
        written(tmp_path, text.replace('"count": 10000', '"count": 1,\n"count": 10000', 1))
    )
    escaped = text.replace('"3": 6000', '"3": 6000, "\\u0033": 7', 1)
    assert "a second time" in refusal(written(tmp_path, escaped))
    text = (DATA / "stress-ng.yaml").read_text()
    assert "a second time" in refusal(
        written(tmp_path, text.replace("bogo-ops: 228", "bogo-ops: 1\n      bogo-ops: 228"))
    )
    text = (DATA / "rteval.xml").read_text()
    assert "a CPU twice" in refusal(written(tmp_path, text.replace('core id="1"', 'core id="0"')))
    assert refusal(written(tmp_path, text.replace("<samples>6000", "<samples>1</samples><samples>6000", 1)))


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("cyclictest-us.json", '"cycles": 500,', '"cycles": 500, "missed": 3,'),
        ("jitterdebugger.json", '"count": 10000,', '"count": 10000, "lost": 7,'),
        ("stress-ng.yaml", "metrics:", "lost-metrics:\n    - stressor: cpu\nmetrics:"),
        ("rteval.xml", "<samples>6000</samples>", "<samples>6000</samples><lost>7</lost>"),
    ],
)
def test_a_value_of_an_unknown_place_is_refused_with_its_line(file: str, old: str, new: str, tmp_path: Path) -> None:
    text = (DATA / file).read_text()
    assert old in text
    assert re.match(
        r":\d+: '.*(lost|missed).*' is damaged, or of a version", refusal(written(tmp_path, text.replace(old, new, 1)))
    )


def test_lines_around_a_json_object_are_accounted_for(tmp_path: Path) -> None:
    text = (DATA / "cyclictest-us.json").read_text()
    quiet = (DATA / "cyclictest-quiet.txt").read_text()
    assert problems(written(tmp_path, quiet + text)) == []
    (one,) = read(written(tmp_path, "5 samples lost\n" + text))
    assert one.account and one.account.beside() == ("line 1 is not understood, and not used: '5 samples lost'",)


# --- hostile ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cyclictest-json", '{"thread": ' + "[" * 100_000 + "]" * 100_000 + "}"),
        ("jitterdebugger", '{"cpu": {"0": ' + '{"a":' * 50_000 + "1" + "}" * 50_002),
        ("cyclictest-json", json.dumps({"num_threads": 0}).replace("0", "9" * 6000)),
        ("stress-ng", "a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nmetrics: [*c,*c]\n"),
        ("stress-ng", "metrics: " + "[" * 20_000),
        ("stress-ng", "metrics:\n" + "- stressor: cpu\n" * 400_000),
        ("stress-ng", "metrics:\n  ? [a, b]\n  : c\n"),
        ("rteval", "<rteval>" + "<a>" * 200_000),
        ("rteval", '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><rteval>&b;</rteval>'),
        ("rteval", '<?xml version="1.0" encoding="UTF-32"?><rteval/>'),
        ("rteval", '<?xml version="1.0" encoding="none"?><rteval/>'),
        ("rteval", "<rteval><a:b/></rteval>"),
        ("cyclictest-histogram", "# Histogram\n" + "000001 " + "1 " * 3_000_000),
        ("cyclictest-histogram", "# Histogram\n000001 " + "1" * 3_000_000 + "\n"),
        ("cyclictest-verbose", "  0:" + " " * 3_000_000),
        ("cyclictest-summary", "T: 0 " + " " * 900_000 + "\n"),
        ("sysbench", "sysbench 1.0\n" + "min: " + "9" * 900_000 + "\n"),
        ("sysbench", "sysbench 1.0\n" + " " * 900_000 + "x\n"),
        ("hackbench", "Time: " + "0" * 900_000 + ".000\n"),
        ("rtla", "Index" + " IRQ-000" * 100_000 + "\n"),
    ],
)  # fmt: skip
def test_what_is_large_or_deep_is_refused_soon(name: str, content: str, tmp_path: Path) -> None:
    path = written(tmp_path, content)
    tracemalloc.start()
    assert refusal(path, name)
    peak_b = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_b < 200 * 2**20


# --- mutated ----------------------------------------------------------------------------------------------------------


@pytest.mark.guest
def test_mutated_outputs_are_read_whole_or_refused(tmp_path: Path) -> None:
    report = fuzz(1, 50 * len(FUZZED), FUZZED, tmp_path)
    for name, one in report.outcomes.items():
        assert one.detected >= 0.5 * one.inputs, f"{name}: most inputs do not reach its parser\n{report.table()}"
        assert one.refused and (one.read or name in ("parquet", "probe")), f"{name} refuses, or reads, everything"


@pytest.mark.manual
def test_a_million_mutated_outputs(tmp_path: Path) -> None:
    report = fuzz(2, 1_000_000, FUZZED, tmp_path)
    print(f"\n{report.table()}")


@pytest.mark.parametrize("large", [b"9007199254740993", b"999999999999999999"])
def test_a_number_that_no_tool_counts_to_is_refused_or_no_figure(tmp_path: Path, large: bytes) -> None:
    """In place of some numbers of each file, one at a time."""
    for name, path in ((name, path) for name, paths in FUZZED.items() if name != "parquet" for path in paths):
        data = path.read_bytes()
        numbers = list(re.finditer(rb"\d+", data))
        for number in numbers[:: max(1, len(numbers) // 5)]:
            changed = tmp_path / "changed"
            changed.write_bytes(data[: number.start()] + large + data[number.end() :])
            assert_sound(name, changed)
