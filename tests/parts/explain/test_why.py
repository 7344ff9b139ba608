# SPDX-License-Identifier: MIT
"""Why samples were late: the chapter, its plots, and the way to them from the samples."""

import re
from pathlib import Path

import pytest

from rtqual.parts.explain.chapter import why, worst
from rtqual.parts.explain.whys import WHY, Whys
from rtqual.reports.material import Material, gather
from rtqual.reports.page.document import Bullets, Heading, Plots
from rtqual.reports.page.render import to_html
from rtqual.reports.view import build
from support.browser import Browser
from support.explained import explained
from support.report_material import HOSTILE, evidence, mission, records, tables

FOUND = evidence()
RECORDS = records(FOUND)


def material_of(found: Whys | None) -> Material:
    return gather(mission(), FOUND, RECORDS, {}, {WHY.file: found} if found else {})


def test_causes_differences_and_timelines_are_told() -> None:
    material = material_of(explained(RECORDS))
    blocks = [*why(material), *worst(material)]
    assert [block.title for block in blocks if isinstance(block, Heading)] == ["Under hackbench", "Under hackbench"]
    plots = [plot for block in blocks if isinstance(block, Plots) for plot in block.plots]
    assert [plot.caption.removesuffix("\u00a0◇") for plot in plots][:3] == [
        "Causes of the maximum, under hackbench: shares of its time",
        "Why stock is later than rt under hackbench",
        "Why stock-full is later than rt under hackbench",
    ]
    assert {plot.caption.removesuffix("\u00a0◇") for plot in plots[3:]} == {
        f"{name} under hackbench, seed 1, sample 1: {value}\u00a0µs"
        for name, value in (("rt", 9), ("stock", 307), ("stock-full", 307))
    } | {"stock under hackbench, seed 1, sample 2: 157\u00a0µs"}
    axis = re.findall(r">([\d.]+)<|>(Share of the sample[^<]*)<", plots[0].svg)
    assert ("", "Share of the sample (%) ◇") in axis and ("50", "") in axis, axis  # as the values beside the bars
    causes = {(row[0].text, row[0].detail): [cell.text for cell in row[1:]] for row in tables(blocks)[0].rows}
    assert causes["stock", "the worst"][2] == "interrupts off 97.7\u00a0%"
    assert causes["stock", "above the limit"][0] == "2"
    parts = [[cell.text for cell in row] for row in tables(blocks)[1].rows]
    assert parts[0][:3] == ["+0", "300,000", "interrupts off"] and parts[-1][:2] == ["sum", "307,000"]


def test_the_chapter_stands_where_there_is_something_to_tell() -> None:
    assert not list(why(material_of(None))) and not list(why(material_of(Whys())))
    assert not list(worst(material_of(None)))
    assert build(material_of(None)).chapters[-1].heading.startswith("Annex E")
    empty = explained(RECORDS).runs[0].model_copy(update={"timelines": ()})
    assert not list(why(material_of(Whys(runs=(empty,)))))
    (told,) = why(material_of(Whys(refused=("rt idle, seed 3: this QEMU does not take the plugin",))))
    assert isinstance(told, Bullets) and told.title == "Not explained"


@pytest.mark.guest
def test_equal_explanations_give_equal_pages_whose_text_is_never_markup(explained_page: Path) -> None:
    html = explained_page.read_text()
    assert "5 Why samples were late" in html and "8 Glossary" in html
    assert "Annex A The worst samples, part by part" in html and "Annex B Test tools" in html
    assert to_html(build(material_of(explained(RECORDS, hostile=HOSTILE)))) == html
    assert "<script>alert" not in html and "\x1b" not in html and "\u202e" not in html


@pytest.fixture(scope="module")
def explained_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("why") / "report.html"
    path.write_text(to_html(build(material_of(explained(RECORDS, hostile=HOSTILE)))))
    return path


@pytest.mark.guest
def test_from_a_sample_of_the_tail_one_jumps_to_its_timeline(chromium: Browser, explained_page: Path) -> None:
    chromium.open(explained_page)
    link = next(one for one in chromium.all(".timelines a") if one.text.startswith("stock 307"))
    figure = str(link.get_attribute("href")).partition("#")[2]
    assert "stock under hackbench, seed 1, sample 1" in chromium.find(f"#{figure}").text
    link.click()
    assert chromium.run("return location.hash") == f"#{figure}"
    assert chromium.log("browser") == []
