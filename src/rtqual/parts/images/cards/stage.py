# SPDX-License-Identifier: MIT
"""A board without a network: the card that measures there, and its results taken as records (docs/boards.md)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.scratch import scratch
from rtqual.engine.boards.remote.job import REST_S, scripts
from rtqual.engine.boards.remote.row import row
from rtqual.engine.boards.remote.settings import STORE, Settings
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.cell import Cell
from rtqual.engine.campaign.run import Campaign
from rtqual.engine.mission import Mission
from rtqual.engine.mission.explain import suggest
from rtqual.parts.images.cards import card
from rtqual.parts.images.cards.card_board import CardBoard, Missing


@dataclass
class Taken:
    """What a card gave. `failures`: cells that it has and that are no records; `strange`: jobs of no cell."""

    board: str
    records: int = 0
    before: int = 0
    missing: list[str] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    strange: int = 0


def write(
    mission: Mission,
    scale: str,
    name: str,
    out: Path,
    firmware: Path | None,
    tell: Callable[[str], None],
    *,
    run_programs: bool = False,
    to_try: bool = False,
) -> card.Card:
    """`run_programs`: the user lets programs of the mission's own run (engine/campaign/trusted.py); `to_try`: on an
    emulated Raspberry Pi (trial.py), which starts no other machine's card."""
    settings = _without_network(mission, name)
    if to_try and settings.switch != "tryboot":
        raise BadInput(f"--boot: only a Raspberry Pi's card is tried (switch tryboot); {name} has {settings.switch}")
    with scratch() as folder:
        campaign = Campaign(mission, scale, folder, run_programs=run_programs)
        campaign.require_trust()
        planned = [
            card.Planned(
                board.candidate,
                (key := board.key(job := cell.job(), cell.seed)),
                int(cell.timeout_s + REST_S),
                scripts(f"/boot/{STORE}/jobs/{key}", job, cell.seed, dict(settings.disks)),
            )
            for cell, board in _cells(campaign, settings, tell)
        ]
        return card.write(settings, planned, firmware, out, tell)


def take(mission: Mission, scale: str, source: Path, out: Path, tell: Callable[[str], None]) -> list[Taken]:
    """The results of each board without a network that the card has some of, as records of the campaign in `out`."""
    named = [board.settings for board in mission.boards if board.settings.by_card]
    if not named:
        raise BadInput(f"{source}: the mission has no board without a network (docs/boards.md)")
    with kept.alone(out), scratch() as work:
        folder, keys = card.results(source, work)
        campaign, left = Campaign(mission, scale, out), set(keys)
        found = []
        for settings in named:
            held = replace(settings, card=folder)
            cells = [(cell, board, board.key(cell.job(), cell.seed)) for cell, board in _cells(campaign, held, tell)]
            if not (here := {key for _, _, key in cells} & left):
                continue
            card.copy(source, folder, sorted(here))
            left -= here
            taken = Taken(settings.name)
            for cell, _, _ in cells:
                _take(campaign, cell, taken)
            found.append(taken)
    if not found:
        raise BadInput(
            f"{source}: none of its {len(keys)} jobs is of this mission's boards at scale {scale}: it was made for "
            "another mission, scale or board, or by another version of rtqual"
        )
    found[-1].strange = len(left)
    return found


def _take(campaign: Campaign, cell: Cell, taken: Taken) -> None:
    inputs = campaign.inputs(cell)
    if campaign.store.path(inputs.key(), cell.repeat).exists():
        taken.before += 1
        return
    try:
        campaign.measure(cell, inputs)
        taken.records += 1
    except Missing:
        taken.missing.append(str(cell))
    except RunFailed as error:
        taken.failures[str(cell)] = str(error)


def _cells(campaign: Campaign, settings: Settings, tell: Callable[[str], None]) -> Iterator[tuple[Cell, CardBoard]]:
    """Those of a board, in their order. Candidates are prepared for all of the campaign, as when it is judged."""
    known = row(replace(settings, card=None))
    ready: set[str] = set()
    for cell in campaign.cells:
        if cell.place != known:
            continue
        if cell.candidate.name not in ready:
            tell(f"preparing {cell.candidate.name}")
            campaign.ready(cell)
            ready.add(cell.candidate.name)
        held = replace(cell, place=row(settings))
        board = campaign.board(held)
        assert isinstance(board, CardBoard), "it has no network"  # noqa: S101
        yield held, board
    if not ready:
        raise BadInput(f"no plan of scale {campaign.scale} names board {settings.name}: boards = [...] names it")


def _without_network(mission: Mission, name: str) -> Settings:
    named = {board.name: board.settings for board in mission.boards}
    if name not in named:
        advice = suggest(name, named) if named else "it has no [[board]] (docs/boards.md)"
        raise BadInput(f"--board {name}: no board of the mission; {advice}")
    if not named[name].by_card:
        raise BadInput(
            f"--board {name}: it is reached over ssh; a card measures boards whose table has no ssh, host_key and good"
        )
    return named[name]
