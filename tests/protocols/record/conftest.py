# SPDX-License-Identifier: MIT
"""What the store's tests share: a store, and a record kept in it."""

from pathlib import Path

import pytest

from rtqual.protocols.record.store import Store
from support.store_records import record


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "records")


@pytest.fixture
def kept(store: Store) -> Path:
    return store.write(record())
