# SPDX-License-Identifier: MIT
"""The page by axe-core's rules (WCAG 2.2 and good practice), wide and narrow, light and dark; the PDF is tagged."""

import subprocess
from pathlib import Path

import pytest

from support.browser import Browser


@pytest.mark.full  # whose packages npm is one of
@pytest.mark.parametrize(("width_px", "scheme"), [(1400, "light"), (800, "dark"), (390, "dark"), (390, "light")])
def test_the_page_breaks_no_rule_of_axe(chromium: Browser, written: Path, axe: str, width_px: int, scheme: str) -> None:
    chromium.open(written / "report.html")
    chromium.width(width_px)
    chromium.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    assert chromium.violations(axe) == []


@pytest.mark.guest
def test_the_pdf_is_tagged_for_screen_readers_and_names_its_standard(written: Path) -> None:
    assert "Tagged:          yes" in told_of(written / "report.pdf")
    assert 'pdfuaid:part="1"' in told_of(written / "report.pdf", "-meta")


def told_of(pdf: Path, *options: str) -> str:
    return subprocess.run(["pdfinfo", *options, pdf], capture_output=True, text=True, check=True).stdout
