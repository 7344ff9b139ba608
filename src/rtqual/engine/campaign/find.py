# SPDX-License-Identifier: MIT
"""What a user means: the records, and the kind of folder."""

from pathlib import Path

from rtqual.base import unlinked
from rtqual.base.errors import BadInput
from rtqual.engine.campaign.folder import OUT, RECORDS, VERIFY, planned_in
from rtqual.protocols.record.store import MANIFEST, Store, read_manifest


def find(what: Path) -> list[Path]:
    """The records a user means: a record's folder, a campaign's folder, or the start of a hash below out/."""
    if (what / MANIFEST).exists() or (what / MANIFEST).is_symlink():
        return [what]
    if what.is_dir():
        inside = unlinked.require(what, RECORDS)
        found = Store(inside if inside.is_dir() else what).paths()
    else:
        stores = [Store(folder) for folder in sorted(OUT.glob(f"*/{RECORDS}"))]
        held = [path for store in stores for path in store.paths()] if len(str(what)) >= 4 else []
        found = [path for path in held if read_manifest(path).hash.startswith(str(what)) or path.name == str(what)][:1]
    if not found:
        raise BadInput(f"{what}: no record there, nor one with such a hash below out/: give a folder or 4 characters")
    return found


def is_verification(folder: Path) -> bool:
    """Whether a `rtqual verify` that has ended left this folder."""
    try:
        return planned_in(folder)[1].startswith(VERIFY)
    except BadInput:
        return False
