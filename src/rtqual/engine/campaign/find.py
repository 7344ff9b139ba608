# SPDX-License-Identifier: MIT
"""What a user means: the records, and the kind of folder."""

from pathlib import Path

from rtqual.base import unlinked
from rtqual.base.errors import BadInput
from rtqual.engine.campaign.folder import OUT, RECORDS, VERIFY, planned_in
from rtqual.protocols.record.store import MANIFEST, Store, read_manifest


def find(what: Path) -> list[Path]:
    """The records a user means: a record's folder, a campaign's folder, FOLDER:CANDIDATE of it, or how the hash or the
    folder of a record below out/ begins."""
    if (what / MANIFEST).exists() or (what / MANIFEST).is_symlink():
        return [what]
    if what.is_dir():
        inside = unlinked.require(what, RECORDS)
        found = Store(inside if inside.is_dir() else what).paths()
    elif (parted := split(what))[1]:
        found = [path for path in find(parted[0]) if read_manifest(path).inputs.candidate == parted[1]]
    else:
        stores = [Store(folder) for folder in sorted(OUT.glob(f"*/{RECORDS}"))]
        held = [path for store in stores for path in store.paths()] if len(str(what)) >= 4 else []
        found = [path for path in held if path.name.startswith(str(what)) or _hash(path).startswith(str(what))]
        exact = [path for path in found if path.name == str(what)]
        if len({path.name.partition("-")[0] for path in exact or found}) > 1:
            raise BadInput(f"{what}: {len(found)} records below out/ begin so: give more characters")
        found = (exact or found)[:1]
    if not found:
        raise BadInput(f"{what}: no record there, nor one with such a hash below out/: give a folder or 4 characters")
    return found


def split(what: Path) -> tuple[Path, str]:
    """FOLDER:CANDIDATE apart; no candidate where there is such a path, or none is named."""
    folder, _, candidate = str(what).rpartition(":")
    return (Path(folder), candidate) if folder and Path(folder).is_dir() and not what.exists() else (what, "")


def _hash(path: Path) -> str:
    return read_manifest(path).hash


def is_verification(folder: Path) -> bool:
    """Whether a `rtqual verify` that has ended left this folder."""
    try:
        return planned_in(folder)[1].startswith(VERIFY)
    except BadInput:
        return False
