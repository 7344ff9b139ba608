# SPDX-License-Identifier: MIT
"""The documentation: links lead somewhere, every page is listed, and the messages it explains are those of the code."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LISTED = [page for page in DOCS.rglob("*.md") if page.parent != DOCS / "changes"]
PAGES = sorted([*LISTED, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"])
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """As Markdown renderers make them from headings, and those that are named."""
    named = re.findall(r'<a id="([^"]+)">', page.read_text())
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings} | {*named}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    dead = []
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCED.sub("", page.read_text())):
        if re.match(r"https?:", target):
            continue
        file, _, anchor = target.partition("#")
        place = (page.parent / file).resolve() if file else page
        if not place.exists() or (anchor and anchor not in anchors(place)):
            dead.append(target)
    assert dead == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_row_of_a_table_is_one_line(page: Path) -> None:
    rows = [line for line in FENCED.sub("", page.read_text()).splitlines() if line.startswith("|")]
    assert [row for row in rows if not row.endswith("|")] == []


@pytest.mark.parametrize("listing", ["docs/index.md", "mkdocs.yml"])
def test_every_page_is_listed(listing: str) -> None:
    text = (ROOT / listing).read_text()
    pages = {str(page.relative_to(DOCS)) for page in LISTED} - {"index.md"}
    assert {page for page in pages if not re.search(rf"[(\s]{re.escape(page)}\b", text)} == set()


def messages() -> str:
    """All texts in the code, each on a line, with … for what is put in."""
    texts = []
    for path in [*(ROOT / "src/rtqual").rglob("*.py"), *(ROOT / "docking/rtqual_docking").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.JoinedStr):
                parts = (part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
                texts.append("".join(str(part) for part in parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(node.value)
    return "\n".join(texts)


def test_the_messages_explained_are_those_of_the_code() -> None:
    explained = re.findall(r"^\| `(.+?)` \|", (DOCS / "troubleshooting.md").read_text(), re.MULTILINE)
    assert len(explained) >= 10
    said = messages()
    unknown = [one for one in explained if not re.search(".*?".join(map(re.escape, one.strip("…").split("…"))), said)]
    assert unknown == []


def test_the_tests_that_hold_an_answer_are_there() -> None:
    """A test whose file is not told stands in the file that was named last."""
    file, missing = Path(), []
    for name in re.findall(r"`([\w/.-]*\btest_\w+(?:\.py)?)`", (DOCS / "verification/attacks.md").read_text()):
        if name.endswith(".py"):
            file = ROOT / "tests" / name
        if not (file.is_file() and (name.endswith(".py") or f"\ndef {name}(" in file.read_text())):
            missing.append(f"{file.name}: {name}")
    assert missing == []
