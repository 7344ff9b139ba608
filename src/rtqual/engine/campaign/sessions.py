# SPDX-License-Identifier: MIT
"""When, where and by whom a campaign was measured: an entry for each call that ran something, there from its start, so
that one which was killed is in it too."""

import platform
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from rtqual import __version__
from rtqual.base import unlinked
from rtqual.base.errors import damaged
from rtqual.base.user import user_at_host
from rtqual.engine.boards.local import processor
from rtqual.engine.campaign.annex import Annex


class CampaignSession(BaseModel):
    """A call of rtqual that ran something."""

    model_config = ConfigDict(extra="forbid")
    began: str  # UTC, ISO 8601
    ended: str | None = None  # None: it was interrupted, or something in it failed that ended all of it
    by: str  # user@machine
    system: str  # that rtqual ran on
    processor: str
    rtqual: str


class Sessions(BaseModel):
    """All of them, in their order."""

    model_config = ConfigDict(extra="forbid")
    sessions: tuple[CampaignSession, ...] = ()


SESSIONS = Annex(file="sessions.json", model=Sessions, mend="choose another folder with --out", indent=1)


def begin(folder: Path) -> None:
    """Something is about to run. Raises BadInput where what is noted of earlier calls is damaged."""
    session = CampaignSession(
        began=_now(), by=user_at_host(), system=platform.platform(), processor=processor(), rtqual=__version__
    )
    _write(folder, (*sessions_in(folder).sessions, session))


def end(folder: Path) -> None:
    """What the last call had to run has run."""
    *before, last = sessions_in(folder).sessions
    _write(folder, (*before, last.model_copy(update={"ended": _now()})))


def sessions_in(folder: Path) -> Sessions:
    """What is noted so far."""
    try:
        return Sessions.model_validate_json(unlinked.read(folder, SESSIONS.file))
    except (FileNotFoundError, NotADirectoryError):
        return Sessions()
    except (OSError, ValueError, RecursionError) as error:  # a ValidationError is a ValueError
        raise damaged(folder / SESSIONS.file, error, SESSIONS.mend) from None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _write(folder: Path, sessions: tuple[CampaignSession, ...]) -> None:
    folder.mkdir(parents=True, exist_ok=True)  # a campaign's first file
    unlinked.write(folder, SESSIONS.file, (Sessions(sessions=sessions).model_dump_json(indent=1) + "\n").encode())
