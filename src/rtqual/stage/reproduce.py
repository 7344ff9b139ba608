# SPDX-License-Identifier: MIT
"""Running a record's recorded command line again, as anybody could by hand, and comparing what it gives."""

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rtqual.base.errors import BadInput, RunFailed
from rtqual.board import Left
from rtqual.board.registry import Row, row_of
from rtqual.campaign.folder import SCRATCH
from rtqual.instrument.registry import INSTRUMENTS
from rtqual.record.schema import samples_digest
from rtqual.record.store import read

_TIMEOUT_S = 1200.0


@dataclass(frozen=True)
class Reproduction:
    record: str
    same: bool
    text: str


def reproduce(path: Path) -> Reproduction:
    """Run the command in an empty folder and read its result as the campaign did."""
    record = read(path)
    inputs, command = record.inputs, record.manifest.provenance.command
    row = row_of(inputs.board, inputs.artefacts)
    if row is None or row.outcome is None:
        raise BadInput(f"{path}: {(row or Row).why_not_again.format(board=inputs.board)}")
    if missing := [part for part in command if part.startswith("/") and not Path(part).exists()]:
        raise BadInput(f"{path}: its command needs {missing[0]}, which is gone: run its campaign again")
    with tempfile.TemporaryDirectory(prefix="rtqual-") as folder:
        # The command names the job relative to the campaign's folder, where it would leave its results.
        (Path(folder) / SCRATCH).symlink_to(path.absolute().parent.parent / SCRATCH)
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RunFailed(f"{path}: its command did not run: {error}") from None
        result = Path(folder) / "result"
        if not result.exists() or not result.stat().st_size:
            raise RunFailed(f"{path}: its command gave no result: {done.stderr.strip()[-200:]}")
        content = result.read_bytes()
    instrument = INSTRUMENTS[inputs.instrument]
    kept = {k: v for k, v in record.manifest.provenance.facts.items() if k.endswith("_size_b")}
    outcome = row.outcome(Left(content, tuple(inputs.job.get("collect", ())), kept, tuple(command), str(path)))
    parameters = instrument.parameters.model_validate(inputs.parameters)
    measurement = instrument.read(parameters, outcome, cpus=inputs.cpus)
    same = samples_digest(measurement.series, measurement.scalars) == record.manifest.samples_sha256
    text = "the same samples" if same else f"other samples (the record's clock: {record.manifest.timing})"
    if not same and inputs.cpus > 1:
        text += "; with several CPUs an uninterrupted run takes another course than one restored after booting"
    return Reproduction(record.manifest.hash[:16], same, text)
