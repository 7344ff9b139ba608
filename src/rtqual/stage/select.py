# SPDX-License-Identifier: MIT
"""`rtqual select`: mission -> campaign -> records -> analysis -> report, in one folder.

The folder keeps what a report needs (campaign/folder.py), so it can be reported on again without running anything.
"""

import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from rtqual.analysis.evidence import analyse
from rtqual.analysis.model import Evidence
from rtqual.base.errors import BadInput, RunFailed
from rtqual.campaign import approach
from rtqual.campaign import folder as kept
from rtqual.campaign.run import Campaign, Watcher, forecast
from rtqual.kernel.account import with_trims
from rtqual.kernel.trim import trimmed
from rtqual.mission import Mission
from rtqual.published.choice import stated_needs, with_choice
from rtqual.report.write import FORMATS, write_report


@dataclass(frozen=True)
class Selection:
    """What `rtqual select` leaves."""

    evidence: Evidence
    records: int
    failures: dict[str, str]
    reports: tuple[Path, ...]


def select(mission: Mission, scale: str, folder: Path, watcher: Watcher, *, workers: int = 2) -> Selection:
    """Run what is not yet done, judge all of it, write the reports."""
    content = kept.content_of(mission)
    with _alone(folder):
        campaign = Campaign(mission, scale, folder, workers=workers)
        _check_disk(folder, forecast(campaign.waiting(), workers).disk_b)
        kept.begin(folder)
        result = campaign.run(watcher)
        kept.keep(folder, content, scale, result)
        watcher.preparing("the report")
        return _conclude(kept.Kept(mission, scale, result), folder, tuple(FORMATS))


def report(folder: Path, formats: Collection[str] = tuple(FORMATS), out: Path | None = None) -> Selection:
    """Report on a finished campaign again. `out`: the file for its only format, in place of the folder."""
    if out is not None and len(formats) != 1:
        raise BadInput(f"--out {out}: takes one format; name it with --format ({', '.join(FORMATS)})")
    campaign = kept.load(folder)
    if out is not None:
        return _conclude(campaign, out.parent, formats, out)
    with _alone(folder):
        return _conclude(campaign, folder, formats)


def evidence_of(campaign: kept.Kept) -> Evidence:
    """What the records of a campaign support."""
    mission, result = campaign.mission, campaign.result
    known = {**result.configs, **stated_needs(mission)}
    return with_choice(mission, analyse(mission, campaign.scale, result.records, known, result.failures))


def _conclude(campaign: kept.Kept, folder: Path, formats: Collection[str], out: Path | None = None) -> Selection:
    result = campaign.result
    failures = {str(group): reason for group, reason in result.failures.items()}
    if not result.records:
        raise RunFailed(f"no cell gave a record: {next(iter(failures.values()), 'the plan is empty')}")
    evidence = evidence_of(campaign)
    manifests = [record.manifest for record in result.records]
    reports = write_report(
        folder,
        campaign.mission,
        evidence,
        manifests,
        result.failures,
        formats,
        out,
        with_trims(result.accounts, trimmed.read(folder)),
        approach.read(folder),
    )
    return Selection(evidence, len(result.records), failures, tuple(reports))


def _check_disk(folder: Path, needed_b: int) -> None:
    free_b = shutil.disk_usage(folder).free
    if free_b < needed_b:
        raise RunFailed(
            f"{folder}: the campaign needs {needed_b / 2**20:.0f} MiB of disk and {free_b / 2**20:.0f} MiB are free: "
            "make room or choose another folder with --out"
        )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One campaign at a time works in a folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise RunFailed(f"{folder}: cannot be written ({error.strerror}): choose another folder with --out") from None
    with lock:
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except OSError:
            raise RunFailed(f"{folder}: another rtqual works there: wait for it, or choose another --out") from None
        yield
