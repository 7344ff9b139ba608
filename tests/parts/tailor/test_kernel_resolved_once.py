# SPDX-License-Identifier: MIT
"""A kernel that is built and then measured is resolved once in a process; again where its start has changed."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from rtqual.engine.mission import Tailor
from rtqual.parts.tailor import tailored as built
from support.kernel_trees import write_tree


def test_what_was_resolved_is_not_resolved_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tree = write_tree(tmp_path / "tree", "config A\n    bool\n")
    start = tmp_path / "a.config"
    folders: list[Path] = []

    def resolve(*_: object, folder: Path, **__: object) -> SimpleNamespace:
        folders.append(folder)
        (folder / ".config").write_text("CONFIG_A=y\n")
        return SimpleNamespace(config_path=folder / ".config")

    monkeypatch.setattr(built, "resolve", resolve)
    wanted = Tailor(source=str(tree.path), start=str(start))
    start.write_text("CONFIG_A=y\n")
    first = built._resolve(tree, (), wanted, ())
    assert built._resolve(tree, (), wanted, ()) is first and len(folders) == 1
    start.write_text("CONFIG_A=y\nCONFIG_B=y\n")
    assert built._resolve(tree, (), wanted, ()) is not first and len({*folders}) == 2
    first.config_path.unlink()
    start.write_text("CONFIG_A=y\n")
    built._resolve(tree, (), wanted, ())
    assert len(folders) == 3, "its configuration is gone"
