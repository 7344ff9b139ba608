# SPDX-License-Identifier: MIT
"""What a clock can decide: a limit in time that is met on the emulator is met in real time only when a board says so.

The one place for requirements (gates.py) and for the camera's goals (camera.py).
"""

from collections.abc import Iterable
from dataclasses import replace

from rtqual.engine.analysis.figure.model import Summary
from rtqual.engine.analysis.figure.statistics import is_of_time
from rtqual.engine.analysis.verdict.model import Gate, Outcome
from rtqual.protocols.board.registry import Clock, all_boards
from rtqual.protocols.record.schema import Timing

_ACCEPTED = "counted instructions, which the mission takes for time"
_COUNTED = "whose counted instructions are no flight latency"
_MODELLED = "whose time is modelled and not calibrated: no flight latency"
_BY_HOST = "timed by the host: no flight latency, and no counted instructions"
_SEEN = {Outcome.MET: "met", Outcome.NOT_MET: "not met"}


def as_judged(gate: Gate) -> str:
    """How a gate was judged, in words that its clock supports: "met", "met on the emulator"."""
    return f"{_SEEN[gate.on_emulator]} on the emulator" if gate.on_emulator else str(gate.outcome)


def clock_of(found: Summary) -> Timing:
    """What a board's figures are counted in."""
    return of_board(found.group.board, found.timing)


def of_board(board: str, said: Timing) -> Timing:
    """An emulator has no real time, whatever its records say."""
    emulators = {row.name for row in all_boards() if row.clock is not Clock.REAL}
    return Timing.UNTESTED if said == Timing.REAL and board in emulators else said


def by_clock(gate: Gate, unit: str, used: Iterable[Summary], *, accept_virtual: bool) -> Gate:
    """A judgement as far as the clocks of its figures support it; `unit` is that of what the limit is set for."""
    clocks = set(map(clock_of, used)) - {Timing.REAL}
    if not clocks or not is_of_time(unit) or gate.outcome == Outcome.UNDECIDED:
        return gate
    if accept_virtual and all(clock.counted for clock in clocks):
        return replace(gate, reason=f"{gate.reason}; {_ACCEPTED}")
    modelled = any(clock.modelled for clock in clocks)
    why = _BY_HOST if Timing.HOST_TIMED in clocks else _MODELLED if modelled else _COUNTED
    reason = f"{gate.reason}; {_SEEN[gate.outcome]} on the emulator, {why}"
    return replace(gate, outcome=Outcome.INDICATIVE, on_emulator=gate.outcome, reason=reason)
