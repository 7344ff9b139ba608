# SPDX-License-Identifier: MIT
"""What the report's tests share: the report written once, and a browser that has it open."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rtqual.reports.material import Material, gather
from rtqual.reports.page.render import to_html
from rtqual.reports.view import build
from support.browser import Browser
from support.explore_page import found
from support.report_material import evidence, mission, records
from support.written_report import write_report


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    found = evidence()
    paths = write_report(folder, mission(), found, records(found), {})
    assert paths == [folder / name for name in ("report.html", "report.pdf", "report.md")]
    return folder


@pytest.fixture(scope="session")
def material() -> Material:
    return gather(mission(), found(), records(found()), {})


@pytest.fixture(scope="session")
def page(material: Material, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(to_html(build(material)))
    return path


@pytest.fixture
def reader(chromium: Browser, page: Path) -> Iterator[Browser]:
    """The page, just opened. Whatever a test does, the browser must have nothing to complain of."""
    chromium.open(page)
    yield chromium
    assert chromium.log("browser") == []
