# SPDX-License-Identifier: MIT
"""The lab's page in a browser, from the disk: what it shows, links and saves; names of strangers do nothing."""

import csv
import io
import shlex
from pathlib import Path

import pytest

from rtqual.parts.site.stage import site
from support.browser import Browser
from support.made_lab import HOSTILE, hostile, lab

WAIT = "return document.getElementById('status').textContent"


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab")
    lab(folder / "campaigns", 30, 24)
    (folder / "campaigns/v023/report.html").write_text("<title>A report</title>")
    site([folder / "campaigns"], folder / "public")
    return folder / "public"


def shown(browser: Browser, path: Path, view: str = "") -> str:
    """What the page says it shows, once it does."""
    browser.open(path / "index.html")
    if view:
        browser.run("location.hash = arguments[0]", view)
    return told(browser)


def told(browser: Browser) -> str:
    from selenium.webdriver.support.wait import WebDriverWait

    browser.run("document.getElementById('status').textContent ||= ''")
    WebDriverWait(browser.driver, 60).until(lambda driver: driver.execute_script(WAIT))
    browser.run("return new Promise((done) => setTimeout(done, 50))")
    return browser.said()


def test_it_shows_all_from_the_disk_and_asks_for_nothing_else(chromium: Browser, public: Path) -> None:
    assert shown(chromium, public) == "Shown: 30 of 30 series."
    assert len(chromium.all(".grid a")) == 12
    assert len(chromium.all("section, table")) >= 1
    assert {url.split(":")[0] for url in chromium.requests() if not url.startswith("about:")} == {"file"}
    assert chromium.log("browser") == []
    assert chromium.run("const c = document.querySelector('.heat'); return [c.width, c.height]") == [24, 30]


def test_a_search_filters_and_the_view_has_an_address(chromium: Browser, public: Path) -> None:
    shown(chromium, public)
    chromium.find("#search").send_keys("board-00")
    chromium.run("return new Promise((done) => setTimeout(done, 100))")
    assert chromium.said() == "Shown: 10 of 30 series."
    assert "q=board-00" in chromium.run("return location.hash")
    assert shown(chromium, public, "q=board-01&figure=p50&order=name") == "Shown: 10 of 30 series."
    assert chromium.run("return document.getElementById('figure').value") == "p50"


def test_what_is_seen_is_saved_as_csv(chromium: Browser, public: Path) -> None:
    shown(chromium, public, "q=board-007")
    head, *rows = csv.reader(io.StringIO(chromium.run("return rtqCsv()")))
    assert head[:3] == ["board", "candidate", "measured"]
    assert [row[0] for row in rows] == ["board-007"]


def test_a_board_its_series_and_a_version_have_pages(chromium: Browser, public: Path) -> None:
    shown(chromium, public)
    chromium.find(".grid a").click()
    chromium.run("return new Promise((done) => setTimeout(done, 200))")
    assert len(chromium.all("svg.trend")) == 3
    assert chromium.find("svg.trend").get_attribute("aria-label")
    links = [link.get_attribute("href") for link in chromium.all("details a") if "report of" in link.text]
    assert len(links) <= 1
    chromium.find("#main p a").click()
    chromium.run("return new Promise((done) => setTimeout(done, 200))")
    assert chromium.find(".facts").text
    shown(chromium, public)
    chromium.find("[aria-label='Verdicts by version'] thead a").click()
    chromium.run("return new Promise((done) => setTimeout(done, 200))")
    assert chromium.find("h2").text.startswith("Version v0")
    assert len(chromium.all("tbody tr")) > 20


@pytest.mark.parametrize("view", ["row=nothing", "board=nothing", "version=nothing", "figure=nothing", "%"])
def test_an_address_that_leads_nowhere_says_so(chromium: Browser, public: Path, view: str) -> None:
    shown(chromium, public, view)
    assert chromium.find("#main").text
    assert chromium.log("browser") == []


def test_names_of_strangers_do_nothing(chromium: Browser, tmp_path: Path) -> None:
    site(hostile(tmp_path / "campaigns", HOSTILE), tmp_path / "public")
    assert shown(chromium, tmp_path / "public") == f"Shown: {len(HOSTILE)} of {len(HOSTILE)} series."
    assert HOSTILE[0] in chromium.find("#main").text
    pasted: set[str] = set()
    for link in [link.get_attribute("href") for link in chromium.all("#main a")][:20]:
        chromium.run("location.href = arguments[0]", link)
        chromium.run("return new Promise((done) => setTimeout(done, 50))")
        commands = [code.get_attribute("textContent") for code in chromium.all("#main code")]
        assert all(len(shlex.split(command)) == 3 and command.count("'") == 2 for command in commands), commands
        pasted |= {*commands}
    assert pasted
    assert chromium.run("return window.hit === undefined && !document.querySelector('#main img, #main script')")
    shown(chromium, tmp_path / "public")
    cells = [cell for row in csv.reader(io.StringIO(chromium.run("return rtqCsv()"))) for cell in row]
    assert "'=HYPERLINK(1)" in cells
    assert chromium.log("browser") == []


@pytest.mark.parametrize("width_px", [390, 1400])
def test_nothing_sticks_out_of_the_page(chromium: Browser, public: Path, width_px: int) -> None:
    shown(chromium, public)
    row = chromium.find(".grid a").get_attribute("href").partition("#")[2]
    for view in ("", row):
        shown(chromium, public, view)
        chromium.width(width_px)
        chromium.run("return new Promise((done) => setTimeout(done, 100))")
        assert chromium.run("return document.documentElement.scrollWidth") <= width_px


@pytest.mark.full  # whose packages npm is one of
@pytest.mark.parametrize(("width_px", "scheme"), [(1400, "light"), (1400, "dark"), (390, "dark"), (390, "light")])
def test_the_pages_break_no_rule_of_axe(chromium: Browser, public: Path, axe: str, width_px: int, scheme: str) -> None:
    shown(chromium, public)
    row = chromium.find(".grid a").get_attribute("href").partition("#")[2]
    version = chromium.find("[aria-label='Verdicts by version'] thead a").get_attribute("href").partition("#")[2]
    for view in ("", row, version, "heat=verdicts"):
        shown(chromium, public, view)
        chromium.width(width_px)
        chromium.media(prefers_color_scheme=scheme)
        chromium.run("return new Promise((done) => setTimeout(done, 200))")
        assert chromium.violations(axe) == []
