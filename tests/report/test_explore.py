# SPDX-License-Identifier: MIT
"""The page as its readers use it, in a real browser: plots to explore, tables that sort, no network, no scripts."""

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selenium.webdriver.common.keys import Keys
from test_report import HOSTILE, evidence, figure, mission, records

from rtqual.analysis.figure.model import Distribution
from rtqual.analysis.model import Evidence
from rtqual.base.errors import BadInput
from rtqual.record.schema import Kind
from rtqual.report.chapter import explore
from rtqual.report.chapter.distributions import panels_of
from rtqual.report.chapter.explore import MOST, thinned
from rtqual.report.draw import plots
from rtqual.report.draw.canvas import Palette
from rtqual.report.material import Material, gather
from rtqual.report.page.document import Cell, Column, Table
from rtqual.report.page.explorer import scripts as explore_script
from rtqual.report.page.explorer.sort import key_of, keys_of
from rtqual.report.page.render import to_html
from rtqual.report.page.text import quantity
from rtqual.report.view import build
from support.browser import Browser, started

LADDER = ("p50", "p90", "p99", "p99.9", "p99.99", "p99.999")
COLOURS = Palette(("rt", "stock", "stock-full", "here"))


def found(*loads: str) -> Evidence:
    """As of a report, with the whole ladder of percentiles."""
    base = evidence(loads=loads or ("none", "hackbench"))
    laddered = []
    for s in base.summaries:
        if s.distribution is None:
            laddered.append(s)
            continue
        values = np.repeat(s.distribution.values, s.distribution.counts)
        ladder = {p: figure(np.quantile(values, float(p[1:]) / 100), s.samples) for p in LADDER}
        laddered.append(replace(s, figures={**s.figures, **ladder}))
    return replace(base, summaries=tuple(laddered))


@pytest.fixture(scope="module")
def material() -> Material:
    return gather(mission(), found(), records(found()), {})


@pytest.fixture(scope="module")
def page(material: Material, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(to_html(build(material)))
    return path


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with started(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def reader(chromium: Browser, page: Path) -> Iterator[Browser]:
    """The page, just opened. Whatever a test does, the browser must have nothing to complain of."""
    chromium.open(page)
    yield chromium
    assert chromium.log("browser") == []


def shown(reader: Browser) -> str:
    return str(reader.run("return document.querySelector('.extent').textContent"))


def open_table(reader: Browser, panel: int) -> list[list[str]]:
    reader.run("document.querySelectorAll('.panel details')[arguments[0]].open = true", panel)
    # Opening tells the page in a task of its own.
    rows = reader.driver.execute_async_script(
        "const [panel, done] = arguments; setTimeout(() => done([...document.querySelectorAll('.panel')[panel]"
        ".querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.dataset.value ?? '-'))))",
        panel,
    )
    assert rows
    return rows


# What is shown


def test_candidates_loads_and_views_are_toggled(reader: Browser) -> None:
    rt, stock = COLOURS.colour("rt"), COLOURS.colour("stock")
    assert reader.pixels(1, rt) > 100
    assert reader.pixels(1, stock) > 100
    reader.labelled("stock (").click()
    assert reader.pixels(1, rt) > 100
    assert reader.pixels(1, stock) == 0
    reader.labelled("stock (").click()
    for view in ("Share above", "Percentiles"):
        reader.labelled(view).click()
        assert reader.pixels(1, stock) > 100
    assert [panel.is_displayed() for panel in reader.all(".panel")] == [True, True]
    reader.labelled("idle").click()
    assert [panel.is_displayed() for panel in reader.all(".panel")] == [False, True]
    reader.labelled("under hackbench").click()
    assert "Nothing is chosen" in reader.run(
        "return getComputedStyle(document.querySelector('.panels'), '::before').content"
    )


def test_percentiles_are_toggled_and_carry_their_intervals(reader: Browser) -> None:
    assert not reader.labelled("p99.999").is_displayed()
    reader.labelled("Percentiles").click()
    assert [row[0] for row in open_table(reader, 1)] == [p[1:] for p in LADDER]
    reader.labelled("p99.9").click()
    assert [row[0] for row in open_table(reader, 1)] == [p[1:] for p in LADDER if p != "p99.9"]
    reader.find(".chart").send_keys(Keys.HOME)
    text = reader.find(".reading").text
    assert re.match(r"p50 +rt: [0-9.]+\sµs \[[0-9.]+ to [0-9.]+\sµs\], 95 % interval, bootstrap .*; n = 30,000", text)
    assert reader.said().startswith("p50. rt: ")


def test_another_place_is_chosen(reader: Browser) -> None:
    select = reader.find("#explorer-place")
    assert [option.text for option in reader.all("#explorer-place option")] == [
        "cyclictest, virtual board, 1 CPU", "cyclictest, local board, 2 CPUs",
    ]  # fmt: skip
    note = "Counts executed instructions"
    assert note in reader.find(".explorer").text
    assert reader.all(".panel h4")[0].text.endswith("◇")
    select.send_keys("cyclictest, l")
    assert [title.text for title in reader.all(".panel h4")] == ["cyclictest under hackbench"]
    assert note not in reader.find(".explorer").text
    assert reader.find(".explorer").text.count("those below are merged") == sum(
        "merged at a time" in panel.text for panel in reader.all(".panel")
    )
    assert reader.pixels(0, COLOURS.colour("here")) > 100


def test_what_is_drawn_is_what_the_static_plots_draw(reader: Browser, material: Material) -> None:
    (place, panels), *_ = [(p, found) for p in material.places() if (found := panels_of(material, p))]
    for index, load in enumerate(place.loads):
        panel, rows = panels[load], np.array(open_table(reader, index), float)
        edges = plots.bin_edges(panel)
        for column, one in enumerate(panel.distributions.values(), 2):
            counts = plots.binned(one, edges)
            told = np.zeros_like(counts)
            told[np.searchsorted(edges, rows[:, 0] * (1 + 1e-9), side="right") - 1] = rows[:, column]
            values, _, merged = thinned(one, MOST)
            if merged == 1:
                assert (told == counts).all()
            assert told.sum() == one.counts.sum() == 30_000
            assert values.max() == one.values.max()


def test_shares_above_a_value_are_exact_even_where_samples_are_thinned(reader: Browser, material: Material) -> None:
    reader.labelled("Share above").click()
    (_, panels), *_ = [(p, found) for p in material.places() if (found := panels_of(material, p))]
    rows = open_table(reader, 1)
    text = reader.run("return document.querySelectorAll('.panel')[1].textContent")
    assert "rows; zoom in to see others" in text
    ones = list(panels["hackbench"].distributions.values())
    drawn = [thinned(one, MOST) for one in ones]
    assert any(merged > 1 for _, _, merged in drawn)
    assert "merged at a time" in text
    checked = 0
    for row in rows[:: len(rows) // 40]:
        value = float(row[0])
        for index, (one, (kept, _, _)) in enumerate(zip(ones, drawn, strict=True)):
            if value in kept:
                total = one.counts.sum() + one.overflow
                above = total - one.counts[one.values <= value].sum()
                assert (int(row[1 + 2 * index]), float(row[2 + 2 * index])) == (above, pytest.approx(above / total))
                checked += 1
    assert checked > 20


# Reading and zooming


def test_everything_works_from_the_keyboard(reader: Browser) -> None:
    whole = shown(reader)
    reader.find("#explorer-place").send_keys(Keys.TAB)
    for _ in range(20):
        if "chart" in (reader.driver.switch_to.active_element.get_attribute("class") or ""):
            break
        reader.keys(Keys.TAB)
    chart = reader.driver.switch_to.active_element
    assert chart.get_attribute("class") == "chart"
    outline = reader.run("const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.outlineWidth]")
    assert outline == ["solid", "2px"]
    reader.keys(Keys.ARROW_RIGHT)
    first = reader.said()
    assert re.match(r"[0-9.]+ to [0-9.]+\u00a0ns\. rt: [0-9,]+ of 30,000; stock: ", first)
    reader.keys(Keys.ARROW_RIGHT)
    assert reader.said() != first
    reader.keys(Keys.ARROW_LEFT)
    assert reader.said() == first
    reader.keys(Keys.END)
    assert reader.said() != first
    reader.keys("0", "+", "+")
    near = shown(reader)
    assert near != whole
    assert reader.said() == f"Shown: {near}"
    reader.keys(Keys.ARROW_RIGHT, held=Keys.SHIFT)
    assert shown(reader) not in (near, whole)
    reader.keys(Keys.ESCAPE)
    assert shown(reader) == whole
    assert reader.driver.switch_to.active_element == chart


def test_zooms_by_dragging_and_by_buttons_as_far_as_the_data_go(reader: Browser) -> None:
    whole = shown(reader)
    reader.drag(reader.all(".u-over")[1], -200, -150)
    near = shown(reader)
    assert near != whole
    assert sum(float(row[2]) for row in open_table(reader, 1)) < 30_000
    reader.run("arguments[0].dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))", reader.all(".u-over")[1])
    assert shown(reader) == whole
    reader.run("document.querySelectorAll('details').forEach((one) => (one.open = false))")
    for button in reader.all(".bar button"):
        reader.run("for (let n = 0; n < 15; n++) arguments[0].click()", button)
        assert re.match(r"[0-9.]+.* to [0-9.]+\u00a0[µm]?s", shown(reader))
    assert shown(reader) == whole


def test_a_finger_zooms_sideways(reader: Browser) -> None:
    whole = shown(reader)
    reader.width(360)
    place = reader.run(
        "const over = document.querySelectorAll('.u-over')[0]; over.scrollIntoView({block: 'center'});"
        "const box = over.getBoundingClientRect(); return [box.x, box.y + box.height / 2, box.width]"
    )
    for kind, part in (("touchStart", 0.2), *(("touchMove", 0.3 + 0.1 * n) for n in range(4)), ("touchEnd", None)):
        points = [] if part is None else [{"x": place[0] + part * place[2], "y": place[1]}]
        reader.command("Input.dispatchTouchEvent", type=kind, touchPoints=points)
    assert shown(reader) != whole


# Tables


def test_tables_sort_by_value(reader: Browser) -> None:
    def rows() -> list[str]:
        return reader.run(
            "return [...document.querySelectorAll('#table-under-test tbody th')].map((c) => c.textContent)"
        )

    table = next(t for t in reader.all("figure.table table") if "Footprint" not in t.text and "p99.999" in t.text)
    reader.run("arguments[0].id = 'table-under-test'", table)
    assert all(head.find_elements("css selector", "button") for head in table.find_elements("css selector", "thead th"))
    before = rows()
    heading = reader.all("#table-under-test thead th")[1]
    button = heading.find_element("css selector", "button")
    values = (
        "return [...document.querySelectorAll('#table-under-test tbody td:nth-child(2)')]"
        ".map((cell) => [cell.dataset.unit ?? '', Number(cell.dataset.value ?? NaN)])"
    )
    button.click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert "ascending" in reader.said()
    told = [(unit, value) for unit, value in reader.run(values) if value is not None]
    assert rows() != before
    for unit in {unit for unit, _ in told}:
        of_unit = [value for its, value in told if its == unit]
        assert of_unit == sorted(of_unit)
    assert len(told) > 8
    button.send_keys(Keys.ENTER)
    assert heading.get_attribute("aria-sort") == "descending"
    assert [v for u, v in reader.run(values) if u == "ns"] == sorted((v for u, v in told if u == "ns"), reverse=True)
    button.send_keys(Keys.SPACE)
    assert heading.get_attribute("aria-sort") is None
    assert rows() == before


@given(st.integers(-(10**12), 10**12), st.sampled_from(["ns", "B", "1", "1/s"]))
def test_a_figure_is_read_back_from_its_text(value: int, unit: str) -> None:
    key = key_of(quantity(value, unit))
    assert key is not None
    assert key.unit == ("" if unit == "1" else unit)
    assert key.value == pytest.approx(value, rel=6e-4)


def test_what_is_no_figure_has_no_value() -> None:
    texts = ("-", "✓ met", "rt", "2 of 30", "12 µs to 13 µs", "1.2.3", "")
    assert [key_of(text) for text in texts] == [None] * len(texts)
    assert [key_of(t).written for t in ("≥\u00a0400\u00a0µs", "∞", "-1.5\u00a0ms", "6\u00a0h", "1.23e-05")] == [
        "400000", "Infinity", "-1500000", "21600000000000", "1.23e-05",
    ]  # fmt: skip
    table = Table(1, "", (Column("a", False), Column("b")), ((Cell("12"), Cell("12")),))
    assert [key is None for key in keys_of(table)[0]] == [True, False]


# Whoever reads it, and on whatever


def test_without_scripts_the_static_plots_and_tables_are_all_there(reader: Browser, page: Path) -> None:
    reader.command("Emulation.setScriptExecutionDisabled", value=True)
    reader.driver.get(page.as_uri())
    assert not reader.find("#explorer").is_displayed()
    assert len(reader.all("figure.plot svg")) >= 8
    assert all(svg.is_displayed() for svg in reader.all("figure.plot svg"))
    assert reader.all("th button") == []
    assert all(table.is_displayed() for table in reader.all("table"))


def test_dark_and_light_follow_the_reader_while_the_page_is_open(reader: Browser) -> None:
    light, dark = "1b1f24", "e4e7ea"
    for scheme, ink, other in (("light", light, dark), ("dark", dark, light), ("light", light, dark)):
        reader.media(prefers_color_scheme=scheme)
        reader.run("return new Promise(requestAnimationFrame)")
        assert reader.pixels(1, ink) > 50, scheme
        assert reader.pixels(1, other) == 0, scheme
        assert reader.pixels(1, COLOURS.colour("rt")) > 100


def test_paper_shows_the_static_report(reader: Browser, tmp_path: Path) -> None:
    reader.media(prefers_color_scheme="dark")
    path = reader.pdf(tmp_path / "printed.pdf")
    text = subprocess.run(["pdftotext", path, "-"], capture_output=True, text=True, check=True).stdout
    assert "Explore the samples" not in text
    assert "Figure 1." in text
    assert "↕" not in text
    assert text.count("limit: max at most 100") >= 3  # written into the static plots


@pytest.mark.parametrize("view", ["Histogram", "Share above", "Percentiles"])
def test_a_phone_needs_no_scrolling_sideways(reader: Browser, view: str) -> None:
    reader.width(360)
    reader.labelled(view).click()
    open_table(reader, 0)
    assert (
        reader.run("return new Promise((done) => setTimeout(() => done(document.documentElement.scrollWidth), 50))")
        <= 360
    )
    assert all(canvas.size["width"] <= 330 for canvas in reader.all(".chart canvas"))


def test_whatever_takes_the_focus_has_a_name_and_nothing_moves(reader: Browser) -> None:
    reader.labelled("Percentiles").click()
    open_table(reader, 0)
    reader.command("Accessibility.enable")
    nodes = [n for n in reader.command("Accessibility.getFullAXTree")["nodes"] if not n["ignored"]]
    reader.command("Accessibility.disable")

    def focusable(node: dict[str, Any]) -> bool:
        return any(p["name"] == "focusable" and p["value"]["value"] for p in node["properties"])

    named = {
        n["role"]["value"]: n["name"]["value"] for n in nodes if focusable(n) and n["role"]["value"] != "RootWebArea"
    }
    assert {"application", "checkbox", "radio", "combobox", "button", "region", "link"} <= set(named)
    assert [n["role"] for n in nodes if focusable(n) and not n["name"]["value"].strip()] == []
    groups = [n["name"]["value"] for n in nodes if n["role"]["value"] == "group"]
    assert {"View", "Candidates", "Loads", "Percentiles", "Zoom"} <= set(groups)
    assert "n = 30,000" in named["application"]
    assert reader.run(
        "return [...document.querySelectorAll('*')].map((e) => getComputedStyle(e))"
        ".filter((s) => s.transitionDuration !== '0s' || s.animationName !== 'none').length"
    ) == 0  # fmt: skip


# No network, no other script


class Counting(BaseHTTPRequestHandler):
    asked: list[str] = []  # noqa: RUF012 - one server at a time

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_the_page_asks_for_nothing_and_its_policy_lets_nothing_else_ask(
    chromium: Browser, page: Path, tmp_path: Path
) -> None:
    chromium.open(page)
    chromium.run("document.querySelectorAll('.explorer label, .explorer button').forEach((one) => one.click())")
    assert chromium.requests() == [page.as_uri()]
    server = ThreadingHTTPServer(("127.0.0.1", 0), Counting)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        host = f"http://127.0.0.1:{server.server_port}"
        foreign = (
            f'<img src="{host}/img"><script src="{host}/script"></script><link rel="stylesheet" href="{host}/css">'
            f"<iframe src='{host}/frame'></iframe><script>window.foreign = 1; fetch('{host}/fetch')</script></body>"
        )
        html = page.read_text().replace("</body>", foreign)
        meta = re.search(r'<meta http-equiv="Content-Security-Policy"[^>]*>\n', html)
        assert meta
        asked = {}
        for name, text in (("guarded", html), ("open", html.replace(meta[0], ""))):
            (tmp_path / f"{name}.html").write_text(text)
            Counting.asked.clear()
            chromium.open(tmp_path / f"{name}.html")
            assert chromium.find("#explorer").is_displayed()
            foreign_ran = chromium.driver.execute_async_script("setTimeout(arguments[0], 200, window.foreign ?? 0)")
            asked[name] = (foreign_ran, set(Counting.asked))
    finally:
        server.shutdown()
        server.server_close()
    assert asked["guarded"] == (0, set())
    assert asked["open"] == (1, {"/img", "/script", "/css", "/frame", "/fetch"})


def test_hostile_names_stay_text(chromium: Browser, tmp_path: Path) -> None:
    base = found("hackbench")
    bad = replace(
        base,
        summaries=tuple(
            replace(s, group=replace(s.group, candidate=HOSTILE), problems=(HOSTILE,))
            if s.group.candidate == "stock-full" else s for s in base.summaries
        ),
        verdicts=(), comparisons=(),
    )  # fmt: skip
    path = tmp_path / "hostile.html"
    path.write_text(to_html(build(gather(mission(title=HOSTILE), bad, records(bad), {}))))
    chromium.open(path)
    assert "<script>alert('x')</script>" in chromium.find(".boxes").text
    assert "<script>alert('x')</script>" in chromium.find(".panels").text
    assert chromium.log("browser") == []


def test_another_script_than_the_known_one_is_not_put_into_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore_script, "FILES", dict.fromkeys(explore_script.FILES, "0" * 64))
    with pytest.raises(BadInput, match=r"^[^\n]*is not the file of uPlot[^\n]*pip install[^\n]*$"):
        explore_script.scripts.__wrapped__(explorer=True)
    monkeypatch.setattr(explore_script, "PACKAGE", "no-such-package")
    with pytest.raises(BadInput, match=r"^[^\n]*need uPlot[^\n]*pip install[^\n]*$"):
        explore_script.scripts.__wrapped__(explorer=True)
    assert len(explore_script.scripts(explorer=False).scripts) == 1


# The embedded samples


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-50, 3000), min_size=1, max_size=400), st.integers(2, 50))
def test_thinning_loses_no_sample_and_keeps_the_tail(samples: list[int], most: int) -> None:
    values, counts = np.unique(np.array(samples), return_counts=True)
    thin, kept, merged = thinned(Distribution(values, counts, "ns", Kind.HISTOGRAM), most)
    assert len(thin) <= max(most, 1)
    assert kept.sum() == len(samples)
    assert (merged > 1) == (len(values) > most)
    assert (np.diff(thin) > 0).all()
    tail = most // 2
    assert thin[-tail:].tolist() == values[-tail:].tolist()[-len(thin):]  # fmt: skip
    above = [(values > v) @ counts for v in thin]
    assert above == [int(kept[thin > v].sum()) for v in thin]


def test_many_groups_share_the_page(material: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore, "MOST_OF_A_PAGE", 2_000)
    (block,) = explore.explorer(material)
    data = json.loads(block.data)
    sizes = [len(g["counts"]) for place in data["places"] for load in place["loads"] for g in load["groups"]]
    assert data["most"] == 2_000 // len(sizes) > explore.FEWEST
    assert max(sizes) == data["most"]
    assert list(explore.explorer(replace(material, evidence=Evidence((), (), ())))) == []
