# SPDX-License-Identifier: MIT
"""A program, or whoever writes its procedures, that wants to pass and does not do what is asked."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.dialogue.dialogue_script import compiled
from rtqual.engine.dialogue.hearing import judge
from rtqual.engine.dialogue.language import Language
from rtqual.engine.dialogue.octets import crc16
from rtqual.engine.mission.language_table import Framing
from support.heater import Answered, Packets, judged, language, procedure, verify_of

PING = '[[step]]\nat = "100 ms"\nsend = "PING"\n'
NOTHING = '[[step]]\nat = "100 ms"\nsend = "NOTHING"\nexpect = [{ answer = "refused", within = "20 ms" }]\n'
SERVED = '[[step]]\nat = "100 ms"\nsend = "PING"\nexpect = [{ report = "PONG", within = "50 ms" }]\n'
KILL = '[[step]]\nat = "100 ms"\nsend = "PING"\n[[step]]\nat = "500 ms"\nfault = { signal = "KILL" }\n'
TO_END = 'ends = "1 s"\nends_program = true'
PROGRESS = {"is": "progress", "report": "FAILED", "token": {"request": "octets 0-4"}}  # which none of these gives
Does = Callable[[Answered, bytes], Packets]


def with_rows(rows: list[dict[str, object]], **changed: object) -> Language:
    """The heater, of which nothing but its answers is looked at, and these mean something else."""
    verify = verify_of(check=(), unknown="told", **changed)
    return language(
        type(verify).model_validate({**verify.model_dump(by_alias=True, exclude_unset=True), "meaning": rows})
    )


def refused_and_done(log: Answered, sent: bytes) -> Packets:
    return [log.packet(1, 2, sent[:4] + b"\0\1"), log.packet(1, 7, sent[:4])]


def refused_and_begun(log: Answered, sent: bytes) -> Packets:
    return [log.packet(1, 2, sent[:4] + b"\0\1"), log.packet(1, 8, sent[:4] + b"\0\4")]


def before_it_is_asked(log: Answered, sent: bytes) -> Packets:
    early = [log.packet(1, 1, sent[:4]), log.packet(1, 7, sent[:4])]
    log.lines += [(50_000_000 + n, f"recv {packet.hex()}") for n, packet in enumerate(early)]
    return [log.packet(17, 2)]


def before_and_after(log: Answered, sent: bytes) -> Packets:
    return [*before_it_is_asked(log, sent), *log.good(sent)]


def all_counts(log: Answered, sent: bytes) -> Packets:
    """Acceptances and completions of 500 telecommands, of which one was sent."""
    every = [sent[:2] + (0xC000 | count).to_bytes(2, "big") for count in range(500)]
    return [log.packet(1, subtype, request) for request in every for subtype in (1, 7)] + [log.packet(17, 2)]


def done_again(log: Answered, sent: bytes) -> Packets:
    return [*log.good(sent), log.packet(1, 1, sent[:4])]


def goes_on_after_its_end(log: Answered, sent: bytes) -> Packets:
    return [*log.good(sent), log.packet(1, 8, sent[:4] + b"\0\4")]


def of_nothing(log: Answered, sent: bytes) -> Packets:
    return [*log.good(sent), log.packet(1, 8, b"\x18\x2a\xc0\x7f\0\4")]


def echoes(log: Answered, sent: bytes) -> Packets:
    return [*log.good(sent), sent]


LIES: dict[str, tuple[str, Does, str]] = {
    "refuses and completes": (NOTHING, refused_and_done, "NOTHING, which had been refused before"),
    "refuses and begins": (NOTHING, refused_and_begun, "NOTHING, which had been refused before"),
    "answers before it is asked": (SERVED, before_it_is_asked, "a telecommand that had not been sent"),
    "answers before and after": (SERVED, before_and_after, "a telecommand that had not been sent"),
    "answers all that there might be": (SERVED, all_counts, "a telecommand that had not been sent"),
    "accepts what is done": (PING, done_again, "PING, which had been answered before"),
    "goes on with what is done": (PING, goes_on_after_its_end, "PING, which had been completed before"),
    "goes on with what was not sent": (PING, of_nothing, "a telecommand that had not been sent"),
    "echoes": (PING, echoes, "the very octets that were sent"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_program_that_lies_fails_by_its_lie(tmp_path: Path, lie: str) -> None:
    """The reports that are asked for come in all of these."""
    steps, does, why = LIES[lie]
    spoken = with_rows([PROGRESS])
    found = judged(procedure(tmp_path, steps, spoken), does, spoken)
    assert why in " ".join(found.wrong), found


@pytest.mark.parametrize("lost_ns", [200_000_000, 1_045_000_000])
def test_a_program_that_hangs_up_when_it_has_answered_fails(tmp_path: Path, lost_ns: int) -> None:
    """After all that is asked for, and after the answers that end the procedure."""
    made = procedure(tmp_path, PING)
    *lines, end = Answered(made, language()).log().splitlines()
    log = "\n".join(sorted([*lines, f"{lost_ns} lost 0", f"{lost_ns + 1} up"], key=lambda line: int(line.split()[0])))
    found = judge(made, compiled(made, language()), f"{log}\n{end}\n", language())
    assert all(check.passed for check in found.checks)
    assert "the link was lost, which no step expects" in found.why


def test_what_time_a_report_says_is_nothing_to_the_judge(tmp_path: Path) -> None:
    """It counts when it comes, though it says that it was made hours ago, or will be."""
    for octet in (b"\0", b"\xff"):

        def answer(log: Answered, sent: bytes, octet: bytes = octet) -> Packets:
            reports = [each[:11] + octet * 4 + each[15:-2] for each in log.good(sent)]
            late = [(30_000_000 + n, each + crc16(each).to_bytes(2, "big")) for n, each in enumerate(reports)]
            return late if octet == b"\xff" else [packet for _, packet in late]

        found = judged(procedure(tmp_path, PING), answer)
        assert found.passed is (octet == b"\0"), found.why
        assert ("accepted: did not come within 20 ms" in found.why) is not found.passed


@pytest.mark.parametrize("framing", [Framing.DATAGRAMS, Framing.COBS, Framing.FPRIME, Framing.SPACE_PACKETS])
def test_an_echo_is_one_however_packets_are_framed(tmp_path: Path, framing: Framing) -> None:
    """A plug in the line that sends all back: the telecommand has the very octets of what is asked for."""
    spoken = language(verify_of(check=(), unknown="told", framing=framing))
    made = procedure(tmp_path, PING, spoken)
    lines = compiled(made, spoken)
    log = Answered(made, spoken)
    log.good = lambda _sent: []  # type: ignore[method-assign]
    found = judge(made, lines, log.log(lambda _log, sent: [sent]), spoken)
    assert "an echo answers nothing" in found.wrong[0]
    assert not found.unknown


def without_tokens(**changed: object) -> Language:
    """A program that names an operation, not a telecommand: two of one kind cannot be told apart."""
    rows = [
        {"is": stage, "where": {"service": 1, "subtype": subtype}, "token": {"request": "subtype"}}
        for stage, subtype in (("accepted", 1), ("refused", 2), ("completed", 7))
    ]
    return with_rows(rows, meanings=None, **changed)


def told_by_kind(log: Answered, sent: bytes, times: int = 1) -> Packets:
    kind = sent[8].to_bytes(4, "big")
    return [log.packet(1, subtype, kind) for _ in range(times) for subtype in (1, 7)]


def test_raw_octets_excuse_one_answer_not_one_of_each_kind(tmp_path: Path) -> None:
    spoken = without_tokens(closing=())
    raw = '[[step]]\nat = "50 ms"\nraw = "00"\nunanswered = true\nforbid = [{ report = "PONG", within = "1 ms" }]\n'
    made = procedure(tmp_path, raw + PING + PING.replace("PING", "NOTHING"), spoken)

    def told(times: int, of_nothing: int) -> tuple[str, ...]:
        log = Answered(made, spoken)
        counts = iter((times, of_nothing))
        log.good = lambda sent: [*told_by_kind(log, sent, next(counts))]  # type: ignore[method-assign,list-item]
        return judge(made, compiled(made, spoken), log.log(lambda *_: []), spoken).wrong

    assert told(1, 1) == ()
    assert told(2, 1) == ()  # the raw octets may have been a ping
    assert "answered before" in " ".join(told(2, 2))  # and not both


def test_what_is_refused_beside_what_is_done_is_told_apart_where_it_can_be(tmp_path: Path) -> None:
    """Two of one kind, of which the program does one and refuses one; and then does both."""
    spoken = without_tokens(closing=())
    refused = 'expect = [{ answer = "refused", within = "50 ms" }]\n'
    made = procedure(tmp_path, PING + PING.replace("100", "300") + refused, spoken)

    def told(*second: int) -> bool:
        log = Answered(made, spoken)
        log.good = lambda sent: [log.packet(1, each, bytes([0, 0, 0, sent[8]])) for each in second]  # type: ignore[method-assign]
        return judge(made, compiled(made, spoken), log.log(told_by_kind), spoken).passed

    assert told(2)
    assert not told(2, 7)


@pytest.mark.parametrize(
    ("ended", "why"),
    [
        ("was ended by SIGKILL", ""),
        ("was ended by SIGSEGV", "the program was ended by SIGSEGV, and was to end by SIGKILL"),
        ("ended with exit code 0", "the program ended with exit code 0, and was to end by SIGKILL"),
        ("", "the program still ran"),
    ],
)
def test_a_program_that_is_to_be_killed_ends_by_that(tmp_path: Path, ended: str, why: str) -> None:
    found = judged(procedure(tmp_path, KILL, head=TO_END), ended=ended)
    assert found.passed is not bool(why)
    assert why in " ".join(found.wrong)


@pytest.mark.parametrize(("ended", "passes"), [("with exit code 3", True), ("by SIGTERM", True), ("by SIGABRT", False)])
def test_a_program_that_is_asked_to_end_may_choose_how_but_not_crash(tmp_path: Path, ended: str, passes: bool) -> None:
    made = procedure(tmp_path, KILL.replace("KILL", "TERM"), head=TO_END)
    assert judged(made, ended=("ended " if "code" in ended else "was ended ") + ended).passed is passes


def test_a_program_that_is_to_end_and_hangs_up_before_anything_is_done_fails(tmp_path: Path) -> None:
    made = procedure(tmp_path, KILL, head=TO_END)

    def log(lost_ns: int) -> str:
        lines = Answered(made, language()).log().splitlines()
        at = next(n for n, line in enumerate(lines) if int(line.split()[0]) > lost_ns)
        return "\n".join([*lines[:at], f"{lost_ns} lost 0", f"{lost_ns} up", *lines[at:], ""])

    def wrong(lost_ns: int) -> str:
        return " ".join(judge(made, compiled(made, language()), log(lost_ns), language(), "was ended by SIGKILL").wrong)

    assert "before anything was done" in wrong(50_000_000)
    assert not wrong(600_000_000)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ('mode = "ONN"', "HK mode: there is no 'ONN'; did you mean 'ON'"),
        ("mode = 1", "HK mode: 1 is told as 'ON': write that"),
        ('mode = "ON"', ""),
        ("setpoint = 1", ""),
    ],
)
@pytest.mark.parametrize("key", ["forbid", "is"])
def test_a_value_that_never_is_cannot_be_forbidden(tmp_path: Path, key: str, values: str, why: str) -> None:
    """What forbids it would pass whatever comes."""
    steps = f'{PING}{key} = [{{ report = "HK", values = {{ {values} }} }}]\n'
    if not why:
        procedure(tmp_path, steps)
        return
    with pytest.raises(BadInput, match=why):
        procedure(tmp_path, steps)
