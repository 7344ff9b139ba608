# SPDX-License-Identifier: MIT
"""Files that are mostly holes."""

from pathlib import Path

from rtqual.base.sparse import copy_sparse, sparse_sha256

SIZE_B = 2**33


def holed(path: Path, at: dict[int, bytes], size_b: int = SIZE_B) -> Path:
    with path.open("wb") as file:
        for offset, content in at.items():
            file.seek(offset)
            file.write(content)
        file.truncate(size_b)
    return path


def test_what_is_zero_is_no_content_wherever_the_holes_are(tmp_path: Path) -> None:
    at = {5: b"x", SIZE_B - 3: b"end"}
    sparse = sparse_sha256(holed(tmp_path / "sparse", at))
    assert sparse == sparse_sha256(holed(tmp_path / "written", {2**25: bytes(2**22), **at}))
    others = ({5: b"y", SIZE_B - 3: b"end"}, {6: b"x", SIZE_B - 3: b"end"}, {5: b"x"})
    hashes = {sparse_sha256(holed(tmp_path / "other", other)) for other in others}
    assert len(hashes) == 3 and sparse not in hashes
    assert sparse != sparse_sha256(holed(tmp_path / "longer", at, SIZE_B + 1))


def test_holes_are_not_read(tmp_path: Path) -> None:
    """Were they, it would not end: some hours at a GB a second."""
    assert sparse_sha256(holed(tmp_path / "hole", {2**42: b"x"}, 2**43))


def test_a_copy_has_the_content_and_takes_no_room(tmp_path: Path) -> None:
    source = holed(tmp_path / "source", {7: b"x", 2**25: bytes(2**22), 2**32: b"y"})
    with source.open("rb") as file:
        copy_sparse(file.fileno(), tmp_path / "copy")
    assert sparse_sha256(tmp_path / "copy") == sparse_sha256(source)
    assert (tmp_path / "copy").stat().st_blocks * 512 < 2**22
