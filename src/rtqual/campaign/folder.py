# SPDX-License-Identifier: MIT
"""What a finished campaign keeps in its folder, so that it can be reported on and compared without running anything.

mission.toml   the mission, byte for byte
campaign.json  the scale, which records the report rests on, and the cells that gave none
configs/       kernel configurations, NAME.config
tailor.json    how tailored kernels came to be, where the mission has some (kernel/account.py)
records/       the records (record/store.py); they may be more than those of the last campaign
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from rtqual.analysis.figure.model import Group
from rtqual.base.errors import BadInput, damaged
from rtqual.campaign.run import Result
from rtqual.kernel import account
from rtqual.mission import Mission, load_mission
from rtqual.record.store import Store, read

MISSION, CAMPAIGN, CONFIGS, RECORDS = "mission.toml", "campaign.json", "configs", "records"
ACCOUNTS = "tailor.json"
VERSION = 1


class _Failure(BaseModel):
    model_config = ConfigDict(extra="forbid")
    instrument: str
    load: str
    board: str
    cpus: int
    candidate: str
    reason: str


class _Campaign(BaseModel):
    model_config = ConfigDict(extra="forbid")
    schema_version: int = VERSION
    mission_sha256: str
    scale: str
    records: list[str]  # names below records/
    failures: list[_Failure]


@dataclass(frozen=True)
class Kept:
    """A campaign as it ended."""

    mission: Mission
    scale: str
    result: Result


def content_of(mission: Mission) -> bytes:
    """The mission's file, as it was when it was read. Raises BadInput when it has changed since."""
    if mission.path is None:
        raise BadInput(f"mission {mission.mission.name}: it was not read from a file, so no campaign can keep it")
    try:
        content = mission.path.read_bytes()
    except OSError as error:
        raise BadInput(f"{mission.path}: cannot be read again: {error.strerror}; run the command again") from None
    if hashlib.sha256(content).hexdigest() != mission.sha256:
        raise BadInput(f"{mission.path}: was changed while rtqual started; run the command again")
    return content


def begin(folder: Path) -> None:
    """A campaign that has not ended is none to report on."""
    (folder / CAMPAIGN).unlink(missing_ok=True)


def keep(folder: Path, content: bytes, scale: str, result: Result) -> None:
    """Write down how a campaign ended; `content` is the mission's file."""
    store = Store(folder / RECORDS)
    campaign = _Campaign(
        mission_sha256=hashlib.sha256(content).hexdigest(),
        scale=scale,
        records=[store.path(one.inputs.key(), one.manifest.repeat).name for one in result.records],
        failures=[_Failure(**asdict(group), reason=reason) for group, reason in sorted(result.failures.items())],
    )
    (folder / CONFIGS).mkdir(exist_ok=True)
    for name, config in result.configs.items():
        if config is not None:
            (folder / CONFIGS / f"{name}.config").write_text(config)
    account.write(folder / ACCOUNTS, result.accounts)
    (folder / MISSION).write_bytes(content)
    (folder / CAMPAIGN).write_text(campaign.model_dump_json(indent=1) + "\n")


def load(folder: Path) -> Kept:
    """A finished campaign from its folder. Raises BadInput that names the file that is missing or damaged."""
    campaign = _read(folder / CAMPAIGN)
    mission = load_mission(folder / MISSION)
    if mission.sha256 != campaign.mission_sha256:
        raise BadInput(
            f"{folder / MISSION}: not the mission that was measured here (its hash differs): run rtqual select again"
        )
    mission.scale(campaign.scale)
    records = tuple(read(folder / RECORDS / name) for name in campaign.records)
    failures = {Group(**one.model_dump(exclude={"reason"})): one.reason for one in campaign.failures}
    configs = {one.name: _config(folder / CONFIGS / f"{one.name}.config") for one in mission.candidates}
    return Kept(mission, campaign.scale, Result(records, failures, configs, account.read(folder / ACCOUNTS)))


def _config(path: Path) -> str | None:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return None


def _read(path: Path) -> _Campaign:
    try:
        value = json.loads(path.read_bytes())
        version = value.get("schema_version") if isinstance(value, dict) else None
        if isinstance(version, int) and version > VERSION:
            raise BadInput(f"{path}: version {version} is newer than this rtqual reads ({VERSION}): upgrade rtqual")
        return _Campaign.model_validate(value)
    except (FileNotFoundError, NotADirectoryError):
        raise BadInput(
            f"{path.parent}: no finished campaign there ({path.name} is missing): "
            f"give the folder of one, or run rtqual select MISSION --out {path.parent}"
        ) from None
    except (OSError, ValueError, RecursionError) as error:  # a ValidationError is a ValueError
        raise damaged(path, error, "run rtqual select again") from None
