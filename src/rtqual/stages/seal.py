# SPDX-License-Identifier: MIT
"""A campaign's signature, for evidence that leaves the house: OpenSSH's (ssh-keygen -Y) over campaign.json, which has
the hashes of all that a verdict reads."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from rtqual.base import unlinked
from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.scratch import scratch
from rtqual.engine.campaign import folder as kept

SEAL = f"{kept.CAMPAIGN}.sig"
_NAMESPACE = "rtqual"  # a signature for another purpose is none here


def seal(folder: Path, key: Path) -> Path:
    """Sign a finished campaign with a private key, or a public one whose other half an agent has."""
    _checked(folder)
    content = unlinked.read(folder, kept.CAMPAIGN)
    unlinked.write(folder, SEAL, _openssh(["sign", "-f", str(key), "-n", _NAMESPACE], content, f"--key {key}").encode())
    return folder / SEAL


def verify(folder: Path, signers: Path) -> str:
    """Who sealed it, of those in a file of allowed signers (ssh-keygen(1)). Raises BadInput where nobody did, or where
    the folder is not what was sealed."""
    try:
        signature = unlinked.read(folder, SEAL)
        content = unlinked.read(folder, kept.CAMPAIGN)
    except OSError as error:
        raise BadInput(f"{folder}: no seal to verify ({error.strerror}): rtqual seal --key KEY makes it") from None
    with scratch() as place:
        (place / "signature").write_bytes(signature)
        by = ["-s", str(place / "signature"), "-f", str(signers)]
        said = _openssh(["find-principals", *by], b"", f"{folder / SEAL}: nobody in {signers} made it")
        who = said.splitlines()[0] if said else ""
        _openssh(["verify", *by, "-I", who, "-n", _NAMESPACE], content, f"{folder / SEAL}: does not hold")
    _checked(folder)
    return who


def _checked(folder: Path) -> None:
    """Everything that campaign.json has the hash of is there and as it was; one of before has not all."""
    kept.load(folder)
    names = kept.hashed(folder)
    if names is None:
        raise BadInput(f"{folder}: its campaign.json is older, without the records' hashes: run its command again")
    for name in names:
        try:
            unlinked.read(folder, name)
        except (FileNotFoundError, NotADirectoryError):
            raise BadInput(f"{folder / name}: is missing, and was there when the campaign ended") from None


def _openssh(arguments: Sequence[str], content: bytes, what: str) -> str:
    """What it says. Its complaint is the reason for bad input."""
    try:
        done = subprocess.run(["ssh-keygen", "-Y", *arguments], input=content, capture_output=True, check=False)
    except OSError:
        raise RunFailed("ssh-keygen is missing: `apt-get install openssh-client`") from None
    if done.returncode:
        said = (done.stderr + done.stdout).decode(errors="replace").strip().splitlines()[-1:]
        raise BadInput(f"{what}: {' '.join(said) or 'refused'}")
    return done.stdout.decode(errors="replace")
