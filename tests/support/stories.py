# SPDX-License-Identifier: MIT
"""The stories of tests/data/missions/story-*.toml: what their runs gave, and the sentence that each ends in."""

from collections.abc import Mapping
from dataclasses import dataclass

from rtqual.engine.campaign.cell import Cell
from rtqual.protocols.record.schema import Measurement
from support.recorded import Outcome, wakeups

UNASKED = {"no requirement": ("skipped", "nothing was tested")}  # of a suite, which would be empty and green
NO_LATENCY = "on the emulator, whose counted instructions are no flight latency"


def _rt_and_stock(cell: Cell) -> Measurement:
    """The largest of a run: about 12 us, and about 430."""
    late_ns = 12_000 + 41 * cell.seed if cell.candidate.name == "debian-rt" else 434_000 - 1_000 * cell.seed
    return wakeups({late_ns: 1}, cell)


def _certainly_late(cell: Cell) -> Measurement:
    """In all six runs together 73 samples of 300 us."""
    return wakeups({300_000: 13 if cell.seed == 1 else 12}, cell)


def _alike(cell: Cell) -> Measurement:
    return wakeups({}, cell)


@dataclass(frozen=True)
class Story:
    outcome: Outcome
    heading: str
    sentence: str  # on the terminal, the report's first page, in summary.md, JSON
    junit: Mapping[str, Mapping[str, tuple[str, str]]]  # suite -> case -> how it ended, and what is said of it
    exit_code: int = 0
    also: tuple[str, ...] = ()  # further sentences on terminal and first page


_TRIED = "debian-rt was tried on the emulator: it meets the one requirement there. To fly it, measure on the board."
TOLD = {
    "story-1-counted-instructions": Story(
        _rt_and_stock,
        "Verdict, replay board",
        "debian-rt ranks first on the emulator: it meets the one requirement there; debian breaks 'wake-up under load' "
        "(433 us; at most 100 us asked). To fly it, measure on the board.",
        {
            "debian-rt, replay board": {"wake-up under load": ("skipped", f"met {NO_LATENCY}")},
            "debian, replay board": {"wake-up under load": ("skipped", f"not met {NO_LATENCY}")},
        },
        also=(
            "debian-rt would no longer meet 'wake-up under load' on the emulator with a limit below 12.41 us "
            "(now 100 us).",
        ),
    ),
    "story-2-several-boards": Story(
        _rt_and_stock,
        "Verdict, replay board",
        _TRIED,
        {
            "debian-rt, replay board": {"wake-up under load": ("skipped", f"met {NO_LATENCY}")},
            "workstation, local board": {"wake-up under load": ("skipped", "for comparison: undecided: not measured")},
        },
        also=("workstation is not a flight candidate: ", "What was measured there is for comparison."),
    ),
    "story-2-wrong-system": Story(
        _rt_and_stock,
        "Verdict, local board",
        "No verdict: here-rt was not measured; here was not measured.",
        {
            "debian-rt, replay board": {"wake-up under load": ("skipped", f"met {NO_LATENCY}")},
            "here-rt, local board": {"wake-up under load": ("error", "candidate here-rt is 0.0.1-rt-none: boot it")},
            "here, local board": {"wake-up under load": ("error", "candidate here is 0.0.1-none: boot it")},
        },
        exit_code=3,
        also=(_TRIED,),
    ),
    "story-3-certain-failure": Story(
        _certainly_late,
        "Verdict, replay board",
        "No candidate may fly: debian fails 'wake-up under load' (300 us; at most 200 us asked). "
        "(The mission takes counted instructions for time.)",
        {
            "debian, replay board": {
                "wake-up under load": ("failure", "73 deadline misses, 1.22 % of the samples; it is above the limit in "
                                       "each of the 6 runs"),
            },
        },
        also=("The mission takes counted instructions for time (accept-virtual): good for continuous integration, not "
              "for flight.",),
    ),
    "story-4-one-run": Story(
        _rt_and_stock,
        "Verdict, replay board",
        "No verdict on debian-rt and debian: the mission sets no requirement, and 'largest wake-up' and 'typical "
        "wake-up' cannot rank them (1 run, 10 are needed).",
        {"debian-rt, replay board": UNASKED, "debian, replay board": UNASKED},
    ),
    "story-5-other-lengths": Story(
        _alike,
        "Verdict, replay board",
        "No verdict on short and long: the mission sets no requirement, and 'largest wake-up' and 'typical wake-up' "
        "cannot rank them (measured otherwise: interval 1 ms against 10 ms).",
        {
            "short, replay board": UNASKED,
            "long, replay board": UNASKED,
            "what else differs, replay board": {
                "Settings of cyclictest under hackbench on 1 CPU": ("skipped", "interval"),
            },
        },
    ),
    "story-6-nothing-required": Story(
        _rt_and_stock,
        "Verdict, replay board",
        "No verdict: the mission sets no requirement and no criterion. The figures are for comparison.",
        {"debian-rt, replay board": UNASKED, "debian, replay board": UNASKED},
    ),
}  # fmt: skip
