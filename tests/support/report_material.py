# SPDX-License-Identifier: MIT
"""A whole campaign's evidence made up for the report, and a parser of its pages."""

from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np

from rtqual.engine.analysis.difference.model import Comparison, Relation
from rtqual.engine.analysis.figure.model import Distribution, Figure, Group, Interval, Summary
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.analysis.verdict.model import Gate, Ground, Outcome, Score, Standing, Verdict
from rtqual.engine.mission import Mission
from rtqual.protocols.record.schema import Inputs, Manifest, Provenance, SeriesKind, Timing, digest
from rtqual.reports.page.document import Block, Table

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
        Distribution(values, counts, "ns", SeriesKind.HISTOGRAM, overflow, 1_000_000 if overflow else None), per_cpu,
    )  # fmt: skip


def figure(value: float, n: int, *, unit: str = "ns", why: str = "", method: str = BOOTSTRAP,
           at_least: bool = False) -> Figure:  # fmt: skip
    interval = None if why else Interval(float(value) * 0.97, float(value) * 1.05, method)
    return Figure(float(value), unit, n, 10, interval, why, at_least)


def comparison(a: Summary, b: Summary, statistic: str) -> Comparison:
    of_a, of_b = a.figures[statistic], b.figures[statistic]
    return Comparison(
        a.group, b.group, statistic, "ns", figure(of_a.value - of_b.value, 60_000),
        figure(of_a.value / of_b.value, 60_000, unit="1"), 0.08, Relation.LESS, "rt < stock",
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


def tables(blocks: Sequence[Block]) -> list[Table]:
    return [block for block in blocks if isinstance(block, Table)]
