# SPDX-License-Identifier: MIT
"""`rtqual select`: mission -> campaign -> records -> analysis -> report, in one folder.

The folder keeps a copy of the mission, so it can be reported on again without anything else.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from rtqual.analysis.evidence import analyse
from rtqual.analysis.model import Evidence
from rtqual.campaign import Campaign, Result, Watcher, forecast
from rtqual.errors import RunFailed
from rtqual.mission import Mission
from rtqual.report import write_report


@dataclass(frozen=True)
class Selection:
    """What `rtqual select` leaves."""

    evidence: Evidence
    records: int
    failures: dict[str, str]
    reports: tuple[Path, ...]


def select(mission: Mission, scale: str, folder: Path, watcher: Watcher, *, workers: int = 2) -> Selection:
    """Run what is not yet done, judge all of it, write the reports."""
    with _alone(folder):
        campaign = Campaign(mission, scale, folder, workers=workers)
        _check_disk(folder, forecast(campaign.waiting(), workers).disk_b)
        result = campaign.run(watcher)
        watcher.preparing("the report")
        return _conclude(mission, scale, folder, result)


def _conclude(mission: Mission, scale: str, folder: Path, result: Result) -> Selection:
    failures = {str(group): reason for group, reason in result.failures.items()}
    if not result.records:
        raise RunFailed(f"no cell gave a record: {next(iter(failures.values()), 'the plan is empty')}")
    evidence = analyse(mission, scale, result.records, result.configs, result.failures)
    manifests = [record.manifest for record in result.records]
    reports = write_report(folder, mission, evidence, manifests, result.failures)
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
