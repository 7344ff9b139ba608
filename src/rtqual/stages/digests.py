# SPDX-License-Identifier: MIT
"""The digests of finished campaigns (engine/campaign/digest.py): as they lie there where this user's rtqual made them,
else made anew from the records."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.engine.campaign import digest
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.digest import Digest
from rtqual.engine.campaign.manifest import opened

_SEAL = f"{kept.CAMPAIGN}.sig"  # what is under it is left as it is


def digest_of(folder: Path, *, anew: bool = False) -> Digest:
    """A campaign's digest; where it is missing, stale or not ours, or `anew`, from the records, and left there for
    the next time.

    Raises BadInput for a folder without a finished campaign, for a verification, and for what is damaged.
    """
    campaign = opened(folder)
    if campaign.scale.startswith(kept.VERIFY):
        raise BadInput(f"{folder}: is a verification, which has procedures and no figures: rtqual show {folder}")
    found = None if anew else digest.read(folder, campaign.sha256 or "")
    if found is not None:
        return found
    from rtqual.stages.selection import evidence_of  # noqa: PLC0415 - slow to load, and seldom needed

    its = kept.load(folder)
    content = digest.content_of(its, evidence_of(its))
    digest.note(content)
    if campaign.sealed is None and not (folder / _SEAL).exists():
        with suppress(OSError):  # a folder that only others may write to
            digest.write(folder, its, content)
    return digest.in_memory(folder, its, content)


def campaigns_in(folders: Iterable[Path]) -> list[Path]:
    """Folders of finished campaigns: those given, and those that lie in a given folder. Raises BadInput for one that is
    neither and has none."""
    return list(dict.fromkeys(found for folder in folders for found in _in(folder)))


def _in(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        raise BadInput(f"{folder}: no folder there: give those of campaigns")
    if (folder / kept.CAMPAIGN).exists():
        yield folder
        return
    inside = [path for path in sorted(folder.iterdir()) if not path.is_symlink() and (path / kept.CAMPAIGN).exists()]
    if not inside:
        raise BadInput(f"{folder}: no finished campaign there, nor in the folders in it: give those of campaigns")
    yield from inside
