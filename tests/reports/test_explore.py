# SPDX-License-Identifier: MIT
"""The page as its readers use it, in a real browser: plots to explore, tables that sort, no network, no scripts."""

import re

import numpy as np
import pytest
from selenium.webdriver.common.keys import Keys

from rtqual.reports.chapter.distributions import panels_of
from rtqual.reports.chapter.explore import MOST, thinned
from rtqual.reports.draw import plots
from rtqual.reports.material import Material
from support.browser import Browser
from support.explore_page import COLOURS, LADDER, open_table


def shown(reader: Browser) -> str:
    return str(reader.run("return document.querySelector('.extent').textContent"))


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
