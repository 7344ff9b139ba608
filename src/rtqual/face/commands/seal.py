# SPDX-License-Identifier: MIT
"""`rtqual seal`."""

from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.face.commands.app import LITERAL


def seal(folder: Path, /, *, key: Path | None = None, verify: Path | None = None) -> int:
    """Sign a finished campaign with an SSH key, or verify such a signature and all that it covers.

    Parameters
    ----------
    folder
        The campaign's folder; the signature lies in campaign.json.sig.
    key
        The SSH key to sign with.
    verify
        A file of allowed signers (ssh-keygen(1)): who may have sealed it.
    """
    from rtqual.stages import seal as stage  # noqa: PLC0415

    if (key is None) == (verify is None):
        raise BadInput("rtqual seal: give --key KEY to sign, or --verify SIGNERS to verify")
    if key is not None:
        told = f"sealed: {stage.seal(folder, key)}"
    elif verify is not None:
        who = stage.verify(folder, verify)
        told = f"{folder}: sealed by {who}, and all that its verdict reads is as it was"
        told += "; the reports there are not sealed: `rtqual report` writes them anew from it"
    LITERAL.print(told, soft_wrap=True, highlight=False)
    return 0
