# SPDX-License-Identifier: MIT
"""The picture for who chooses between kinds of systems: who stands in it, with which figures and marks."""

import re
from collections.abc import Mapping

import pytest

from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.candidates.mark import Has
from rtqual.engine.mission import Mission
from rtqual.protocols.record.schema import Record, Scalar, Series
from rtqual.reports.chapter.choosing import choice
from rtqual.reports.material import gather
from rtqual.reports.page.document import Block, Plot, Plots
from support.analysis_records import record

NBSP = "\u00a0"
BOARD = "virtual-arm"
IMAGES = {"image_size_b": "30000", "bss_b": "10960"}
MARK = {"system": "FreeRTOS", "licence": "MIT", "usb": "none", "wifi": "none", "protection": "sources"}


@pytest.fixture
def mission() -> Mission:
    return Mission.model_validate(
        {
            "mission": {"name": "m", "title": "M", "purpose": "P", "duration": 10**9},
            "candidate": [
                {"name": "rt", "title": "Linux", "package": "linux-image-rt-armmp"},
                {"name": "stock", "title": "Linux", "package": "linux-image-armmp"},
                {"name": "small", "title": "FreeRTOS", "rtos": "freertos"},
                {"name": "other", "title": "NuttX", "image": "i"},
            ],
            "scale": {"demo": {"plan": [{"instruments": ["probe-wakeup"], "runs": 1}]}},
        }
    )


def woken(
    candidate: str,
    ns: int,
    *,
    runs: int = 1,
    load: str = "none",
    instrument: str = "probe-wakeup",
    images: Mapping[str, str] = IMAGES,
) -> list[Record]:
    facts = {"small": {**MARK, **images}, "other": {"system": "NuttX", **images}}.get(candidate, {})
    return [
        record(
            Series.raw([ns + 7 * seed + i % 5 for i in range(500)], name="latency"),
            candidate=candidate, instrument=instrument, load=load, board=BOARD, seed=seed, facts=facts,
        )
        for seed in range(runs)
    ]  # fmt: skip


def footprint(candidate: str, ram_used_b: int) -> Record:
    used = {"ram_used": Scalar(value=ram_used_b, unit="B")}
    return record(candidate=candidate, instrument="footprint", load="none", board=BOARD, scalars=used)


def shown(mission: Mission, *records: Record) -> list[Block]:
    return list(choice(gather(mission, analyse(mission, "demo", records, {}), [one.manifest for one in records], {})))


def plot_of(blocks: list[Block]) -> tuple[Plot, list[str]]:
    (plots,) = [one for one in blocks if isinstance(one, Plots)]
    (plot,) = plots.plots
    return plot, [note.text for note in plots.notes]


def test_kinds_of_systems_stand_in_one_picture_with_what_they_lack(mission: Mission) -> None:
    plot, notes = plot_of(shown(mission, *woken("rt", 10_000), footprint("rt", 6 << 20), *woken("small", 500)))
    told = plot.alt.replace(NBSP, " ")
    assert "small: 504 ns, 40 KiB, USB none, Wi-Fi none, memory protection in its sources" in told
    assert "rt: 10 µs, 6 MiB, USB in what was measured" in told and "GPL 2" in told
    drawn = re.findall(r"<text[^>]*>([^<]+)</text>", plot.svg)
    assert {"small", "rt", "USB", "Wi-Fi", "licence", "MIT", "GPL 2"} <= {one.strip() for one in drawn}
    assert {has.value for has in Has} <= {one.strip() for one in drawn}
    assert any("No interval" in note for note in notes)  # of one run there is none


def test_an_interval_is_drawn_and_told_where_runs_give_one(mission: Mission) -> None:
    several = [*woken("small", 500, runs=12), *woken("rt", 10_000, runs=12), footprint("rt", 6 << 20)]
    plot, notes = plot_of(shown(mission, *several))
    assert re.search(r"small: 5\d\d.ns \[5\d\d to ∞\]", plot.alt)  # twelve runs do not bound a p99 from above
    assert [note for note in notes if "interval" in note] == [
        "A line through a mark is the interval; to the picture's edge, the runs give no end."
    ]
    alone, _ = plot_of(shown(mission, *woken("small", 500), *woken("rt", 10_000), footprint("rt", 6 << 20)))
    assert plot.svg.count("<path") == alone.svg.count("<path") + 2  # a line for each of the two


def test_only_what_is_comparable_stands_in_it(mission: Mission) -> None:
    one_kind = [*woken("rt", 10_000), footprint("rt", 6 << 20), *woken("stock", 9_000), footprint("stock", 5 << 20)]
    assert shown(mission, *one_kind) == []
    assert shown(mission, *woken("rt", 10_000), *woken("small", 500)) == []  # nothing is known of the RAM
    loaded = [*woken("rt", 10_000, load="hackbench"), footprint("rt", 6 << 20), *woken("small", 500)]
    assert shown(mission, *loaded) == []  # an RTOS takes no load
    kernel = [*woken("rt", 10_000, instrument="probe-kernel-wakeup"), footprint("rt", 6 << 20), *woken("small", 500)]
    assert shown(mission, *kernel) == []
    plot, _ = plot_of(shown(mission, *woken("small", 500), *woken("other", 800), *woken("rt", 10_000)))
    assert "other: 804" in plot.alt and "rt:" not in plot.alt


@pytest.mark.parametrize(
    "images", [{"image_size_b": "30000"}, *({**IMAGES, "bss_b": told} for told in ("nan", "inf", "-9", "x", "9" * 400))]
)
def test_an_image_whose_memory_is_not_told_takes_no_place(mission: Mission, images: dict[str, str]) -> None:
    """Without its zeroed data it would seem smaller than it is; what is no number was a traceback."""
    linux = [*woken("rt", 10_000), footprint("rt", 6 << 20)]
    assert shown(mission, *linux, *woken("small", 500, images=images)) == []
    assert shown(mission, *linux, *woken("small", 500), *woken("other", 500, images=images)) != []


def test_what_an_image_does_not_tell_is_drawn_apart_from_none(mission: Mission) -> None:
    plot, _ = plot_of(shown(mission, *woken("small", 500), *woken("other", 800)))
    assert "USB not told, Wi-Fi not told, memory protection not told, not told" in plot.alt
    drawn = [one.strip() for one in re.findall(r"<text[^>]*>([^<]+)</text>", plot.svg)]
    assert drawn.count("?") == 4  # three of its row, and what the mark means


def test_builds_of_one_system_are_one_kind(mission: Mission) -> None:
    """Of an older record the name is the first word of its kernel."""
    old = woken("other", 800)
    for one in old:
        one.manifest.provenance.facts.update({"system": "", "kernel": "FreeRTOS V11.2.0"})
    assert shown(mission, *woken("small", 500), *old) == []
