# SPDX-License-Identifier: MIT
"""A flight program that closes its link or has its board reset has failed, which is no lack of evidence."""

from pathlib import Path

from rtqual.engine.procedure.judging import Judgement
from rtqual_docking.procedures.own_program import judge
from support.ground_log import MS, Log, definition, good, procedure


def test_a_telecommand_that_found_no_link_is_a_failure(tmp_path: Path) -> None:
    """Whoever closes the link, or dies, has failed; that is no lack of evidence."""
    start_stop = procedure(tmp_path)
    text = good(start_stop).text.replace("200010000 send 2 ", "200010000 unsent 2\n200010000 recv ")
    judgement = judge(start_stop, text, definition())
    assert not judgement.passed and not judgement.unsound
    assert judgement.why == "at 200010000 ns step 2 of the script was not sent: there was no link"


def test_a_board_that_was_down_does_its_steps_late_and_fails_where_nobody_expects_that(tmp_path: Path) -> None:
    text = """\
title = "A reset"
verifies = ["TC-010"]
ends = "2 s"
step = [
  { at = "100 ms", fault = { signal = "STOP" }, expect = [
    { link = "lost", within = "1 s" }, { link = "up", within = "1 s" },
  ] },
  { at = "300 ms", send = "PING" },
]
"""
    reset = procedure(tmp_path, text, "reset")

    def judged(*between: str, late_ns: int, first_late_ns: int = MS) -> Judgement:
        log = Log(reset)
        if first_late_ns == MS:
            log.done(0)
        log.rows += between
        if first_late_ns > MS:
            log.done(0, late_ns=first_late_ns)
        at_ns = log.done(1, late_ns=late_ns)
        for subtype in (1, 3, 7):
            log.got(at_ns + MS, 1, subtype, log.lines[1].packet[:4])
        return log.closed().judged()

    back = ("200000000 reset", "700000000 up")
    assert judged(*back, late_ns=401 * MS).passed, "it was down until then"
    assert "was due at" in judged(*back, late_ns=500 * MS).unsound, "later than a board that is back would"
    assert "was due at" in judged("200000000 lost 0", "700000000 up", late_ns=401 * MS).unsound, "the ground was not"
    early = judged("50000000 reset", "700000000 up", late_ns=402 * MS, first_late_ns=601 * MS)
    assert "no step expects" in early.wrong[0], "a reset that nobody asked for fails"
