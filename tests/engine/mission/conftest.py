# SPDX-License-Identifier: MIT
"""What the mission's tests share: a place for a mission file."""

from pathlib import Path

import pytest


@pytest.fixture
def mission_file(tmp_path: Path) -> Path:
    return tmp_path / "mission.toml"
