# SPDX-License-Identifier: MIT
"""The page for every reader: without scripts, on paper, on a phone; it asks for nothing, and text stays text."""

import re
import subprocess
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from rtqual.reports.material import gather
from rtqual.reports.page.render import to_html
from rtqual.reports.view import build
from support.browser import Browser
from support.explore_page import COLOURS, found, open_table
from support.report_material import HOSTILE, mission, records

# Every reader, on every device


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
