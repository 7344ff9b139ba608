# SPDX-License-Identifier: MIT
"""`rtqual import CARD --mission FILE`."""

from pathlib import Path

from rtqual.engine.campaign.folder import OUT
from rtqual.engine.mission import load_mission
from rtqual.face.commands.app import LITERAL, print_json, tell
from rtqual.parts.images.cards import stage
from rtqual.parts.images.cards.words import taken_dict, taken_lines


def take(files: list[Path], mission: Path, scale: str, out: Path | None, *, as_json: bool) -> int:
    """Take what cards measured; returns the exit code."""
    loaded = load_mission(mission)
    loaded.scale(scale)
    folder = out or OUT / f"{loaded.mission.name}-{scale}"
    taken = [taken for source in files for taken in stage.take(loaded, scale, source, folder, tell)]
    if as_json:
        print_json([taken_dict(card) for card in taken])
    else:
        for line in taken_lines(taken, folder, mission):
            LITERAL.print(line, soft_wrap=True, highlight=False)
    return 3 if any(card.missing or card.failures for card in taken) else 0
