# SPDX-License-Identifier: MIT
"""Runs that left no record, remembered: the next call plays them again, and what that gives is not all there was.

lost/<key>-<repeat>.json, beside records/, is there from a run's start, so that a run which ended with rtqual or with
the machine is in it too. A run that leaves its record takes its own entry out, and the last entry the file with it.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from rtqual.base import unlinked
from rtqual.base.errors import damaged
from rtqual.base.words import count
from rtqual.engine.analysis.figure.model import Group, LostRun
from rtqual.protocols.record.schema import Inputs

LOST = "lost"
INTERRUPTED = "rtqual was ended while it ran"  # which says nothing of what it played


class Lost(BaseModel):
    """A run, and why it left no record each time that it left none."""

    model_config = ConfigDict(extra="forbid")
    instrument: str
    seed: int
    repeat: int
    played: Annotated[int, Field(ge=1)]  # times in all
    reasons: Annotated[list[str], Field(min_length=1)]
    died: Annotated[int, Field(ge=0)] = 0  # times that the system under test hung, panicked or restarted
    inputs: Inputs | None = None  # what it ran; unknown of what rtqual 0.3 and older noted

    @property
    def alone(self) -> list[str]:
        """Without the runs that ended because rtqual did."""
        return [reason for reason in self.reasons if reason != INTERRUPTED]

    @property
    def run(self) -> LostRun | None:
        """As the analysis knows it; None where nothing but rtqual's own end is known of it, or not what it ran."""
        if self.inputs is None or not self.alone:
            return None
        ran = self.inputs
        group = Group(ran.instrument, ran.load, ran.board, ran.cpus, ran.candidate)
        return LostRun(group, self.seed, self.repeat, self.played, tuple(self.alone), self.died)

    def __str__(self) -> str:
        run = f"seed {self.seed}{', again' if self.repeat else ''}"
        why = "; ".join(dict.fromkeys(self.reasons))
        return f"{run}: played {count(self.played, 'time')}, {len(self.reasons)} left no record: {why}"


def place(name: str) -> str:
    """Of the file of a record's name, in the campaign's folder."""
    return f"{LOST}/{name}.json"


def begun(folder: Path, name: str, inputs: Inputs, repeat: int) -> None:
    """A run begins. Raises BadInput where what is noted of it is damaged, as all below."""
    before = _read(folder, name)
    played, reasons, died = (before.played, before.reasons, before.died) if before else (0, [], 0)
    lost = Lost(
        instrument=inputs.instrument,
        seed=inputs.seed,
        repeat=repeat,
        played=played + 1,
        reasons=[*reasons, INTERRUPTED],
        died=died,
        inputs=inputs,
    )
    _write(folder, name, lost)


def ended(folder: Path, name: str, failure: str | None, *, died: bool = False) -> None:
    """A run that has begun; `failure`: why it left no record, or None; `died`: whether the system under test did."""
    lost = _read(folder, name)
    if lost is None:
        return
    reasons = [*lost.reasons[:-1], *([failure] if failure else [])]
    if reasons:
        _write(folder, name, lost.model_copy(update={"reasons": reasons, "died": lost.died + died}))
    else:
        unlinked.remove(folder, place(name))


def lost_in(folder: Path, names: Iterable[str]) -> dict[str, Lost]:
    """What is noted of these runs."""
    found = {name: _read(folder, name) for name in names}
    return {name: lost for name, lost in sorted(found.items()) if lost}


def all_in(folder: Path) -> dict[str, Lost]:
    """What is noted of any run, also of those that the plan has no more."""
    return lost_in(folder, (path.stem for path in (folder / LOST).glob("*.json")))


def _read(folder: Path, name: str) -> Lost | None:
    try:
        return Lost.model_validate_json(unlinked.read(folder, place(name)))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:  # a ValidationError is a ValueError
        raise damaged(folder / place(name), error, "choose another folder with --out") from None


def _write(folder: Path, name: str, lost: Lost) -> None:
    folder.mkdir(parents=True, exist_ok=True)  # a campaign's first file
    unlinked.write(folder, place(name), (lost.model_dump_json(indent=1) + "\n").encode())
