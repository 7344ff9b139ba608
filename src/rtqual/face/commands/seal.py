# SPDX-License-Identifier: MIT
"""`rtqual seal`."""

from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.face.commands.app import LITERAL


def seal(folder: Path, /, *, key: Path | None = None, verify: Path | None = None, report: Path | None = None) -> int:
    """Sign a finished campaign and its reports with an SSH key, or verify a signature and all that it covers.

    Parameters
    ----------
    folder
        The campaign's folder; the signature lies in campaign.json.sig.
    key
        The SSH key to sign with. The reports that lie in the folder are made anew first, and must be the same.
    verify
        A file of allowed signers (ssh-keygen(1)): who may have sealed it.
    report
        A PDF that somebody has: is it a report of this campaign? Its pages name the campaign by a SHA-256.
    """
    from rtqual.base.words import count, listed  # noqa: PLC0415
    from rtqual.stages import signature as stage  # noqa: PLC0415

    if (key is not None and (verify or report)) or not (key or verify or report):
        raise BadInput("rtqual seal: give --key KEY to sign, or --verify SIGNERS, --report FILE or both to verify")
    told = []
    if key is not None:
        made = stage.seal(folder, key)
        told.append(f"sealed: {folder / stage.SEAL}; reports: {listed(made) or 'none'}")
    if verify is not None:
        holds = stage.verify_seal(folder, verify)
        covered = "the reports there are not sealed: it was signed by an older rtqual, which did not cover them"
        if holds.files is not None:
            covered = f"all {count(holds.files, 'file')} there are as they were, the reports too"
        told.append(f"{folder}: sealed by {holds.who}; {covered}; campaign {holds.digest}")
    if report is not None:
        told.append(f"{report}: {stage.verify_report(folder, report)}")
    for line in told:
        LITERAL.print(line, soft_wrap=True, highlight=False)
    return 0
