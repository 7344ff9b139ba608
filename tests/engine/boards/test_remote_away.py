# SPDX-License-Identifier: MIT
"""A board that is silent, and a board's clock, without a board: who may switch its power, and which clock is wrong."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.architecture import ARM64
from rtqual.base.errors import RunFailed
from rtqual.engine.boards.remote.clock_rate import ClockReading, compared, reading
from rtqual.engine.boards.remote.session import Session
from rtqual.engine.boards.remote.settings import BoardRefused, Settings, Unreachable

SILENT = Settings(
    "pi-a", "raspberry-pi-4b", ARM64, "root", "127.0.0.1", 1, "ssh-ed25519 AAAA", "6.6", "tryboot", boot_timeout_s=0.1
)  # nobody listens there


@pytest.fixture
def switched(tmp_path: Path) -> Callable[[bool], str]:
    """What a session says of a silent board whose power can be switched, and the file that the switch leaves."""
    settings = replace(SILENT, power_off=("false",), power_on=("touch", str(tmp_path / "on")))

    def opened(force: bool) -> str:
        session = Session(settings, "test", tmp_path / "log")
        try:
            with pytest.raises(RunFailed) as told:
                session.open(force=force)
            assert force or isinstance(told.value, BoardRefused)
            return str(told.value)
        finally:
            session.close()

    return opened


def test_nobody_switches_the_power_of_a_board_that_may_be_anothers(
    switched: Callable[[bool], str], tmp_path: Path
) -> None:
    told = switched(False)
    assert "does not answer" in told and "`rtqual board restore pi-a --take` switches its power" in told
    assert not (tmp_path / "on").exists()
    assert "its power command `false` failed" in switched(True)
    assert (tmp_path / "on").exists()


class Answering:
    """A link to a board that says this, or nothing."""

    def __init__(self, said: bytes | None) -> None:
        self._said = said

    def run(self, script: str, *, deadline_s: float = 30.0, give: bytes = b"", most_b: int = 0) -> bytes:  # noqa: ARG002
        if self._said is None:
            raise Unreachable("silent")
        return self._said

    def drop(self) -> None:
        raise Unreachable("is not asked for")


def test_what_is_no_uptime_is_no_reading() -> None:
    found = reading(Answering(b"350735.47 234388.90\n"))
    assert found and found.board_s == 350735.47 and found.asked_s <= found.answered_s
    for said in (None, b"", b"nan 1", b"-1.00 2", b"1e9 1", b"9" * 400 + b".00 1"):
        assert reading(Answering(said)) is None
    assert compared(None, found) == ({"clock_rate": "not compared with the host's"}, [])


@pytest.mark.parametrize(
    ("board_s", "trip_s", "wrong"),
    [
        (100.0, 0.0, False),
        (100.05, 0.0, False),  # 500 ppm: a time daemon that slews
        (100.2, 0.0, True),  # 2,000 ppm
        (99.8, 0.0, True),
        (100.2, 0.1, False),  # the round trips may be that
        (99.8, 0.1, False),
        (110.0, 4.0, True),  # a wrong frequency in the device tree
        (50.0, 4.0, True),
    ],
)
def test_a_clock_that_is_away_by_more_than_the_round_trips_is_a_problem(
    board_s: float, trip_s: float, wrong: bool
) -> None:
    first = ClockReading(7.0, 1000.0, 1000.0 + trip_s)
    facts, problems = compared(first, ClockReading(7.0 + board_s, 1100.0, 1100.0 + trip_s))
    assert "of the host's over" in facts["clock_rate"]
    assert bool(problems) == wrong
