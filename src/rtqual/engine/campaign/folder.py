# SPDX-License-Identifier: MIT
"""A campaign's folder: the names of its files, who writes them, and its lock.

mission.toml   the mission, byte for byte
derived.json   the mission that was run, where rtqual derived it from that file (parts/tailor/stage.py)
campaign.json  the scale, which records the report rests on, the cells that gave none, hashes of all these and of itself
configs/       kernel configurations, NAME.config
tailor.json, trim.json, why.json, approach.json ...   annexes that parts bring (annex.py)
sessions.json, guests.json  annexes of every campaign: who measured when and where; what ran in the guests
procedures.json  what `rtqual verify` had to play, or would have (engine/procedure/kinds.py)
digest.json    figures and verdicts, for those who look at many campaigns (digest.py); none of them reads samples
lost/          runs that left no record, now or before (lost.py)
looks.json     after which numbers of runs the folder was judged (looked.py)
records/       the records (protocols/record/store.py); they may be more than those of the last campaign
scratch/       the jobs that recorded commands name (engine/boards/virtual.py)
report.*, ...  the reports (reports/write.py)

All of it is written by one rtqual at a time, which holds .lock (alone). A campaign that has not ended has no
campaign.json. What a report shows is a record or a file whose hash campaign.json has; version 2 holds none of records,
version 1 none at all, and they are read as they stand. No link in the folder is followed (base/unlinked.py).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from pydantic import BaseModel

from rtqual.base import unlinked
from rtqual.base.cache import lock_file, sha256_of, taken
from rtqual.base.errors import BadInput, RunFailed, damaged
from rtqual.base.scratch import sweep_fresh
from rtqual.engine.analysis.figure.cells import Looked
from rtqual.engine.analysis.figure.model import Group, LeftOut, LostRun
from rtqual.engine.campaign import looked
from rtqual.engine.campaign.annex import Annex, Annexes, all_annexes
from rtqual.engine.campaign.lost import LOST, Lost, lost_in, place
from rtqual.engine.campaign.manifest import HASHED, NAME, CampaignFile, Failure, Unplanned, opened
from rtqual.engine.mission import Mission, load_mission
from rtqual.engine.mission.load import verify_problems
from rtqual.engine.mission.model import mission_type
from rtqual.engine.procedure.kinds import KeptProcedures, kind_of
from rtqual.protocols.board import Held
from rtqual.protocols.record.schema import Manifest, Record
from rtqual.protocols.record.store import MANIFEST, Store, read, read_manifest

OUT = Path("out")  # campaigns' folders are made below it
MISSION, DERIVED, CAMPAIGN = "mission.toml", "derived.json", NAME
CONFIGS, RECORDS, SCRATCH = "configs", "records", "scratch"
LOCK = ".lock"
PROCEDURES, VERIFY = "procedures.json", "verify-"  # what begins the scale of a campaign that has them
_AGAIN = "run the campaign's command again"
_DELETE = f"delete it and {_AGAIN}"
_WRITTEN = r"[a-z]+\.(?:toml|(?:spdx\.)?json|html|pdf|md|xml|prom|sig|json\.sig)"  # by report/; others may be there
_M = TypeVar("_M", bound=BaseModel)
_T = TypeVar("_T")


@dataclass(frozen=True)
class Result:
    """What a campaign gave."""

    records: tuple[Record, ...]
    failures: Mapping[Group, str]
    configs: Mapping[str, str | None]  # candidate -> kernel configuration
    annexes: Annexes = field(default_factory=dict)  # evidence beside the records
    procedures: KeptProcedures[Any] | None = None  # all there were, of a verification
    left_out: tuple[LeftOut, ...] = ()  # what was measured and the plan has no more
    again: int = 0  # second runs beside the records, which test whether they repeat
    lost: Mapping[str, Lost] = field(default_factory=dict)  # by the names of the records that are, or were to be
    looked: Looked = field(default_factory=dict)  # the looks at the folder, with this one

    @property
    def runs_lost(self) -> tuple[LostRun, ...]:
        """As the analysis knows them."""
        return tuple(run for lost in self.lost.values() if (run := lost.run))


@dataclass(frozen=True)
class KeptCampaign:
    """A campaign as it ended."""

    mission: Mission
    scale: str
    result: Result
    digest: str = ""  # of all that it rests on, which its reports name it by; empty of version 1 and 2


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One rtqual at a time works in a folder, which is made where it is missing. Raises RunFailed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in (LOCK, RECORDS, CONFIGS, SCRATCH, LOST):
            unlinked.require_all(folder, name)
        lock = lock_file(folder / LOCK)
    except OSError as error:
        raise RunFailed(f"{folder}: cannot be written ({error.strerror}): choose another folder with --out") from None
    with lock:
        if not taken(lock):
            raise RunFailed(f"{folder}: another rtqual works there: wait for it, or choose another --out") from None
        sweep_fresh(folder, _WRITTEN)
        for inside in (CONFIGS, LOST, SCRATCH, f"{SCRATCH}/jobs", "plots"):
            sweep_fresh(folder / inside)
        for place in (folder / RECORDS, *Store(folder / RECORDS).paths()):
            sweep_fresh(place)
        yield


def content_of(mission: Mission) -> bytes:
    """The mission's file, as it was when it was read. Raises BadInput when it has changed since."""
    if mission.path is None:
        raise BadInput(f"mission {mission.mission.name}: it was not read from a file, so no campaign can keep it")
    try:
        content = mission.path.read_bytes()
    except OSError as error:
        raise BadInput(f"{mission.path}: cannot be read again: {error.strerror}; run the command again") from None
    if sha256_of(content) != mission.sha256:
        raise BadInput(f"{mission.path}: was changed while rtqual started; run the command again")
    return content


def begin(folder: Path) -> None:
    """A campaign that has not ended is none to report on."""
    unlinked.remove(folder, CAMPAIGN)


def keep_configs(folder: Path, configs: Mapping[str, str | None]) -> dict[str, str]:
    """Returns the hashes of what was written."""
    written = {f"{CONFIGS}/{name}.config": config for name, config in configs.items() if config is not None}
    return {name: _write(folder, name, config) for name, config in written.items()}


def keep(folder: Path, content: bytes, scale: str, result: Result, *, derived: Mission | None = None) -> str:
    """Write down how a campaign ended; `content` is the mission's file, `derived` the mission where it is another.

    Returns the campaign's digest.
    """
    store = Store(folder / RECORDS)
    files = keep_configs(folder, result.configs)
    beside = {
        DERIVED: derived.model_dump_json(by_alias=True, exclude_defaults=True) if derived else None,
        **{annex.file: _text(annex, result.annexes) for annex in all_annexes()},
        PROCEDURES: result.procedures.as_json() if result.procedures else None,
    }
    for name, text in beside.items():
        if text is None:
            unlinked.remove(folder, name)
        else:
            files[name] = _write(folder, name, text + "\n")
    files |= {place(name): sha256_of(unlinked.read(folder, place(name))) for name in result.lost}
    if result.looked:
        files[looked.NAME] = _write(folder, looked.NAME, looked.written(result.looked) + "\n")
    names = [store.path(record.inputs.key(), record.manifest.repeat).name for record in result.records]
    campaign = CampaignFile(
        mission_sha256=sha256_of(content),
        scale=scale,
        records=names,
        failures=[Failure(**asdict(group), reason=reason) for group, reason in sorted(result.failures.items())],
        left_out=[Unplanned(**asdict(left_out.group), **_beside_of(left_out)) for left_out in result.left_out],
        files=files,
        manifests={name: sha256_of(unlinked.read(folder, _manifest(name))) for name in names},
    ).hashed()
    unlinked.write(folder, MISSION, content)
    _write(folder, CAMPAIGN, campaign.model_dump_json(indent=1, exclude={"sealed"}) + "\n")
    return campaign.sha256 or ""


def load(folder: Path) -> KeptCampaign:
    """A finished campaign from its folder. Raises BadInput that names the file that is missing or damaged."""
    campaign = opened(folder)
    mission = _mission(folder, campaign)
    records = tuple(_record(folder, name, campaign) for name in campaign.records)
    if len({(record.inputs.key(), record.manifest.repeat) for record in records}) < len(records):
        raise BadInput(f"{folder / CAMPAIGN}: names a record twice, which would count twice: {_DELETE}")
    result = Result(
        records=records,
        failures={Group(**failure.model_dump(exclude={"reason"})): failure.reason for failure in campaign.failures},
        left_out=tuple(map(_left_out, campaign.left_out)),
        configs={candidate.name: _config(folder, candidate.name, campaign) for candidate in mission.candidates},
        annexes={annex.file: found for annex in all_annexes() if (found := _annex(folder, annex, records, campaign))},
        procedures=_procedures(folder, mission, campaign),
        again=second_runs(Store(folder / RECORDS), records),
        lost=_lost(folder, campaign),
        looked=_looked(folder, campaign),
    )
    return KeptCampaign(mission, campaign.scale, result, campaign.sha256 or "")


def manifests(folder: Path) -> Iterator[Manifest]:
    """What the records of a finished campaign say of themselves, without their samples. Raises BadInput as `load`."""
    campaign = opened(folder)
    for name in campaign.records:
        path = unlinked.require(folder, f"{RECORDS}/{name}")
        yield _as_kept(folder, name, campaign, read_manifest(path))


def second_runs(store: Store, records: Iterable[Record]) -> int:
    """How many of these records' runs were made a second time."""
    return sum(store.path(record.inputs.key(), 1).exists() for record in records if not record.manifest.repeat)


def _beside_of(left_out: LeftOut) -> dict[str, Any]:
    return {"seeds": list(left_out.seeds), "alike": left_out.alike, "worst": left_out.worst, "unit": left_out.unit}


def _left_out(beside: Unplanned) -> LeftOut:
    group = Group(beside.instrument, beside.load, beside.board, beside.cpus, beside.candidate)
    return LeftOut(group, tuple(beside.seeds), beside.alike, beside.worst, beside.unit)


def hashed(folder: Path) -> tuple[str, ...] | None:
    """The files beside campaign.json of which it has the hashes; None where it has not those of all a verdict reads."""
    campaign = opened(folder)
    return tuple(campaign.files or ()) if campaign.schema_version >= HASHED else None


def planned_in(folder: Path) -> tuple[Mission, str]:
    """The mission and the scale of a finished campaign, whatever became of its records."""
    campaign = opened(folder)
    return _mission(folder, campaign), campaign.scale


def _mission(folder: Path, campaign: CampaignFile) -> Mission:
    mission = load_mission(unlinked.require(folder, MISSION), kept=True)
    if mission.sha256 != campaign.mission_sha256:
        raise BadInput(
            f"{folder / MISSION}: not the mission that was measured here (its hash differs): run rtqual select again"
        )
    derived = _beside(folder, DERIVED, campaign, mission_type(), _AGAIN)
    if derived is None and DERIVED in (campaign.files or ()):
        raise BadInput(f"{folder / DERIVED}: is missing, and holds the mission that was measured here: {_AGAIN}")
    if derived:
        if campaign.scale.startswith(VERIFY) and (
            _but_for_who(derived) != _but_for_who(mission) or any(verify_problems(derived))
        ):
            what = f"is not {MISSION} with another of its candidates to verify, or another way of the camera"
            raise BadInput(f"{folder / DERIVED}: {what}: {_AGAIN}")
        mission = derived.derived_from(mission)
    if not campaign.scale.startswith(VERIFY) or mission.verify is None:
        mission.scale(campaign.scale)
    return mission


def _but_for_who(mission: Mission) -> dict[str, object]:
    """All that a verification may not change."""
    said = mission.model_dump(by_alias=True)
    return said | {"verify": {**(said["verify"] or {}), "candidate": None, "camera": None}}


def before(folder: Path, annex: Annex[_M]) -> _M | None:
    """What an earlier campaign in the folder kept of a kind. Raises BadInput where it is damaged and not made anew."""
    try:
        return _beside(folder, annex.file, None, annex.model, annex.mend)
    except BadInput:
        if annex.anew:
            return None
        raise


def fitting(annex: Annex[_M], found: _M | None, records: Sequence[Record]) -> _M | None:
    """Return what an earlier campaign kept where it is of these records."""
    try:
        if found is not None:
            annex.check(found, records)
        return found
    except ValueError:
        return None


def _annex(folder: Path, annex: Annex[_M], records: Sequence[Record], campaign: CampaignFile) -> _M | None:
    found = _beside(folder, annex.file, campaign, annex.model, annex.mend)
    try:
        if found:
            annex.check(found, records)
    except ValueError as error:
        raise damaged(folder / annex.file, error, annex.mend) from None
    return found


def _procedures(folder: Path, mission: Mission, campaign: CampaignFile) -> KeptProcedures[Any] | None:
    if mission.verify is None:
        return None
    return _beside(folder, PROCEDURES, campaign, kind_of(mission.verify).kept, "run `rtqual verify` again")


def _text(annex: Annex[_M], annexes: Annexes) -> str | None:
    found = annex.of(annexes)
    return None if found is None else found.model_dump_json(indent=annex.indent)


def _lost(folder: Path, campaign: CampaignFile) -> dict[str, Lost]:
    named = [PurePosixPath(file) for file in campaign.files or () if PurePosixPath(file).parent.name == LOST]
    for pure_posix_path in named:
        if _content(folder, str(pure_posix_path), campaign) is None:
            raise BadInput(f"{folder / pure_posix_path}: is missing, and tells of a run that left no record: {_AGAIN}")
    return lost_in(folder, (path.stem for path in named))


def _looked(folder: Path, campaign: CampaignFile) -> Looked:
    if looked.NAME not in (campaign.files or ()):
        return {}
    if (content := _content(folder, looked.NAME, campaign)) is None:
        raise BadInput(f"{folder / looked.NAME}: is missing, and tells how often the folder was judged: {_AGAIN}")
    try:
        return looked.parsed(content)
    except (ValueError, RecursionError) as error:  # a ValidationError is a ValueError
        raise damaged(folder / looked.NAME, error, _AGAIN) from None


def config_before(folder: Path, candidate: str) -> str | None:
    """A candidate's kernel configuration as the last campaign kept it."""
    try:
        return _config(folder, candidate, opened(folder))
    except BadInput:
        return None


def held(folder: Path) -> Held:
    """What may be replayed of a campaign, be it finished or not."""
    return Held(tuple(Store(unlinked.require(folder, RECORDS)).paths()), partial(_held_config, folder))


def _held_config(folder: Path, candidate: str) -> str | None:
    name = f"{CONFIGS}/{candidate}.config"
    if not (folder / CAMPAIGN).exists():
        return None
    try:
        content = _content(folder, name, opened(folder))
    except OSError as error:
        raise damaged(folder / name, error, _AGAIN) from None
    return None if content is None else content.decode(errors="replace")


def _write(folder: Path, name: str, text: str) -> str:
    unlinked.write(folder, name, text.encode())
    return sha256_of(text.encode())


def _manifest(name: str) -> str:
    return f"{RECORDS}/{name}/{MANIFEST}"


def _record(folder: Path, name: str, campaign: CampaignFile) -> Record:
    return _as_kept(folder, name, campaign, read(unlinked.require(folder, f"{RECORDS}/{name}")))


def _as_kept(folder: Path, name: str, campaign: CampaignFile, found: _T) -> _T:
    """What was read of a record, if it is the one that the campaign has."""
    if campaign.manifests is None or sha256_of(unlinked.read(folder, _manifest(name))) == campaign.manifests.get(name):
        return found
    raise BadInput(f"{folder / RECORDS / name}: not the record that was kept (its hash differs): {_AGAIN}")


def _content(folder: Path, name: str, campaign: CampaignFile | None) -> bytes | None:
    """A file beside campaign.json as it was kept; None where there is none, or it is another campaign's."""
    files = campaign.files if campaign else None
    if files is not None and name not in files:
        return None
    try:
        content = unlinked.read(folder, name)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if files is not None and sha256_of(content) != files[name]:
        raise BadInput(f"{folder / name}: not the one that was kept (its hash differs): {_AGAIN}")
    return content


def _beside(folder: Path, name: str, campaign: CampaignFile | None, model: type[_M], mend: str) -> _M | None:
    try:
        content = _content(folder, name, campaign)
        return None if content is None else model.model_validate_json(content)
    except (OSError, ValueError, RecursionError) as error:  # a ValidationError is a ValueError
        raise damaged(folder / name, error, mend) from None


def _config(folder: Path, candidate: str, campaign: CampaignFile) -> str | None:
    try:
        content = _content(folder, f"{CONFIGS}/{candidate}.config", campaign)
        return None if content is None else content.decode()
    except (OSError, UnicodeDecodeError):
        return None
