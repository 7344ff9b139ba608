# SPDX-License-Identifier: MIT
"""What a part judges beside the verdicts: goals, which are no gates, and the ways that there are to reach them."""

from collections.abc import Mapping
from dataclasses import dataclass

from rtqual.engine.analysis.figure.model import Group
from rtqual.engine.analysis.verdict.model import Gate, Outcome

_WORST_FIRST = (Outcome.NOT_MET, Outcome.UNDECIDED, Outcome.INDICATIVE, Outcome.MET)


@dataclass(frozen=True)
class Reach:
    """Goal -> how a way stands to it; undecided where a figure for it is missing, be it that of another way."""

    gates: Mapping[str, Gate]
    goals: int  # of the mission, also those that are not set for this way

    @property
    def count(self) -> str:
        """How many are met: "3", "2 and 3 kept" on the emulator; "3 of 5" where fewer than all are set for the way, "-"
        where none is."""
        kept = len(self.named(Outcome.MET, Outcome.INDICATIVE))
        text = str(len(self.named(Outcome.MET, Outcome.MET))) + (f" and {kept} kept" if kept else "")
        some = f"{text} of {len(self.gates)}" if len(self.gates) < self.goals else text
        return some if self.gates else "-"

    @property
    def outcome(self) -> Outcome:
        """How well a way does, by the worst of its goals."""
        return min((gate.outcome for gate in self.gates.values()), key=_WORST_FIRST.index, default=Outcome.MET)

    @property
    def remark(self) -> str:
        """Which are missed or could not be judged, and what only the emulator says."""
        lists = {
            "Missed": self.named(Outcome.NOT_MET, Outcome.NOT_MET),
            "Not judged": self.named(Outcome.UNDECIDED, Outcome.UNDECIDED),
            "Kept on the emulator": self.named(Outcome.MET, Outcome.INDICATIVE),
            "Broken on the emulator": self.named(Outcome.NOT_MET, Outcome.INDICATIVE),
        }
        return ". ".join(f"{what}: {'; '.join(goals)}" for what, goals in lists.items() if goals)

    def named(self, seen: Outcome, outcome: Outcome) -> list[str]:
        """Return the goals that the figures meet or miss, with the outcome that their clock supports."""
        return [name for name, gate in self.gates.items() if (gate.seen, gate.outcome) == (seen, outcome)]


@dataclass(frozen=True)
class GoalPlace:
    """Where ways were measured beside each other: a kernel under a load."""

    text: str
    group: Group  # of one of them
    reaches: Mapping[str, Reach]  # by the names of the ways


@dataclass(frozen=True)
class Goals:
    """What a campaign says of a part's goals; every report shows it alike."""

    name: str  # in what is for machines, as "camera"
    title: str
    goals: int
    ways: tuple[str, ...]  # every one that was measured anywhere
    places: tuple[GoalPlace, ...]  # what the goals were judged on; none where the mission sets none
    whole: bool = False  # a way meets all of them, everywhere, and not on the emulator alone
    text: str = ""  # what they come to, in a sentence
