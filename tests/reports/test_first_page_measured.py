# SPDX-License-Identifier: MIT
"""Page one as it is drawn, measured: nothing is out of sight, nothing is printed over anything else, however many
candidates and requirements there are, from a phone's width to a wide screen's and on paper."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from reports.test_first_page import LONG, made
from rtqual.reports.page.document import Document
from rtqual.reports.page.render import to_html, to_pdf
from support.browser import Browser

WIDTHS_PX = (390, 600, 768, 1000, 1400)
GRID = [
    (1, False, 0),
    (2, False, 1),
    (2, False, 6),
    (2, True, 6),
    (3, False, 12),
    (5, True, 3),
    (8, True, 30),
    (8, False, 1),
]
# Every text's boxes by what it says; what no reader sees (a heading that each cell repeats) is left out.
MEASURE = """
const seen = (node) => {
  const head = node.parentElement.closest("thead");
  return !head || getComputedStyle(head).clipPath === "none";
};
const said = [];
for (const part of document.querySelectorAll("header, .decision")) {
  const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, range = document.createRange();
    if (!node.data.trim() || !seen(node) || node.parentElement.closest("title, desc, style")) continue;
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      const small = node.parentElement.closest("sup") !== null;
      said.push([node.data.trim().slice(0, 40), box.left, box.top, box.right, box.bottom, small]);
    }
  }
}
const faults = [];
const wide = document.documentElement.clientWidth;
const scrolls = document.documentElement.scrollWidth - wide;
if (scrolls > 0) faults.push(`the page scrolls sideways, ${scrolls} px`);
for (const one of document.querySelectorAll("header *, .decision *")) {
  const hidden = one.closest("thead, svg") ? 0 : one.scrollWidth - one.clientWidth;
  if (hidden > 1 && getComputedStyle(one).overflowX !== "visible") faults.push(`${one.className} hides ${hidden} px`);
}
for (const tone of document.querySelectorAll(".decision td .tone")) {
  const text = tone.firstChild, range = document.createRange();
  for (const word of text.data.matchAll(/[\\w-]+/g)) {
    range.setStart(text, word.index);
    range.setEnd(text, word.index + word[0].length);
    if (range.getClientRects().length > 1) faults.push(`'${word[0]}' is broken`);
  }
}
for (const [text, left, , right] of said)
  if (left < -1 || right > wide + 1) faults.push(`'${text}' leaves the window, ${left} to ${right}`);
return [faults, said];
"""
WORD = re.compile(r'<word xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="([\d.]+)">(.*?)</word>')
Box = tuple[str, float, float, float, float]


def overprinted(boxes: list[Box]) -> list[str]:
    """Pairs of texts that share more than a sliver."""
    found = []
    for k, (a, left, top, right, bottom) in enumerate(boxes):
        for b, left2, top2, right2, bottom2 in boxes[k + 1 :]:
            across = min(right, right2) - max(left, left2)
            down = min(bottom, bottom2) - max(top, top2)
            if across > 1.5 and down > 0.4 * min(bottom - top, bottom2 - top2):
                found.append(f"'{a}' and '{b}' share {across:.0f} x {down:.0f}")
    return found


def first_page(candidates: int, requirements: int, *, long: bool) -> Document:
    names = [f"{LONG if long else 'rt'}-{number}" for number in range(candidates)]
    return replace(made(names, requirements), verdicts=(), chapters=())


@pytest.mark.parametrize(("candidates", "long", "requirements"), GRID)
def test_nothing_on_page_one_is_out_of_sight_or_printed_over(
    candidates: int, long: bool, requirements: int, chromium: Browser, tmp_path: Path
) -> None:
    document = first_page(candidates, requirements, long=long)
    page = tmp_path / "report.html"
    page.write_text(to_html(document))
    chromium.open(page)
    for width_px in WIDTHS_PX:
        chromium.width(width_px)
        faults, said = chromium.run(MEASURE)
        assert len(said) > 10
        faults += overprinted([(text, *box) for text, *box, small in said if not small])
        assert not faults, f"{width_px} px: {faults[:5]}"

    pdf = tmp_path / "report.pdf"
    pdf.write_bytes(to_pdf(document))
    drawn = subprocess.run(["pdftotext", "-bbox", str(pdf), "-"], capture_output=True, text=True, check=True).stdout
    first = drawn.split("</page>")[0]
    size = re.search(r'<page width="([\d.]+)" height="([\d.]+)"', first)
    assert size
    words: list[Box] = [(w[5], *map(float, w.group(1, 2, 3, 4))) for w in WORD.finditer(first)]
    beyond = [text for text, left, top, right, bottom in words
              if left < 0 or top < 0 or right > float(size[1]) or bottom > float(size[2])]  # fmt: skip
    assert not beyond
    assert not overprinted(words)[:5]
    assert document.decision
    wanted = ["Requirement", "Candidates"] if requirements else ["Candidates"]
    text = " ".join(word[0] for word in words)
    assert all(one in text for one in wanted), "the decision begins on page one"
    if candidates <= 2 and requirements <= 1:
        assert "Approved" in text, "of one that is short, the signatures too"
