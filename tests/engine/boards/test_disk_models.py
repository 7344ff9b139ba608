# SPDX-License-Identifier: MIT
"""Models of disks: what the plugin is told. That runs with a disk repeat: test_virtual_board.py."""

import tomllib
from pathlib import Path

import pytest

from rtqual.engine.boards import disk_models, virtual

FILE = Path(disk_models.__file__).with_name("disks.toml")


def test_every_disk_of_the_board_has_a_model_and_every_number_a_source() -> None:
    tables = tomllib.loads(FILE.read_text())
    assert tables.keys() == virtual._DISKS.keys() == disk_models.disk_models().keys()
    for table in tables.values():
        assert all(figure["is"] > 0 and figure["from"] for key, figure in table.items() if key != "title")


def test_the_plugin_is_told_whole_ns() -> None:
    model = disk_models.DiskModel("a disk", {
        "read_ns": 500_000, "write_ns": 1_000_000, "flush_ns": 2_000_000, "read_mb_s": 25, "write_mb_s": 10
    })  # fmt: skip
    assert model.told("root") == "disk=root:500000:1000000:2000000:40960:102400"


def test_another_number_is_another_model(monkeypatch: pytest.MonkeyPatch) -> None:
    before = disk_models.sha256()
    faster = {**disk_models.disk_models()["usb"].figures, "write_mb_s": 20.0}
    changed = {**disk_models.disk_models(), "usb": disk_models.DiskModel("USB 2 stick", faster)}
    monkeypatch.setattr(disk_models, "disk_models", lambda: changed)
    assert disk_models.sha256() != before
