# SPDX-License-Identifier: MIT
"""The page by axe-core's rules (WCAG 2.2 and good practice), wide and narrow, light and dark; the PDF is tagged."""

import hashlib
import json
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from support.browser import Browser

AXE = "axe-core@4.14.1"
SHA256 = "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745"
RUN = "axe.run().then(found => JSON.stringify(found.violations.map(one => [one.id, one.nodes.map(node => node.html)])))"


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The library, from npm's registry, if it is the one that was tried here."""
    if shutil.which("npm") is None:
        pytest.skip("THE PAGE IS NOT CHECKED FOR ACCESSIBILITY: no npm to fetch axe-core with: apt-get install npm")
    folder = tmp_path_factory.mktemp("axe")
    done = subprocess.run(
        ["npm", "pack", "--silent", AXE], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode:
        pytest.skip(f"THE PAGE IS NOT CHECKED FOR ACCESSIBILITY: npm cannot fetch {AXE}: {done.stderr.strip()[-200:]}")
    (archive,) = folder.glob("*.tgz")
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == SHA256
    with tarfile.open(archive) as files:
        library = files.extractfile("package/axe.min.js")
        assert library
        return library.read().decode()


@pytest.mark.full  # whose packages npm is one of
@pytest.mark.parametrize(("width_px", "scheme"), [(1400, "light"), (800, "dark"), (390, "dark"), (390, "light")])
def test_the_page_breaks_no_rule_of_axe(chromium: Browser, written: Path, axe: str, width_px: int, scheme: str) -> None:
    chromium.open(written / "report.html")
    chromium.width(width_px)
    chromium.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    chromium.command("Runtime.evaluate", expression=axe)  # the page's own policy would refuse a script of others
    told = chromium.command("Runtime.evaluate", expression=RUN, awaitPromise=True, returnByValue=True)
    assert json.loads(told["result"]["value"]) == []


@pytest.mark.guest
def test_the_pdf_is_tagged_for_screen_readers_and_names_its_standard(written: Path) -> None:
    assert "Tagged:          yes" in told_of(written / "report.pdf")
    assert 'pdfuaid:part="1"' in told_of(written / "report.pdf", "-meta")


def told_of(pdf: Path, *options: str) -> str:
    return subprocess.run(["pdfinfo", *options, pdf], capture_output=True, text=True, check=True).stdout
