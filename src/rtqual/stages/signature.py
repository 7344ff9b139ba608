# SPDX-License-Identifier: MIT
"""A campaign's signature, for evidence that leaves the house: OpenSSH's (ssh-keygen -Y) over campaign.json, which has
the hashes of all that lies in its folder when it is signed: what a verdict reads, and the reports."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from rtqual.base import unlinked
from rtqual.base.cache import sha256_of
from rtqual.base.errors import BadInput
from rtqual.base.program import run
from rtqual.base.scratch import scratch
from rtqual.base.words import listed
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign import manifest
from rtqual.engine.campaign.find import is_verification
from rtqual.engine.campaign.manifest import Sealed, opened
from rtqual.reports.formats import FORMATS, PAGES
from rtqual.reports.page.document import PLOT_FOLDER, Printed
from rtqual.stages import selection, verify

SEAL = f"{kept.CAMPAIGN}.sig"
_NAMESPACE = "rtqual"  # a signature for another purpose is none here
_OWN = (kept.CAMPAIGN, SEAL, kept.LOCK)
_WAYS = tuple(Printed(annex, archive) for archive, annex in product((False, True), repeat=2))  # to print a PDF
_MOST_SIGNERS_B = 1 << 20
_PATTERN = re.compile(r"[*?!]")


@dataclass(frozen=True)
class SealHolds:
    """A seal that holds."""

    who: str
    digest: str  # the campaign's, as its reports have it
    files: int | None  # in the folder, covered; None of one that was signed before reports were


def seal(folder: Path, key: Path) -> tuple[str, ...]:
    """Sign a finished campaign with a private key, or a public one whose other half an agent has.

    The reports that lie there are made anew and compared. Returns their names.
    """
    opened(folder)
    with kept.alone(folder):
        campaign = kept.load(folder)
        _require_all(folder)
        reports = _require_made(folder, campaign)
        names = [name for name in unlinked.files(folder) if name not in _OWN]
        sealed = {name: Sealed(size_b=size_b, sha256=sha256) for name in names
                  for size_b, sha256 in [_of(folder, name)]}  # fmt: skip
        content = manifest.seal(folder, sealed)
        signed, complaints = _said(["sign", "-f", str(key), "-n", _NAMESPACE], content)
        if not signed:
            raise BadInput(f"--key {key}: {complaints[-1] if complaints else 'refused'}")
        unlinked.write(folder, SEAL, ("\n".join(signed) + "\n").encode())
        return reports


def verify_seal(folder: Path, signers: Path) -> SealHolds:
    """Who sealed it, of those in a file of allowed signers (ssh-keygen(1)). Raises BadInput where nobody did, or where
    the folder is not what was sealed."""
    try:
        signature = unlinked.read(folder, SEAL)
        content = unlinked.read(folder, kept.CAMPAIGN)
    except OSError as error:
        what = f"without {kept.CAMPAIGN} and {SEAL} there is no seal to verify ({error.strerror})"
        raise BadInput(f"{folder}: {what}: rtqual seal --key KEY makes it") from None
    with scratch() as place:
        who = _who(folder, place, signature, content, signers)
    campaign = manifest.parsed(folder, content)  # what was signed; what lies there now may be another
    for name, sealed in (campaign.sealed or {}).items():
        try:
            same = _of(folder, name, sealed.size_b) == (sealed.size_b, sealed.sha256)
        except (FileNotFoundError, NotADirectoryError):
            raise BadInput(f"{folder / name}: is missing, and was there when the campaign was sealed") from None
        if not same:
            raise BadInput(f"{folder / name}: not the one that was sealed (its hash differs)")
    if campaign.sealed is not None:
        added = [name for name in unlinked.files(folder) if name not in _OWN and name not in campaign.sealed]
        for name in added:
            raise BadInput(f"{folder / name}: was not there when the campaign was sealed: take it out, or seal again")
    _require_all(folder)
    if kept.load(folder).digest != (campaign.sha256 or "") or unlinked.read(folder, kept.CAMPAIGN) != content:
        raise BadInput(f"{folder / kept.CAMPAIGN}: was changed while its seal was verified: verify it again")
    return SealHolds(who, campaign.sha256 or "", None if campaign.sealed is None else len(campaign.sealed))


def verify_report(folder: Path, file: Path) -> str:
    """What a PDF is of a campaign: the report that was sealed, or what the campaign gives when it is printed anew.

    Raises BadInput where it is neither.
    """
    try:
        content = unlinked.read(file.resolve().parent, file.resolve().name)
    except OSError as error:
        raise BadInput(f"--report {file}: cannot be read: {error.strerror}") from None
    campaign = opened(folder)
    sealed = (campaign.sealed or {}).get(PAGES["pdf"])
    if sealed and sealed.sha256 == sha256_of(content):
        return f"the {PAGES['pdf']} that was sealed"
    named = re.search(rb"/ID *\[\(([0-9a-f]{64})\)", content)
    if named is None or named[1].decode() != campaign.sha256:
        of = f"of the campaign {named[1].decode()}" if named else "of no campaign that it names"
        raise BadInput(f"--report {file}: is {of}; that of {folder} is {campaign.sha256}")
    for way in _WAYS:
        if _anew(folder, kept.load(folder), ["pdf"], way)[PAGES["pdf"]] == content:
            said = " ".join(option for option, asked in (("--annex", way.annex), ("--archive", way.archive)) if asked)
            return f"what this campaign gives{f' with {said}' if said else ''}, made anew and compared"
    raise BadInput(
        f"--report {file}: names this campaign, and is not what it gives here: it was changed, or another version of "
        f"rtqual or its libraries printed it; `rtqual report {folder} --format pdf --out FILE` prints it anew"
    )


def _of(folder: Path, name: str, size_b: int | None = None) -> tuple[int, str]:
    """The size and the hash of what lies there: 0 and none of an empty folder. Raises as `unlinked.sha256`."""
    if not name.endswith("/"):
        return unlinked.sha256(folder, name, size_b)
    if unlinked.require(folder, name).is_dir():
        return 0, ""
    raise FileNotFoundError(name)


def _require_all(folder: Path) -> None:
    """Everything that campaign.json has the hash of is there and as it was; one of before has not all."""
    names = kept.hashed(folder)
    if names is None:
        raise BadInput(f"{folder}: its campaign.json is older, without the records' hashes: run its command again")
    for name in names:
        try:
            unlinked.read(folder, name)
        except (FileNotFoundError, NotADirectoryError):
            raise BadInput(f"{folder / name}: is missing, and was there when the campaign ended") from None


def _require_made(folder: Path, campaign: kept.KeptCampaign) -> tuple[str, ...]:
    """The reports that lie there, each what the campaign gives."""
    found = [text for text, name in FORMATS.items() if (folder / name).exists()]
    made = _anew(folder, campaign, found) if found else {}
    for name, content in made.items():
        there = unlinked.read(folder, name) if (folder / name).exists() else b""
        if there != content and not (name == PAGES["pdf"] and _printed(folder, campaign, there)):
            raise BadInput(
                f"{folder / name}: is not what the campaign gives, made anew: it was changed, or another version of "
                f"rtqual or its libraries wrote it: `rtqual report {folder}` writes it again"
            )
    return tuple(name for name in made if not name.startswith(f"{PLOT_FOLDER}/"))


def _printed(folder: Path, campaign: kept.KeptCampaign, content: bytes) -> bool:
    return any(_anew(folder, campaign, ["pdf"], way)[PAGES["pdf"]] == content for way in _WAYS[1:])


def _anew(
    folder: Path, campaign: kept.KeptCampaign, formats: Sequence[str], printed: Printed = _WAYS[0]
) -> dict[str, bytes]:
    """What reports hold, by their files; nothing is written."""
    if is_verification(folder):
        return verify.contents_of(campaign, formats, printed)
    return selection.contents_of(campaign, formats, printed)


def _who(folder: Path, place: Path, signature: bytes, content: bytes, signers: Path) -> str:
    """Each line of the file is tried by itself, for ssh-keygen looks no further than the first one with the key."""
    try:
        with signers.open("rb") as file:
            told = file.read(_MOST_SIGNERS_B + 1)
    except OSError as error:
        raise BadInput(f"--verify {signers}: cannot be read: {error.strerror}") from None
    if len(told) > _MOST_SIGNERS_B:
        raise BadInput(f"--verify {signers}: holds more than {_MOST_SIGNERS_B:,} bytes: name those alone who may seal")
    (place / "signature").write_bytes(signature)
    names: list[str] = []
    fields: list[str] = []
    refused = ""
    for line in told.decode(errors="replace").splitlines():
        (place / "signers").write_text(f"{line}\n")
        by = ["-s", str(place / "signature"), "-f", str(place / "signers")]
        allowed, _ = _said(["find-principals", *by], b"")
        for name in allowed:
            held, complaints = _said(["verify", *by, "-I", name, "-n", _NAMESPACE], content)
            if not held:
                refused = complaints[0].removeprefix(f"{place / 'signers'}:1: ") if complaints else "refused"
            elif _PATTERN.search(name):
                fields.append(",".join(allowed))
            else:
                names.append(name)
    if names:
        return listed(list(dict.fromkeys(names)))
    if fields:
        return f"a key that {signers} allows for '{fields[0]}', a pattern that names nobody"
    raise BadInput(f"{folder / SEAL}: {f'does not hold: {refused}' if refused else f'nobody in {signers} made it'}")


def _said(arguments: Sequence[str], content: bytes) -> tuple[list[str], list[str]]:
    """What ssh-keygen -Y says, line by line; and what it complains of, where it refuses."""
    done = run(["ssh-keygen", "-Y", *arguments], package="openssh-client", given=content)
    return [] if done.code else done.stdout.splitlines(), done.stderr.strip().splitlines()
