# SPDX-License-Identifier: MIT
"""campaign.json: what a campaign rests on, under one hash."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field

from rtqual.base import unlinked
from rtqual.base.errors import BadInput, NewerVersion, damaged
from rtqual.protocols.record.schema import digest, parse

NAME = "campaign.json"
VERSION = 5
HASHED = 3  # from this version on
_AGAIN = "run rtqual select again"


class GroupNote(BaseModel):
    """What is noted of a group."""

    model_config = ConfigDict(extra="forbid")
    instrument: str
    load: str
    board: str
    cpus: int
    candidate: str


class Failure(GroupNote):
    """Why it gave no figure."""

    reason: str


class Unplanned(GroupNote):
    """Runs of it that the folder has and the plan has not."""

    seeds: Annotated[list[int], Field(min_length=1)]
    alike: bool
    worst: float | None
    unit: str


class Sealed(BaseModel):
    """A file when the campaign was signed."""

    model_config = ConfigDict(extra="forbid")
    size_b: int
    sha256: str


class CampaignFile(BaseModel):
    """The file as it stands."""

    model_config = ConfigDict(extra="forbid")
    schema_version: int = VERSION
    mission_sha256: str
    scale: str
    records: list[str]  # names below records/
    failures: list[Failure]  # until version 3 all that is known of a run that gave no record
    left_out: list[Unplanned] = []  # what was measured and the plan has no more
    files: dict[str, str] | None = None  # name -> SHA-256 of what else the report rests on; None until version 2
    manifests: dict[str, str] | None = None  # of the records, as `files`; None until version 3
    sha256: str | None = None  # of all above (_own_hash), and what reports name the campaign by; None until version 3
    sealed: dict[str, Sealed] | None = None  # what lay beside it when it was signed, the reports too

    def hashed(self) -> Self:
        return self.model_copy(update={"sha256": _own_hash(json.loads(self.model_dump_json()))})


def opened(folder: Path) -> CampaignFile:
    """A folder's. Raises BadInput where there is none, or it is not as it was written."""
    path = folder / NAME
    try:
        content = unlinked.read(folder, NAME)
    except (FileNotFoundError, NotADirectoryError):
        raise BadInput(
            f"{path.parent}: no finished campaign there ({path.name} is missing): "
            f"give the folder of one, or run rtqual select MISSION --out {path.parent}"
        ) from None
    except OSError as error:
        raise damaged(path, error, _AGAIN) from None
    return parsed(folder, content)


def parsed(folder: Path, content: bytes) -> CampaignFile:
    """What a folder's campaign.json says. Raises BadInput where it is not as it was written."""
    path = folder / NAME
    try:
        value = parse(content)
        version = value.get("schema_version") if isinstance(value, dict) else None
        if isinstance(version, int) and version > VERSION:
            raise NewerVersion(f"{path}: version {version} is newer than this rtqual reads ({VERSION}): upgrade rtqual")
        campaign = CampaignFile.model_validate(value)
        hashed = campaign.schema_version >= HASHED or campaign.sha256
        if hashed and (campaign.manifests is None or _own_hash(value) != campaign.sha256):
            raise BadInput(f"{path}: was changed after the campaign (its hash differs): run the campaign again")
        return campaign
    except (ValueError, RecursionError) as error:  # a ValidationError is a ValueError
        raise damaged(path, error, _AGAIN) from None


def seal(folder: Path, sealed: Mapping[str, Sealed]) -> bytes:
    """Put into a campaign.json what lay beside it, and return its content; the hash of all else stays what it was."""
    value = parse(unlinked.read(folder, NAME))
    value["sealed"] = {name: sealed_file.model_dump() for name, sealed_file in sealed.items()}
    content = (json.dumps(value, indent=1) + "\n").encode()
    unlinked.write(folder, NAME, content)
    return content


def _own_hash(value: dict[str, Any]) -> str:
    """Of a campaign.json."""
    return digest({name: item for name, item in value.items() if name not in ("sha256", "sealed")})
