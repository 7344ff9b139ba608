# SPDX-License-Identifier: MIT
"""docs/architecture.md draws the floors that `make lint` checks, and loose modules stay out of the package."""

import ast
import re
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]


PAGE = (ROOT / "docs/architecture.md").read_text()
FLOORS = ("face", "stages", "reports", "engine", "protocols", "base")


def test_the_page_has_the_floors_and_parts_that_there_are() -> None:
    folders = {path.name for path in (ROOT / "src/rtqual").iterdir() if path.is_dir() and not path.is_symlink()}
    folders -= {"__pycache__"}
    drawn = re.findall(r"^  ([a-z]+) {2,}", PAGE, re.MULTILINE)
    assert drawn == [*FLOORS]
    assert folders == {*FLOORS, "parts"}
    parts = {path.parent.name for path in (ROOT / "src/rtqual/parts").glob("*/__init__.py")}
    assert {*re.findall(r"^\| `parts/(\w+)`", PAGE, re.MULTILINE)} == parts


def test_no_contract_has_an_exception() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert all("ignore_imports" not in one for one in contracts)
    (floors,) = (one["layers"] for one in contracts if "rtqual.base" in one.get("layers", ()))
    assert [name.removeprefix("rtqual.") for name in floors if name != "rtqual.__main__"][1:] == [*FLOORS]


def test_every_module_lies_in_a_package() -> None:
    source = ROOT / "src/rtqual"
    assert sorted(path.name for path in source.glob("*.py")) == ["__init__.py", "__main__.py"]


def test_files_that_the_table_of_additions_names_are_there() -> None:
    named = re.findall(r"`((?:face|stages|reports|engine|protocols|parts)/[\w/.]+)`", PAGE)
    assert named
    assert [name for name in named if not (ROOT / "src/rtqual" / name).exists()] == []


def test_a_package_that_lists_its_files_lists_them_all() -> None:
    missing = []
    for init in [*(ROOT / "src/rtqual").rglob("__init__.py"), *ROOT.glob("docking/rtqual_docking/__init__.py")]:
        text, folder = init.read_text(), init.parent
        names = [path.name for path in folder.glob("*.py") if path.name not in ("__init__.py", "__main__.py")]
        if sum(name in text for name in names) >= 2:
            missing += [f"{folder.name}/{name}" for name in names if not listed(name, text)]
    assert sorted(missing) == []


def listed(name: str, text: str) -> bool:
    patterns = re.findall(r"[\w*]+\.py", text)
    return any(re.fullmatch(pattern.replace(".", r"\.").replace("*", ".*"), name) for pattern in patterns)


def test_few_names_stand_twice() -> None:
    """What every part has (part.py, command.py, stage.py, words.py, chapter.py) counts once."""
    files = [path for folder in ("src/rtqual", "docking/rtqual_docking") for path in (ROOT / folder).rglob("*.py")]
    nodes = [node for path in files for node in ast.walk(ast.parse(path.read_text()))]
    classes = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef) and not node.name.startswith("_"))
    modules = Counter(path.stem for path in files if path.stem != "__init__")
    for names, most in ((classes, 8), (modules, 12)):
        twice = sorted(name for name, times in names.items() if times > 1)
        assert twice and len(twice) <= most, twice
