# SPDX-License-Identifier: MIT
"""`rtqual board`: the boards that missions name; whether one is ready; bringing one back; steadying one."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.base.scratch import scratch
from rtqual.base.user import user_at_host
from rtqual.engine.boards.remote.check import BoardFinding
from rtqual.engine.boards.remote.check import check as look_at
from rtqual.engine.boards.remote.session import Session
from rtqual.engine.boards.remote.settings import Settings
from rtqual.engine.boards.remote.tune import TunedSetting
from rtqual.engine.boards.remote.tune import reset as put_back
from rtqual.engine.boards.remote.tune import tune as steady
from rtqual.engine.mission import load_mission
from rtqual.engine.mission.explain import suggest

_PLACES = ("*.toml", "missions/*.toml")


@dataclass(frozen=True)
class NamedBoard:
    """A board and the mission that names it."""

    mission: Path
    settings: Settings


def boards(missions: Sequence[Path] = ()) -> list[NamedBoard]:
    """Of these missions; else of those here and in missions/, where a file that is no mission is left out."""
    found = []
    for path in missions or _here():
        try:
            loaded = load_mission(path)
        except BadInput:
            if missions:
                raise
            continue
        found += [NamedBoard(path, board_table.settings) for board_table in loaded.boards]
    return found


def _here() -> list[Path]:
    return sorted(path for place in _PLACES for path in Path().glob(place))


def _faulty(name: str) -> Iterator[str]:
    """What is wrong with those of the missions here that have the name in them."""
    for path in _here():
        try:
            if f'"{name}"' in path.read_text():
                load_mission(path)
        except BadInput as error:
            yield str(error)
        except (OSError, UnicodeError):
            continue


def board(name: str, mission: Path | None) -> Settings:
    """Raises BadInput where no mission, or several that differ, name it."""
    every = boards([mission] if mission else [])
    found = {named.settings: named.mission for named in every if named.settings.name == name}
    where = str(mission or "the missions here and in missions/")
    if not found:
        names = dict.fromkeys(named.settings.name for named in every)
        advice = suggest(name, names) if names else "there is no [[board]] (docs/boards.md)"
        more = "" if mission else "".join(("; or say --mission FILE", *(f"; not read: {why}" for why in _faulty(name))))
        raise BadInput(f"no board {name!r} in {where}; {advice}{more}")
    if len(found) > 1:
        files = ", ".join(map(str, found.values()))
        raise BadInput(f"board {name!r} is not the same in {files}: say which with --mission FILE")
    settings = next(iter(found))
    if settings.by_card:
        raise BadInput(
            f"board {name} has no network: `rtqual image MISSION --board {name} --self-measuring` makes the card that "
            "measures there"
        )
    return settings


def check(name: str, mission: Path | None) -> list[BoardFinding]:
    return list(look_at(board(name, mission)))


def restore(name: str, mission: Path | None, tell: Callable[[str], None], *, take: bool) -> str:
    """Bring a board to its known-good system, with nothing armed and nobody's lease on it. Which system that is."""
    settings = board(name, mission)
    with _session(settings, "restore", tell, force=take) as session:
        put_back(session.lease)
    return settings.good


def tune(name: str, mission: Path | None, tell: Callable[[str], None], *, reset: bool) -> list[TunedSetting]:
    """Steady the settings of its known-good system until it starts again, or take that back."""
    with _session(board(name, mission), "tune", tell) as session:
        if not reset:
            return steady(session.lease)
        put_back(session.lease)
    return []


@contextmanager
def _session(settings: Settings, what: str, tell: Callable[[str], None], *, force: bool = False) -> Iterator[Session]:
    owner = f"{user_at_host()} rtqual board {what}"
    with scratch() as folder:
        session = Session(settings, owner, folder / "console.log", tell)
        try:
            session.open(force=force)
            yield session
        finally:
            session.close()
