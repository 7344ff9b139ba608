# SPDX-License-Identifier: MIT
"""What a report says of tails and of dependence."""

import re

import pytest

from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.mission import Mission
from rtqual.protocols.record.schema import Record, Series, Timing
from rtqual.reports.material import gather
from rtqual.reports.page.document import Document, Plot
from rtqual.reports.page.render import to_html, to_markdown
from rtqual.reports.view import build
from support.analysis_records import record
from support.tail_records import asking, field
from support.tail_samples import INTERVAL_NS, Source


def document(records: list[Record], asked: Mission | None = None) -> Document:
    asked = asked or asking("30 min")
    evidence = analyse(asked, "demo", records, {})
    return build(gather(asked, evidence, [one.manifest for one in records], {}))


def text_of(made: Document) -> str:
    """Its Markdown, without escapes and with plain blanks."""
    return re.sub(r"\\(.)", r"\1", to_markdown(made)).replace("\u00a0", " ")


def plots_of(made: Document, about: str) -> list[Plot]:
    return [plot for plot in made.plots if about in plot.caption]


@pytest.fixture(scope="module")
def good() -> Document:
    return document(field(Source("exponential", samples=100_000).draw(1)))


def test_a_level_stands_with_its_interval_and_what_it_rests_on(good: Document) -> None:
    text = text_of(good)
    (row,) = [line for line in text.splitlines() if line.startswith("| rt, cyclictest under hackbench, CPU 0")]
    assert re.search(r"\|\s+30 min \| [\d.]+ µs \([\d.]+ to [\d.]+\) \|", row)
    for part in ("100,000 samples", "20 s", "above", "index"):
        assert part in row
    assert "It is an estimate by extreme value statistics (peaks over threshold), never a bound" in text
    assert "passed at least once in that time with 63 %" in text
    assert "No tail estimate" not in text


def test_every_diagnostic_is_told(good: Document) -> None:
    text = text_of(good)
    for what in ("stability", "spikes", "fit", "weight of the tail", "half against half", "bouts", "block maxima"):
        assert f"✓ {what}: " in text


def test_return_levels_and_stability_are_plotted(good: Document) -> None:
    (levels,) = plots_of(good, "Return levels: rt")
    (stability,) = plots_of(good, "against the threshold: rt")
    assert "Once in 30 min" in levels.alt.replace("\u00a0", " ")
    assert levels.svg.count("<path") > 3
    assert "Threshold (µs)" in stability.svg
    assert levels.svg in to_html(good)


def test_dependence_is_told_in_words_figures_and_a_plot(good: Document) -> None:
    text = text_of(good)
    assert "Samples of a run depend on each other" in text
    assert re.search(r"Table \d+\W+ Rank correlation at three lags", text)
    (plot,) = plots_of(good, "Correlation of a sample with a later one")
    assert "lag 1" in plot.alt


def test_where_the_order_is_not_recorded_it_is_said_once() -> None:
    counts = {5_000 + i: 100 for i in range(100)}
    records = [
        record(Series.counted(counts, name="latency"), candidate=name, load=load, seed=1)
        for name in ("rt", "stock")
        for load in ("none", "hackbench")
    ]
    text = text_of(document(records))
    assert text.count("order of the samples is not recorded") == 1
    assert "Rank correlation" not in text


def test_refusals_of_one_reason_stand_in_one_line() -> None:
    records = [
        record(Series.raw(Source("exponential", samples=2_000).draw(1), name="latency"), candidate=name, load=load,
               timing=Timing.INSTRUCTIONS, parameters={"interval": INTERVAL_NS})
        for name in ("rt", "stock")
        for load in ("none", "hackbench")
    ]  # fmt: skip
    text = text_of(document(records))
    assert "No tail estimate for 30 min, and why" in text
    (line,) = [line for line in text.splitlines() if "not in real time" in line]
    assert line.startswith("- 4 groups of the virtual board: ")
    assert "Return levels" not in text


def test_a_shorter_time_than_asked_for_is_labelled_so() -> None:
    text = text_of(document(field(Source("exponential", samples=50_000).draw(1)), asking("1 h")))
    assert "The longest time that the samples support, not the 1 h asked for." in text
    assert "beyond the samples: needs 36 s of samples, has 10 s" in text


def test_what_was_refused_for_spikes_shows_its_thresholds() -> None:
    samples = Source("normal").draw(1)
    samples[[10_000, 30_000]] = [900_000, 950_000]
    made = document(field(samples))
    assert "they come from something else" in text_of(made)
    assert len(plots_of(made, "against the threshold: refused")) == 1
    assert plots_of(made, "Return levels") == []


def test_a_limit_that_was_never_passed_has_its_bound() -> None:
    text = text_of(document(field(Source("uniform", samples=100_000).draw(1))))
    (row,) = [line for line in text.splitlines() if line.startswith("| wake-up under load: rt")]
    assert re.search(r"1 in 3\d,\d{3}", row)
    assert "worth" in row


def test_hostile_names_stay_text() -> None:
    hostile = "<script>x</script> | *a*"
    made = document(field(Source("exponential", samples=10_000).draw(1), candidate=hostile))
    assert "<script>x" not in to_html(made)
    assert all("<script>" not in plot.svg for plot in made.plots)


def test_equal_records_give_equal_pages() -> None:
    records = field(Source("exponential", samples=10_000).draw(1))
    assert to_html(document(records)) == to_html(document(records))
