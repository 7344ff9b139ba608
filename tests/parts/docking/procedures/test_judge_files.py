# SPDX-License-Identifier: MIT
"""A file passes only where the ground's log says that it came whole, in time, as asked, and equal to the board's."""

from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.procedure.judging import Judgement
from support.ground_log import MS, Log, definition, procedure

TEXT = """\
title = "A file"
verifies = ["TC-010"]
ends = "6 s"

[[step]]
at = "50 ms"
fault = { files = "lose:10" }

[[step]]
at = "100 ms"
times = 2
every = "2 s"
send = "SEND_FILE"
args = { file = "FRAME" }

[[step.expect]]
report = "1.7"
within = "1500 ms"

[[step.expect]]
file = "complete"
values = { name = "frame", octets = 9, lost = { at_least = 1 }, asked = { at_least = 1 } }
within = "1500 ms"
"""
GOOD = "0 frame 9 0badcafe 0 14 0 2 3"


def _judged(folder: Path, *ends: str, at_ms: tuple[int, ...] = (600, 2600), completed: bool = True) -> Judgement:
    """What the log says of the two files' ends, beside a program that does all it should."""
    log = Log(procedure(folder, TEXT, "file"))
    log.done(0)
    for number, (line, end) in enumerate(zip((1, 2), ends, strict=True)):
        log.answered(line, 1, 3)
        log.rows.append(f"{log.lines[line].at_ns + 2 * MS} begun {77 + number}")
        if end:
            log.rows.append(f"{at_ms[number] * MS} file {77 + number} {end}")
        if completed:
            log.got(max(at_ms[number], 2000 * number + 700) * MS, 1, 7, log.lines[line].packet[:4])
    return log.closed().judged()


def test_files_that_come_whole_pass(tmp_path: Path) -> None:
    judgement = _judged(tmp_path, GOOD, GOOD)
    assert judgement.passed, judgement.why
    assert sum("file complete name = frame" in one.what for one in judgement.checks) == 2


@pytest.mark.parametrize(
    ("second", "why"),
    [
        ("5 frame 9 0badcafe 0 14 0 2 3", "its checksum is wrong"),
        ("7 frame 8 0badcafe 0 14 0 2 3", "what was asked for again never came"),
        ("9 frame 8 0badcafe 0 14 0 2 3", "condition 9"),
        ("0 frame 9 0badcafe 1 14 0 2 3", "1 of its octets differ from the board's"),
        ("0 frame 9 0badcafe - 14 0 2 3", "nobody compared it"),
        ("0 frame 9 0badcafe 0 14 1 2 3", "1 of its packets never came"),
    ],
)
def test_a_file_that_is_not_whole_fails_whatever_is_expected(tmp_path: Path, second: str, why: str) -> None:
    judgement = _judged(tmp_path, GOOD, second)
    assert not judgement.unsound and not judgement.passed
    assert judgement.wrong == (f"at {2600 * MS} ns file frame ended: {judgement.wrong[0].partition('ended: ')[2]}",)
    assert why in judgement.wrong[0]
    assert "did not come within 1500 ms" in judgement.why


@pytest.mark.parametrize(
    "second",
    [
        "0 log 9 0badcafe 0 14 0 2 3",
        "0 frame 8 0badcafe 0 14 0 2 3",
        "0 frame 9 0badcafe 0 14 0 0 3",
        "0 frame 9 0badcafe 0 14 0 2 0",
    ],
)
def test_another_file_or_one_of_which_nothing_was_lost_serves_no_expectation(tmp_path: Path, second: str) -> None:
    judgement = _judged(tmp_path, GOOD, second)
    assert not judgement.wrong and not judgement.passed
    assert "step 3 (SEND_FILE): file complete" in judgement.why


def test_silence_is_no_file(tmp_path: Path) -> None:
    judgement = _judged(tmp_path, GOOD, "")
    assert judgement.wrong == ("at 2102000000 ns a file began that did not end",)
    assert "did not come within" in judgement.why
    late = _judged(tmp_path, GOOD, GOOD, at_ms=(600, 3601))
    assert not late.wrong and "did not come within" in late.why, "after its time"
    alone = _judged(tmp_path, GOOD, GOOD, completed=False)
    assert not alone.passed and "1.7" in alone.why, "the program does not know that it came"


@pytest.mark.parametrize(
    "line",
    [
        "file 77 0 frame 9 0badcafe 0 14 0 2",
        "file 77 0 fr/me 9 0badcafe 0 14 0 2 3",
        "file 77 0 frame -9 0badcafe 0 14 0 2 3",
        "file 77 0 frame 9 0BADCAFE 0 14 0 2 3",
        "file 77 0 frame 9 0badcafe x 14 0 2 3",
        f"file 77 0 {'f' * 33} 9 0badcafe 0 14 0 2 3",
        "file 77 0  9 0badcafe 0 14 0 2 3",
        "file 0 0 frame 9 0badcafe 0 14 0 2 3",
        "file 78 0 frame 9 0badcafe 0 14 0 2 3",
        "begun 78",
        "begun 0",
        "begun x",
        "begun 99999999999",
        "file 77 0 frame\x1b 9 0badcafe 0 14 0 2 3",
    ],
)
def test_a_line_that_the_ground_does_not_write_is_no_evidence(tmp_path: Path, line: str) -> None:
    log = Log(procedure(tmp_path, TEXT, "file"))
    log.done(0)
    log.answered(1)
    log.rows += [f"{500 * MS} begun 77", f"{600 * MS} {line}"]
    log.answered(2)
    judgement = log.closed().judged()
    assert judgement.unsound and not judgement.passed


def _begun(folder: Path, first: str, second: str) -> Judgement:
    """Two good files; each is said to begin with the words given, after the telecommand or, with "early", before it."""
    log = Log(procedure(folder, TEXT, "file"))
    log.done(0)
    for line, begun in ((1, first), (2, second)):
        number, _, early = begun.partition(" ")
        at_ns = log.lines[line].at_ns
        log.rows += [f"{at_ns} begun {number}"] if early else []
        log.answered(line, 1, 3)
        log.rows += [] if early else [f"{at_ns + 2 * MS} begun {number}"]
        log.rows.append(f"{at_ns + 500 * MS} file {number} {GOOD}")
        log.got(at_ns + 600 * MS, 1, 7, log.lines[line].packet[:4])
    return log.closed().judged()


def test_a_file_that_began_before_its_telecommand_serves_it_not(tmp_path: Path) -> None:
    assert _begun(tmp_path, "77", "78").passed
    early = _begun(tmp_path, "77", "78 early")
    assert not early.unsound and not early.passed
    assert "step 3 (SEND_FILE): file complete" in early.why and "did not come within" in early.why


def test_a_number_that_a_file_had_before_is_no_evidence(tmp_path: Path) -> None:
    assert _begun(tmp_path, "77", "77").unsound == "has files that begin or end out of their order"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('file = "complete"', 'file = "complete"\nreport = "1.7"'), "stands beside a report"),
        (('file = "complete"', 'file = "half"'), "'half' is not allowed"),
        (("octets = 9", "octet = 9"), "a file has no field 'octet'; did you mean 'octets'"),
        (("octets = 9", "octets = { grows_at_least = 1 }"), "values: no file grows from one before"),
        (('"frame"', '"a frame"'), "name: 'a frame' is no name of a file"),
        (("lose:10", "lose:100"), "is not packets lost of 100"),
    ],
)
def test_a_wrong_word_is_one_line(tmp_path: Path, change: tuple[str, str], told: str) -> None:
    with pytest.raises(BadInput, match=told):
        procedure(tmp_path, TEXT.replace(*change), "file")


def test_the_script_tells_the_ground_what_to_lose(tmp_path: Path) -> None:
    log = Log(procedure(tmp_path, TEXT, "file"))
    assert log.lines[0].text == "lose 10"
    assert definition().commands["SEND_FILE"]
