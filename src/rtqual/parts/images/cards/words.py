# SPDX-License-Identifier: MIT
"""A card that measures a board without a network, and what it gave: for people and for machines."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rtqual.base.units import format_bytes
from rtqual.base.words import clean, count, listed
from rtqual.face.terminal.plain import plain
from rtqual.parts.images.cards.card import Card
from rtqual.parts.images.cards.stage import Taken
from rtqual.parts.images.pi import Tried
from rtqual.parts.images.words import tried_lines

_SHOWN = 5  # of what is missing


def card_dict(card: Card, tried: Tried | None) -> dict[str, object]:
    return {
        "path": str(card.path),
        "sbom": str(card.sbom),
        "sha256": card.sha256,
        "image_b": card.image_b,
        "cells": card.cells,
        "candidates": list(card.candidates),
        "missing": list(card.missing),
        "tried": plain(tried) if tried else None,
    }


def card_lines(card: Card, tried: Tried | None) -> Iterator[str]:
    yield (
        f"{card.path}: {format_bytes(card.image_b)}, sha256 {card.sha256[:16]}...; measures "
        f"{count(card.cells, 'cell')} of {listed(card.candidates)} by itself"
    )
    yield "  write it to a card, start the board from it, wait until it says `measured`, then: rtqual import CARD"
    if tried:
        yield from (f"  {line}" for line in tried_lines(tried))
    yield from (f"  MISSING: {name}" for name in card.missing)


def taken_dict(taken: Taken) -> dict[str, object]:
    return {
        "board": taken.board,
        "records": taken.records,
        "before": taken.before,
        "missing": taken.missing,
        "failures": taken.failures,
        "strange": taken.strange,
    }


def taken_lines(taken: Sequence[Taken], folder: Path, mission: Path) -> Iterator[str]:
    for card in taken:
        there = f"; {count(card.before, 'record')} there before" if card.before else ""
        yield f"board {card.board}: {count(card.records, 'record')} taken{there}"
        yield from (f"  not measured: {cell}" for cell in card.missing[:_SHOWN])
        if len(card.missing) > _SHOWN:
            yield f"  not measured: {len(card.missing) - _SHOWN} more"
        yield from (f"  no record: {cell}: {clean(why)}" for cell, why in card.failures.items())
        if card.strange:
            yield f"  left out: {count(card.strange, 'job')} of no cell of the mission's boards"
    yield f"judge them: rtqual select {mission} --out {folder}"
