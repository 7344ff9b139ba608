# SPDX-License-Identifier: MIT
"""`rtqual select`: mission -> campaign -> records -> analysis -> report, in one folder.

The folder keeps what a report needs (folder.py), so it can be reported on again without running anything.
"""

import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel

from rtqual.base.cache import sha256_of
from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.campaign import digest
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.annex import Annexes, Making, all_annexes
from rtqual.engine.campaign.cost import cost_of
from rtqual.engine.campaign.run import Campaign, Watcher
from rtqual.engine.candidates.printed import printed
from rtqual.protocols.part import load
from rtqual.reports.formats import FORMATS
from rtqual.reports.page.document import AS_USUAL, Printed
from rtqual.reports.told import Told
from rtqual.reports.write import contents_of as reports_of
from rtqual.reports.write import put
from rtqual.reports.written import key, remember, stands


@dataclass(frozen=True)
class Selection:
    """What `rtqual select` leaves."""

    evidence: Evidence
    records: int
    failures: dict[str, str]
    reports: tuple[Path, ...]
    again: int = 0  # second runs of theirs, which test whether they repeat
    digest: str = ""  # of all that it rests on, as the reports have it


def select(campaign: Campaign, watcher: Watcher) -> Selection:
    """Run what is not yet done, judge all of it, write the reports."""
    with kept.alone(campaign.folder):
        return conclude(run(campaign, watcher), campaign.folder, anew=False)


def run(campaign: Campaign, watcher: Watcher, annexes: Annexes | None = None) -> kept.KeptCampaign:
    """Run what is not yet done and keep how it ended, with `annexes` of the command's own; the folder is ours alone
    meanwhile."""
    mission, folder = campaign.mission, campaign.folder
    key()  # of the program that measures and judges, not of one that is installed meanwhile
    content = kept.content_of(mission)
    before = {annex.file: kept.before(folder, annex) for annex in all_annexes() if annex.make}
    _check_disk(folder, cost_of(campaign.waiting(), campaign.workers).disk_b)
    kept.begin(folder)
    result = campaign.run(watcher)
    made = _made(campaign, result, before, watcher)
    result = replace(result, annexes={**result.annexes, **made, **(annexes or {})})
    hash_ = kept.keep(folder, content, campaign.scale, result, derived=mission if mission.is_derived else None)
    watcher.preparing("the report")
    return kept.KeptCampaign(mission, campaign.scale, result, hash_)


def _made(
    campaign: Campaign, result: kept.Result, before: Mapping[str, BaseModel | None], watcher: Watcher
) -> dict[str, BaseModel]:
    """Annexes that are made when all has run."""
    places = {campaign.store.path(record.inputs.key(), record.manifest.repeat): record for record in result.records}
    found: dict[str, BaseModel] = {}
    for annex in all_annexes():
        if annex.make:
            fits = kept.fitting(annex, before[annex.file], result.records)
            making = Making(
                campaign.mission, campaign.scale, places, fits, campaign.workers, watcher.preparing, watcher.warning
            )
            made = load(annex.make)(making)
            found |= {annex.file: made} if made is not None else {}
    return found


def report(
    folder: Path,
    formats: Collection[str] = tuple(FORMATS),
    out: Path | None = None,
    printed: Printed = AS_USUAL,
) -> Selection:
    """Report on a finished campaign again. `out`: the file for its only format, in place of the folder."""
    if out is not None and len(formats) != 1:
        raise BadInput(f"--out {out}: takes one format; name it with --format ({', '.join(FORMATS)})")
    campaign = kept.load(folder)
    if out is not None:
        return conclude(campaign, out.parent, formats, out, printed)
    with kept.alone(folder):
        return conclude(campaign, folder, formats, printed=printed)


def evidence_of(campaign: kept.KeptCampaign) -> Evidence:
    """What the records of a campaign support."""
    mission, result = campaign.mission, campaign.result
    known = dict(result.configs)
    for table in printed():
        known |= table.needs(mission)
    evidence = analyse(
        mission,
        campaign.scale,
        result.records,
        known,
        result.failures,
        result.runs_lost,
        result.left_out,
        result.looked,
    )
    for table in printed():
        evidence = table.judged(mission, evidence)
    return evidence


def conclude(
    campaign: kept.KeptCampaign,
    folder: Path,
    formats: Collection[str] = tuple(FORMATS),
    out: Path | None = None,
    printed: Printed = AS_USUAL,
    *,
    anew: bool = True,
) -> Selection:
    """Judge what a campaign gave and report on it. Unless `anew`, reports of the very same are left as they are."""
    result = campaign.result
    failures = {str(group): reason for group, reason in result.failures.items()}
    if not result.records:
        raise RunFailed(f"no cell gave a record: {next(iter(failures.values()), 'the plan is empty')}")
    evidence = evidence_of(campaign)
    if out is None:
        content = digest.content_of(campaign, evidence)
        digest.note(content)
        digest.write(folder, campaign, content)
    inputs = key(campaign.digest, *sorted(formats)) if not anew and campaign.digest else ""
    if inputs and stands(folder, inputs):
        reports = [folder / FORMATS[name] for name in FORMATS if name in formats]
    else:
        contents = contents_of(campaign, formats, printed, evidence)
        reports = put(folder, contents, formats, out)
        if inputs:
            remember(inputs, contents)
    return Selection(evidence, len(result.records), failures, tuple(reports), result.again, campaign.digest)


def contents_of(
    campaign: kept.KeptCampaign, formats: Collection[str], printed: Printed = AS_USUAL, evidence: Evidence | None = None
) -> dict[str, bytes]:
    """What the reports of a campaign hold, by their files; nothing is written."""
    result = campaign.result
    return reports_of(
        campaign.mission,
        evidence or evidence_of(campaign),
        [record.manifest for record in result.records],
        result.failures,
        formats,
        result.annexes,
        printed,
        Told(
            campaign.digest,
            {name: sha256_of(config.encode()) for name, config in result.configs.items() if config is not None},
            result.lost,
            result.again,
        ),
    )


def _check_disk(folder: Path, needed_b: int) -> None:
    free_b = shutil.disk_usage(folder).free
    if free_b < needed_b:
        raise RunFailed(
            f"{folder}: the campaign needs {needed_b / 2**20:.0f} MiB of disk and {free_b / 2**20:.0f} MiB are free: "
            "make room or choose another folder with --out"
        )
