# SPDX-License-Identifier: MIT
"""Whether a board's clock runs as fast as the host's, by readings over ssh.

A board measures durations by its own clock, and a wrong frequency in its device tree scales all of them. A reading
lies between the moments at which the host asked and was answered, so the host knows the time between two readings to
within the two round trips; a difference beyond that is no delay of the network.
"""

import re
import time
from dataclasses import dataclass

from rtqual.engine.boards.remote.link import Link
from rtqual.engine.boards.remote.settings import Unreachable

NOT_COMPARED = "not compared with the host's"
_STEP_S = 0.01  # of /proc/uptime, which is CLOCK_BOOTTIME
_UPTIME = re.compile(rb"(\d{1,12}\.\d\d) ")
# Crystals are within 200 ppm and time daemons slew by at most 500 ppm, so this is neither.
MOST_AWAY = 0.001
ENOUGH_S = 2 * _STEP_S / MOST_AWAY  # between two readings, to see as much


@dataclass(frozen=True)
class ClockReading:
    """The board's clock, and the host's around it."""

    board_s: float
    asked_s: float
    answered_s: float


def reading(link: Link) -> ClockReading | None:
    """None where the board gives no number, or does not answer now: its job goes on all the same."""
    asked_s = _now_s()
    try:
        said = _UPTIME.match(link.run("cat /proc/uptime"))
    except Unreachable:
        return None
    return ClockReading(float(said[1]), asked_s, _now_s()) if said else None


def _now_s() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def compared(first: ClockReading | None, last: ClockReading | None) -> tuple[dict[str, str], list[str]]:
    """What a record tells of it, and why its figures decide nothing."""
    if first is None or last is None:
        return {"clock_rate": NOT_COMPARED}, []
    board_s = last.board_s - first.board_s
    least_s, most_s = last.asked_s - first.answered_s, last.answered_s - first.asked_s
    least, most = (board_s - _STEP_S) / most_s, (board_s + _STEP_S) / max(least_s, _STEP_S)
    rate = f"{least:.4f} to {most:.4f} of the host's over {most_s:.0f} s"
    if least <= 1 + MOST_AWAY and most >= 1 - MOST_AWAY:
        return {"clock_rate": rate}, []
    return {"clock_rate": rate}, [f"the board's clock ran at {rate}: its durations are not the host's"]
