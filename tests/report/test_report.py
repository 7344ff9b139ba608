# SPDX-License-Identifier: MIT
"""The report: what it holds, that hostile text stays text, and that equal inputs give equal bytes."""

import json
import re
import time
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from markdown_it import MarkdownIt

from rtqual.analysis.difference.model import Comparison
from rtqual.analysis.figure.model import Distribution, Figure, Group, Interval, Summary
from rtqual.analysis.model import Evidence
from rtqual.analysis.verdict.model import Gate, Ground, Outcome, Score, Standing, Verdict
from rtqual.base.errors import RunFailed
from rtqual.mission import Mission
from rtqual.record.schema import Inputs, Kind, Manifest, Provenance, Timing, digest
from rtqual.report.draw import plots
from rtqual.report.draw.canvas import Palette
from rtqual.report.page.document import Cell, Notes, raised
from rtqual.report.page.render import _fence
from rtqual.report.page.text import clean, figure_interval, figure_value, number, prose, quantity
from rtqual.report.write import write_report

SVG = "{http://www.w3.org/2000/svg}"
HEADLINE = "Fly Debian RT: its largest wake-up latency under hackbench was 14.2 us, of stock 437 us"
HOSTILE = "<script>alert('x')</script> | a*b_c `d` [e](javascript:f) $g$ &amp; \x1b[31m\u202e"
BOOTSTRAP = "bootstrap over runs"
CANDIDATES = ("rt", "stock", "stock-full")
MEDIAN_NS = {"rt": 6_000, "stock": 9_000, "stock-full": 8_000}
SPREAD = {"rt": 0.12, "stock": 0.55, "stock-full": 0.4}


def mission(title: str = "Docking camera", purpose: str = "Guides the last 10 m of a docking.") -> Mission:
    return Mission.model_validate(
        {
            "mission": {
                "name": "docking", "title": title, "purpose": purpose, "duration": 6 * 3600 * 10**9,
                "needs": ["realtime", "usb", "depth-camera"],
            },
            "candidate": [
                {"name": "rt", "title": "Debian PREEMPT_RT", "package": "linux-image-rt-amd64"},
                {"name": "stock", "title": "Debian stock", "package": "linux-image-amd64"},
                {"name": "stock-full", "title": "Debian stock, preempt=full", "package": "linux-image-amd64",
                 "preempt": "full"},
                {"name": "here", "title": "This machine", "this-machine": True},
            ],
            "requirement": [
                {"name": "Wake-up under load", "instrument": "cyclictest", "load": "hackbench",
                 "statistic": "max", "at_most": "100 us"},
            ],
            "criterion": [
                {"name": "Wake-up stability", "instrument": "cyclictest", "load": "hackbench",
                 "statistic": "max-min", "weight": 2.0},
            ],
            "scale": {"demo": {"plan": [{"instruments": ["cyclictest"], "runs": 10}]}},
        }
    )  # fmt: skip


def summary(group: Group, timing: Timing, *, load_factor: float = 1.0, n: int = 30_000) -> Summary:
    """A plausible group: its samples from a seed made of its names."""
    rng = np.random.default_rng(sum(map(ord, f"{group}")))
    median_ns, spread = MEDIAN_NS.get(group.candidate, 20_000), SPREAD.get(group.candidate, 0.3)
    samples = (median_ns * load_factor * rng.lognormal(0, spread, n)).astype(np.int64) // 10 * 10
    values, counts = np.unique(samples, return_counts=True)
    overflow = 3 if group.candidate == "stock" and load_factor > 1 else 0
    spread_of = {
        "max-min": float(np.ptp(samples)),
        "p95-avg": float(np.quantile(samples, 0.95) - samples.mean()),
    }
    figures = {
        "min": figure(samples.min(), n, why="samples give a minimum no lower end"),
        "avg": figure(samples.mean(), n),
        "max": figure(samples.max(), n, why="samples give a maximum no upper end", at_least=overflow > 0),
        "p50": figure(np.quantile(samples, 0.5), n),
        "p99": figure(np.quantile(samples, 0.99), n, method="order statistics"),
        "max-min": figure(spread_of["max-min"], n, why="samples give a maximum no upper end"),
        "p95-avg": figure(spread_of["p95-avg"], n),
        "(max-min)/max": figure(spread_of["max-min"] / samples.max(), n, unit="1"),
        "(p95-avg)/p95": figure(spread_of["p95-avg"] / np.quantile(samples, 0.95), n, unit="1"),
    }
    per_cpu = {}
    if group.cpus > 1:
        per_cpu = {cpu: {k: figures[k] for k in ("min", "avg", "max")} for cpu in range(group.cpus)}
    return Summary(
        group, timing, 10, n, figures,
        Distribution(values, counts, "ns", Kind.HISTOGRAM, overflow, 1_000_000 if overflow else None), per_cpu,
    )  # fmt: skip


def figure(value: float, n: int, *, unit: str = "ns", why: str = "", method: str = BOOTSTRAP,
           at_least: bool = False) -> Figure:  # fmt: skip
    interval = None if why else Interval(float(value) * 0.97, float(value) * 1.05, method)
    return Figure(float(value), unit, n, 10, interval, why, at_least)


def comparison(a: Summary, b: Summary, statistic: str) -> Comparison:
    of_a, of_b = a.figures[statistic], b.figures[statistic]
    return Comparison(
        a.group, b.group, statistic, "ns", figure(of_a.value - of_b.value, 60_000),
        figure(of_a.value / of_b.value, 60_000, unit="1"), 0.08, "rt < stock",
    )  # fmt: skip


def evidence(
    instruments: tuple[str, ...] = ("cyclictest",), loads: tuple[str, ...] = ("none", "hackbench")
) -> Evidence:
    found = [
        summary(Group(i, load, "virtual", 1, c), Timing.INSTRUCTIONS, load_factor=1 + 2 * (load != "none"))
        for i in instruments for load in loads for c in CANDIDATES
    ]  # fmt: skip
    found.append(summary(Group("cyclictest", "hackbench", "local", 2, "here"), Timing.REAL, load_factor=3))
    sizes = {
        "image_size": Figure(8_200_000, "B", 1, 1, None, "1 run"),
        "ram_used": Figure(41e6, "B", 1, 1, None, "1 run"),
    }
    found.append(Summary(Group("footprint", "none", "virtual", 1, "rt"), Timing.UNTESTED, 1, 0, sizes, None))
    by_name = {(s.group.load, s.group.candidate): s for s in found if s.group.instrument == instruments[0]}
    rt, stock = by_name[loads[-1], "rt"], by_name[loads[-1], "stock"]
    return Evidence(
        tuple(found),
        tuple(comparison(rt, stock, name) for name in ("p50", "p99", "max-min")),
        (verdict(rt, stock), refusal()),
        {Group("sysbench-mutex", "none", "virtual", 1, "stock"): "the guest panicked: Attempted to kill init!"},
    )


def verdict(rt: Summary, stock: Summary) -> Verdict:
    def standing(name: str, outcome: Outcome, rank: int, score: float, of: Summary) -> Standing:
        gates = (
            Gate("Wake-up under load", name, outcome, of.figures["max"], "at most 100 us", f"{name}: measured"),
            Gate("need usb", name, Outcome.MET, None, "in the kernel", "CONFIG_USB=y"),
        )
        scores = (Score("Wake-up stability", name, 2.0, score, of.figures["max-min"]),)
        return Standing(name, outcome, outcome, rank, score, gates, scores, ())

    return Verdict(
        "virtual", Ground.ACCEPTED, "rt", "rt", HEADLINE,
        (standing("rt", Outcome.MET, 1, 1.0, rt), standing("stock", Outcome.NOT_MET, 2, 0.04, stock),
         replace(standing("stock-full", Outcome.UNDECIDED, 3, 0.05, stock), refusals=("2 samples were lost",))),
        ("under hackbench, rt is 14 us and stock 437 us",),
        ("A largest latency of rt above 100 us would turn it.",),
        ("Virtual time counts instructions.",),
    )  # fmt: skip


def refusal() -> Verdict:
    standing = Standing(
        "here", Outcome.UNDECIDED, Outcome.UNDECIDED, None, None, (), (),
        ("cyclictest was given no real-time priority",),
    )  # fmt: skip
    headline = "No verdict on the local board: no real-time priority"
    return Verdict("local", Ground.FLIGHT, None, None, headline, (standing,), (), (), ())


def manifest(group: Group, seed: int, timing: Timing, started: str, wall_s: float) -> Manifest:
    return Manifest(
        hash=digest([repr(group), seed]),
        inputs=Inputs(
            candidate=group.candidate, instrument=group.instrument, load=group.load, board=group.board,
            cpus=group.cpus, seed=seed, parameters={"interval": 1_000_000, "cycles": 3000},
            artefacts={"kernel": "c0ffee" * 10 + group.candidate, "qemu": "7.2.19"},
        ),
        timing=timing,
        series=[],
        provenance=Provenance(
            rtqual="0.1.0", mission_sha256="d0" * 32, started=started, wall_s=wall_s,
            command=["qemu-system-x86_64", "-append", "console=ttyS0 quiet", "-fw_cfg", f"name=opt/seed,string={seed}"],
            tools={"cyclictest": "2.5"}, kernel=f"6.1.0-{group.candidate}", clocksource="tsc", clock_resolution_ns=1,
            kernel_cmdline="console=ttyS0 quiet nokaslr", facts={"preemption": "full", "image_size_b": "8589934"},
        ),
        samples_sha256="00",
    )  # fmt: skip


def records(found: Evidence, started: str = "2026-01-01T00:00:00Z", wall_s: float = 3.0) -> list[Manifest]:
    return [
        manifest(s.group, seed, s.timing, started, wall_s) for s in found.summaries for seed in range(1, s.runs + 1)
    ]


class Page(HTMLParser):
    """What a reader's browser sees: text, tags, addresses, ids."""

    VOID = ("meta", "link", "br", "img", "hr", "input")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href", "action", "data", "poster", "srcset"):
                self.addresses.append(value or "")
            if name == "id":
                self.ids.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    found = evidence()
    paths = write_report(folder, mission(), found, records(found), {})
    assert paths == [folder / name for name in ("report.html", "report.pdf", "report.md")]
    return folder


def test_writes_the_three_formats_and_the_plots(written: Path) -> None:
    text = (written / "report.md").read_text()
    named = re.findall(r"\]\((plots/[^)]+)\)", text)
    assert len(named) >= 6
    assert {written / name for name in named} == set((written / "plots").iterdir())


def test_every_format_carries_the_headline(written: Path) -> None:
    headline = " ".join(prose(HEADLINE).split())  # nothing is said of the kind of its spaces
    assert headline in Page((written / "report.html").read_text()).text
    assert headline in Page(MarkdownIt().render((written / "report.md").read_text())).text
    assert headline in _pdf_text(written / "report.pdf")


def test_pdf_has_pages_a_title_and_no_date(written: Path) -> None:
    data = (written / "report.pdf").read_bytes()
    assert data.startswith(b"%PDF")
    assert b"/CreationDate" not in data
    assert b"/ModDate" not in data


def test_equal_inputs_give_equal_bytes_whatever_the_clock_and_the_order(written: Path, tmp_path: Path) -> None:
    found = evidence()
    later = records(found, started="2031-12-24T18:00:00Z", wall_s=77.7)
    write_report(tmp_path, mission(), found, later[::-1], {})
    names = sorted(path.relative_to(written) for path in written.rglob("*.*"))
    assert names == sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.*"))
    for name in names:
        assert (written / name).read_bytes() == (tmp_path / name).read_bytes(), name


def test_html_is_well_formed_and_asks_for_nothing(written: Path) -> None:
    html = (written / "report.html").read_text()
    page = Page(html)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert page.addresses
    assert all(address.startswith("#") and address[1:] in page.ids for address in page.addresses)
    assert "@import" not in html
    assert set(re.findall(r"url\(\s*(.)", html)) <= {"#"}
    *own, samples = sorted(re.findall(r"<script([^>]*)>(.*?)</script>", html, re.DOTALL))
    assert page.tags.count("script") == 3
    assert json.loads(samples[1])["places"]
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', html)
    assert policy
    for _, code in own:
        assert b64encode(sha256(code.encode()).digest()).decode() in policy[1]
    assert page.tags.count("h1") == 1


def test_every_plot_names_its_axes_with_units_and_has_words_for_those_who_do_not_see_it(
    written: Path,
) -> None:
    drawn = sorted((written / "plots").iterdir())
    for path in drawn:
        root = ElementTree.parse(path).getroot()  # noqa: S314 - written by this test
        assert root.get("role") == "img"
        assert len(root.get("aria-label", "")) > 40
        axes = [
            group for group in root.iter(f"{SVG}g") if re.search(r"-(matplotlib\.axis|supylabel)", group.get("id", ""))
        ]
        labels = [text.text or "" for text in root.iter(f"{SVG}text")]
        named = [label for label in labels if re.search(r" \((ns|µs|ms|s|1)\)( [◇†])?$", label)]
        assert axes
        assert len(named) >= 1, (path.name, labels)
        if "Stability" not in root.get("aria-label", ""):
            assert len(named) == 2, (path.name, named)


def test_figures_in_instruction_time_say_so_in_plots_and_tables(written: Path) -> None:
    for path in (written / "plots").iterdir():
        svg = path.read_text()
        virtual = "virtual board" in svg
        assert ("◇" in svg) == virtual, path.name
    page = Page((written / "report.html").read_text())
    assert "Counts executed instructions, not caches or memory contention" in page.text
    assert "not met ◇" in page.text


def test_limit_is_drawn_where_it_applies_and_only_there(written: Path) -> None:
    html = (written / "report.html").read_text()
    labels = re.findall(r'aria-label="(Histogram[^"]*)"(.*?)</svg>', html, re.DOTALL)
    drawn = {"hackbench, virtual" in label: "max at most 100 µs" in svg for label, svg in labels if "virtual" in label}
    assert drawn == {True: True, False: False}


def test_the_verdict_shows_the_required_figure_and_how_many_break_its_limit(written: Path) -> None:
    html = (written / "report.html").read_text()
    box = html[html.index('<section class="verdict') : html.index("<nav")]
    assert box.count("<svg ") == 2  # one a board
    assert "limit: max at most 100 µs" in box
    assert re.search(r">0 of 30,000 samples above the limit<", box)
    assert re.search(r">[1-9][0-9,]* of 30,000 samples above the limit<", box)


def test_what_breaks_a_limit_is_counted_only_where_it_is_known() -> None:
    one = Distribution(np.array([10, 99, 100, 101, 300]), np.array([5, 1, 1, 2, 1]), "ns", Kind.HISTOGRAM, 4, 500)
    upper, lower = plots.Limit("max at most", 100), plots.Limit("min at least", 99, upper=False)
    assert plots.broken(one, [upper], 44) == "7 of 14 samples above the limit"
    assert plots.broken(one, [upper], 20) == "7 of 14 above"
    assert plots.broken(one, [upper], 3) == ""
    assert plots.broken(one, [lower], 44) == "5 of 14 samples below the limit"
    assert plots.broken(one, [upper, lower], 44) == ""
    assert plots.broken(one, [plots.Limit("max at most", 600)], 44) == ""  # the overflow may lie below it


def test_parameters_and_sizes_have_units(written: Path) -> None:
    text = Page((written / "report.html").read_text()).text
    assert "cycles = 3000, interval = 1 ms" in text
    assert "8.192 MiB" in text


def test_candidates_that_were_not_measured_are_named(written: Path) -> None:
    text = Page((written / "report.html").read_text()).text
    assert "Candidates measured rt, stock, stock-full, here Not measured at this scale none" in text
    assert "It measured 4 of the 4 candidates." in text


def test_needs_of_which_the_same_holds_are_one_row(written: Path) -> None:
    text = (written / "report.md").read_text()
    assert re.search(r"\| need usb +\| rt, stock, stock-full +\| ✓ met +\| CONFIG_USB=y", text)
    assert re.search(r"\| need usb +\| +✓ met \| +✓ met \| +✓ met \|", text)


def test_a_mark_that_a_whole_row_has_stands_once() -> None:
    row = [Cell("max"), Cell("1", marks="a"), Cell("-"), Cell("2", marks="a")]
    assert [cell.marks for cell in raised(row)] == ["a", "", "", ""]
    mixed = [Cell("max"), Cell("1", marks="a"), Cell("2", marks="b")]
    assert raised(mixed) == mixed


def test_a_handful_of_samples_is_not_plotted(tmp_path: Path) -> None:
    few = Distribution(np.array([74, 89]), np.array([2, 1]), "ns", Kind.RAW)
    found = evidence()
    bad = replace(found, summaries=tuple(replace(s, distribution=few, samples=3) for s in found.summaries))
    write_report(tmp_path, mission(), bad, records(bad), {})
    assert "There are too few samples to plot" in (tmp_path / "report.md").read_text()
    assert "Histogram" not in (tmp_path / "report.md").read_text()


def test_comparisons_that_cannot_be_decided_are_one_sentence(tmp_path: Path) -> None:
    found = evidence()
    why = "1 and 1 run; an interval needs 10 of each"
    blind = [
        replace(c, difference=replace(c.difference, interval=None, why_no_interval=why), statement=f"undecided: {why}")
        for c in found.comparisons
    ]
    bad = replace(found, comparisons=tuple(blind))
    write_report(tmp_path, mission(), bad, records(bad), {})
    text = (tmp_path / "report.md").read_text()
    assert f"- virtual board, 1 CPU: cyclictest: {why}." in text
    assert "Comparison: cyclictest" not in text


def test_candidates_keep_their_colour(written: Path) -> None:
    colour = Palette(("rt", "stock", "stock-full", "here")).colour("stock-full")
    html = (written / "report.html").read_text()
    assert f"background:{colour}" in html
    assert sum(colour in path.read_text() for path in (written / "plots").iterdir()) >= 6


def test_states_the_reason_where_there_is_no_interval(written: Path) -> None:
    for text in (Page((written / "report.html").read_text()).text, (written / "report.md").read_text()):
        assert "samples give a maximum no upper end" in text
        assert "the true one is at least this" in text
        assert "bootstrap over runs, unless marked otherwise" in text
        assert "Interval: order statistics." in text


def test_failures_refusals_and_commands_are_in(written: Path) -> None:
    page = Page((written / "report.html").read_text()).text
    assert "stock: sysbench-mutex idle, virtual board, 1 CPU: the guest panicked" in page
    assert "here: cyclictest was given no real-time priority" in page
    assert "qemu-system-x86_64 -append 'console=ttyS0 quiet' -fw_cfg name=opt/seed,string=1" in page
    assert "10 runs, seeds 1 to 10" in page


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    found = evidence()
    bad = replace(
        found,
        summaries=tuple(
            replace(s, group=replace(s.group, candidate=HOSTILE) if s.group.candidate == "stock-full" else s.group,
                    problems=(HOSTILE,)) for s in found.summaries
        ),
        verdicts=tuple(replace(v, headline=HOSTILE, caveats=(HOSTILE,)) for v in found.verdicts),
        failures={},
    )  # fmt: skip
    write_report(
        tmp_path,
        mission(title=HOSTILE, purpose=HOSTILE),
        bad,
        records(bad),
        {HOSTILE: HOSTILE + "\n```\n# x"},
    )
    html = (tmp_path / "report.html").read_text()
    page = Page(html)
    assert page.tags.count("script") == 3  # our own, and the samples
    assert page.open == []
    assert all(address.startswith("#") for address in page.addresses)
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert "<script>alert('x')</script> | a*b_c `d` [e](javascript:f) $g$ &amp;" in page.text
    rendered = MarkdownIt("commonmark", {"html": True}).enable("table").render((tmp_path / "report.md").read_text())
    seen = Page(rendered)
    assert "script" not in seen.tags
    assert all(address.startswith("plots/") for address in seen.addresses)
    assert "<script>alert('x')</script> | a*b_c `d` [e](javascript:f) $g$ &amp;" in seen.text


def test_markdown_tables_keep_their_columns(written: Path) -> None:
    text = (written / "report.md").read_text()
    rendered = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    html = Page((written / "report.html").read_text())
    assert rendered.count("<table>") == html.tags.count("table")
    assert len(re.findall(r"<t[dh][ >]", rendered)) == html.tags.count("td") + html.tags.count("th")


def test_markdown_tables_are_aligned_and_long_code_stands_below(tmp_path: Path) -> None:
    found = evidence()
    long = "x" * 200
    made = [
        m.model_copy(update={"provenance": m.provenance.model_copy(update={"kernel_cmdline": long})})
        for m in records(found)
    ]
    write_report(tmp_path, mission(), found, made, {})
    text = (tmp_path / "report.md").read_text()
    rows = re.search(r"\*\*Table 1\.\*\*.*\n\n((?:\|.*\n)+)", text)
    assert rows
    assert len({len(line) for line in rows[1].splitlines()}) == 1
    assert re.search(r"\| kernel command line \| see¹ +\|", text)
    assert f"¹ {long}" in text
    assert not any(long in line for line in text.splitlines() if line.startswith("|"))


def test_a_report_of_nothing_is_still_a_report(tmp_path: Path) -> None:
    write_report(tmp_path, mission(), Evidence((), (), ()), [], {"rt: cyclictest idle": "no network"})
    page = Page((tmp_path / "report.html").read_text()).text
    assert "No verdict" in page
    assert "rt: cyclictest idle: no network" in page
    assert "Fly" not in page


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFailed, match=r"^[^\n]*cannot be written[^\n]*$"):
        write_report(tmp_path / "file", mission(), Evidence((), (), ()), [], {})


@pytest.mark.full
def test_forty_groups_take_seconds_not_minutes(tmp_path: Path) -> None:
    found = evidence(("cyclictest", "hackbench", "sysbench-threads"), ("none", "hackbench", "stress-cpu", "wifi"))
    assert len(found.summaries) >= 38
    begin_s = time.process_time()
    write_report(tmp_path, mission(), found, records(found), {})
    assert time.process_time() - begin_s < 20  # about ten seen on two busy cores


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (12_345, "ns", "12.35\u00a0µs"), (0, "ns", "0\u00a0ns"), (-1500, "ns", "-1.5\u00a0µs"),
        (8_589_934, "B", "8.192\u00a0MiB"), (0.25, "1", "0.25"), (1234567, "1/s", "1,234,567\u00a01/s"),
    ],
)  # fmt: skip
def test_quantities(value: float, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


def test_numbers_never_lose_their_size() -> None:
    assert number(float("inf")) == "∞"
    assert number(0.00001234) == "1.23e-05"
    assert number(99_999.6) == "100,000"


def test_interval_shares_the_unit_of_its_figure() -> None:
    one = Figure(1_200_000, "ns", 10, 2, Interval(900_000, float("inf"), "m"), at_least=True)
    assert (figure_value(one), figure_interval(one)) == ("≥\u00a01.2\u00a0ms", "0.9 to ∞")


def test_a_command_keeps_its_lines_and_cannot_leave_its_fence() -> None:
    command = "sh -c 'a\n```\n\tb'"
    tokens = MarkdownIt().parse(str(_fence(clean(command))))
    assert [(token.type, token.content) for token in tokens] == [("fence", command + "\n")]


def test_one_remark_has_one_mark() -> None:
    notes = Notes()
    assert [notes.mark("x"), notes.mark("y"), notes.mark("x"), notes.mark("")] == ["a", "b", "a", ""]


def test_histogram_and_ccdf_hold_every_sample() -> None:
    one = Distribution(np.array([0, 10, 20, 100_000]), np.array([5, 1, 1, 1]), "ns", Kind.HISTOGRAM, 2, 500_000)
    panel = plots.Panel({"a": one}, "Latency", "")
    edges = plots.bin_edges(panel)
    assert plots.binned(one, edges).sum() == 8
    x, y = plots.survival(one)
    assert x[-1] == 500_000
    assert y[0] == 1
    assert y[-1] == pytest.approx(0.2)


def test_thinned_ccdf_keeps_the_ends_and_never_rises() -> None:
    values = np.unique(np.random.default_rng(1).integers(1, 10**7, 50_000))
    x, y = plots.survival(Distribution(values, np.ones_like(values), "ns", Kind.RAW))
    assert len(x) <= plots.POINTS + 2
    assert (x[0], x[-1]) == (values[0], values[-1])
    assert (np.diff(y) <= 0).all()
    exact = 1 - np.searchsorted(values, x, side="right") / values.size
    assert np.abs(y[1:-1] - exact[1:-1]).max() < 1e-9


def _pdf_text(path: Path) -> str:
    """By way of poppler when it is there, else by the title that WeasyPrint writes into the outline."""
    import shutil
    import subprocess

    if tool := shutil.which("pdftotext"):
        done = subprocess.run([tool, str(path), "-"], capture_output=True, text=True, check=True)
        return " ".join(done.stdout.split())
    pytest.fail("pdftotext is missing: `apt-get install poppler-utils`")
