# SPDX-License-Identifier: MIT
"""docs/architecture.md draws the layers that `make lint` checks, and loose modules stay out of the package."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_picture_is_the_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["containers"] == ["rtqual"])
    drawn = re.findall(r"^  ([a-z]+) {2,}", (ROOT / "docs/architecture.md").read_text(), re.MULTILINE)
    assert drawn == layers


def test_no_contract_has_an_exception() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert all("ignore_imports" not in one for one in contracts)


def test_every_module_lies_in_a_package_and_is_short_enough_to_read() -> None:
    source = ROOT / "src/rtqual"
    assert sorted(path.name for path in source.glob("*.py")) == ["__init__.py", "__main__.py"]
    paths = [path for folder in ("src", "tests", "bench") for path in (ROOT / folder).rglob("*.py")]
    assert [str(path) for path in paths if len(path.read_text().splitlines()) > 350] == []


def test_no_file_in_c_is_too_long_to_read() -> None:
    folders = ("common", "docking", "ds325", "emulator", "flight", "ground", "guest", "kmod", "probe", "tests")
    paths = [path for folder in folders for kind in ("c", "h", "cpp") for path in (ROOT / folder).rglob(f"*.{kind}")]
    assert paths
    assert [str(path) for path in paths if len(path.read_text().splitlines()) > 450] == []


def test_files_that_the_table_of_additions_names_are_there() -> None:
    named = re.findall(
        r"`((?:board|instrument|load|importer|kernel|report)/[\w/.]+)`", (ROOT / "docs/architecture.md").read_text()
    )
    assert named
    assert [name for name in named if not (ROOT / "src/rtqual" / name).exists()] == []


def test_a_package_that_lists_its_files_lists_them_all() -> None:
    missing = []
    for init in (ROOT / "src/rtqual").rglob("__init__.py"):
        text, folder = init.read_text(), init.parent
        names = [path.name for path in folder.glob("*.py") if path.name not in ("__init__.py", "__main__.py")]
        if sum(name in text for name in names) >= 2:
            missing += [f"{folder.name}/{name}" for name in names if not listed(name, text)]
    assert sorted(missing) == []


def listed(name: str, text: str) -> bool:
    patterns = re.findall(r"[\w*]+\.py", text)
    return any(re.fullmatch(pattern.replace(".", r"\.").replace("*", ".*"), name) for pattern in patterns)
