# SPDX-License-Identifier: MIT
"""The root that is measured in: of which files its place in the cache is told."""

from rtqual.base.architecture import AMD64
from rtqual.parts.images.measuring_root import _own_files


def test_all_files_that_a_root_is_made_of_are_there() -> None:
    assert [str(path) for path in _own_files(AMD64) if not path.is_file()] == []
