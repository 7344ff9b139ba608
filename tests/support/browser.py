# SPDX-License-Identifier: MIT
"""Debian's Chromium without a screen, as a reader uses it: keys, mouse, what is seen and what is read out."""

import base64
import hashlib
import json
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:  # selenium takes a second to import, in every process that collects tests
    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1200,900",
)
AXE = "axe-core@4.14.1"
AXE_SHA256 = "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745"
RUN_AXE = (
    "axe.run().then(found => JSON.stringify(found.violations.map(one => [one.id, one.nodes.map(node => node.html)])))"
)
PIXELS = """
const [chart, colour] = arguments, [r, g, b] = colour.match(/\\w\\w/g).map((two) => parseInt(two, 16));
const canvas = document.querySelectorAll(".chart")[chart].querySelector("canvas");
const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
copy.drawImage(canvas, 0, 0);
const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
let found = 0;
for (let i = 0; i < data.length; i += 4)
  found += data[i + 3] > 250 && Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 12;
return found;
"""


class Browser:
    def __init__(self, driver: "Chrome") -> None:
        self.driver = driver

    def open(self, path: Path) -> None:
        """A page as if for the first time: light, wide, its scripts on."""
        self.driver.get("about:blank")
        self.command("Emulation.setScriptExecutionDisabled", value=False)
        self.command("Emulation.setEmulatedMedia", features=[], media="")
        self.width(1200)
        self.log("browser")
        self.log("performance")
        self.driver.get(path.as_uri())

    def command(self, name: str, **arguments: Any) -> dict[str, Any]:
        """One of Chromium's DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, arguments)

    def width(self, width_px: int) -> None:
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width_px, height=900, deviceScaleFactor=1,
            mobile=width_px < 500,
        )  # fmt: skip

    def media(self, **features: str) -> None:
        wanted = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.command("Emulation.setEmulatedMedia", features=wanted)

    def log(self, kind: str) -> list[Any]:
        return [entry["message"] for entry in self.driver.get_log(kind)]

    def requests(self) -> list[str]:
        """The address of everything the page asked for, answered or not."""
        events = [json.loads(message)["message"] for message in self.log("performance")]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]

    def find(self, selector: str) -> "WebElement":
        return self.driver.find_element("css selector", selector)

    def all(self, selector: str) -> list["WebElement"]:
        return self.driver.find_elements("css selector", selector)

    def labelled(self, text: str) -> "WebElement":
        """A checkbox or radio button by its label."""
        return self.driver.find_element("xpath", f"//label[starts-with(normalize-space(), '{text}')]/input")

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def keys(self, *keys: str, held: str = "") -> None:
        """To what has the focus."""
        from selenium.webdriver import ActionChains

        chain = ActionChains(self.driver)
        if held:
            chain.key_down(held)
        chain.send_keys(*keys)
        if held:
            chain.key_up(held)
        chain.perform()

    def drag(self, over: "WebElement", begin_px: int, end_px: int) -> None:
        """Across an element; places count from its middle."""
        from selenium.webdriver import ActionChains

        mouse = ActionChains(self.driver, duration=20).move_to_element_with_offset(over, begin_px, 0)
        mouse.click_and_hold().move_by_offset(end_px - begin_px, 0).release().perform()

    def pixels(self, chart: int, colour: str) -> int:
        """How much of a plot has a colour."""
        return int(self.run(PIXELS, chart, colour))

    def said(self) -> str:
        """What a screen reader was told last."""
        return str(self.run("return document.querySelector('[role=status]').textContent"))

    def violations(self, axe: str) -> list[Any]:
        """What axe-core finds in the page, by rule."""
        self.command("Runtime.evaluate", expression=axe)  # the page's own policy would refuse a script of others
        told = self.command("Runtime.evaluate", expression=RUN_AXE, awaitPromise=True, returnByValue=True)
        found: list[Any] = json.loads(told["result"]["value"])
        return found

    def pdf(self, path: Path) -> Path:
        path.write_bytes(base64.b64decode(self.command("Page.printToPDF", preferCSSPageSize=True)["data"]))
        return path


@contextmanager
def started(profile: Path) -> Iterator[Browser]:
    """Fails where there is no Chromium: a page that nobody opened is not tested."""
    programs = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    if absent := [name for name, path in programs.items() if path is None]:
        pytest.fail(f"no {absent[0]}: `apt-get install chromium chromium-driver`, or `make test`")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(programs["chromium"])
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(programs["chromedriver"]))
    try:
        yield Browser(driver)
    finally:
        driver.quit()


def axe_library(folder: Path) -> str:
    """axe-core, from npm's registry, if it is the one that was tried here."""
    if shutil.which("npm") is None:
        pytest.skip("THE PAGE IS NOT CHECKED FOR ACCESSIBILITY: no npm to fetch axe-core with: apt-get install npm")
    done = subprocess.run(
        ["npm", "pack", "--silent", AXE], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode:
        pytest.skip(f"THE PAGE IS NOT CHECKED FOR ACCESSIBILITY: npm cannot fetch {AXE}: {done.stderr.strip()[-200:]}")
    (archive,) = folder.glob("*.tgz")
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == AXE_SHA256
    with tarfile.open(archive) as files:
        library = files.extractfile("package/axe.min.js")
        assert library
        return library.read().decode()
