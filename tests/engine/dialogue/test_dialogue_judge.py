# SPDX-License-Identifier: MIT
"""The judge of procedures for any program: what fails, and that nothing passes in silence."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.dialogue.answer_times import figures
from rtqual.engine.dialogue.dialogue_script import compiled
from rtqual.engine.dialogue.dialogues import Dialogues, kept
from rtqual.engine.dialogue.hearing import judge
from rtqual.engine.dialogue.octets import crc16
from rtqual.engine.dialogue.robust import _procedure, robust
from rtqual.engine.mission.language_table import Framing, Robustness
from support.heater import ANSWER_NS, HEATER, Answered, Packets, judged, language, procedure, verify_of

PING = '[[step]]\nat = "100 ms"\nsend = "PING"\n'
SET = '[[step]]\nat = "100 ms"\nsend = "SETPOINT"\nargs = { tenths = 250 }\n'


def test_a_telecommand_that_is_answered_passes(tmp_path: Path) -> None:
    found = judged(procedure(tmp_path, PING))
    assert found.passed, found.why
    assert [check.what for check in found.checks] == ["accepted", "completed"] * 2  # and those of the closing one


def good(log: Answered, sent: bytes) -> list[bytes]:
    return log.good(sent)


First = Callable[[Answered, bytes], Packets]
FAULTS: dict[str, tuple[First, str]] = {
    "never": (lambda _log, _sent: [], "accepted: did not come"),
    "drop": (lambda log, sent: good(log, sent)[:2], "completed: did not come"),
    "delay": (
        lambda log, sent: [(300_000_000 + n, each) for n, each in enumerate(good(log, sent))],
        "after 300.000 ms",
    ),
    "twice": (lambda log, sent: [*good(log, sent), log.packet(1, 7, sent[:4])], "answered before"),
    "flip": (lambda log, sent: [bytes([*each[:-3], each[-3] ^ 4, *each[-2:]]) for each in good(log, sent)], "checksum"),
    "cut": (lambda log, sent: [each[:-4] for each in good(log, sent)], "octets, of which its header says"),
    "swap": (lambda log, sent: [good(log, sent)[n] for n in (0, 2, 1)], "out of order"),
    "gap": (lambda log, sent: [good(log, sent)[n] for n in (0, 2)], "lost, there twice, or out of order"),
    "other": (lambda log, sent: [*good(log, sent), log.packet(1, 7, b"\x18\x2a\xc0\x7f")], "had not been sent"),
    "refuse": (lambda log, sent: [log.packet(1, 2, sent[:4] + b"\0\1")], "was refused (UNKNOWN_TYPE)"),
    "fail": (lambda log, sent: [log.packet(1, 1, sent[:4]), log.packet(1, 8, sent[:4] + b"\0\4")], "failed (OUT_OF"),
    "unknown": (lambda log, sent: [*good(log, sent), log.packet(99, 9)], "the dictionary lacks"),
}


@pytest.mark.parametrize("how", FAULTS)
def test_each_fault_of_the_link_fails(tmp_path: Path, how: str) -> None:
    """Each by its own reason; the closing telecommand is answered as it should be."""
    first, why = FAULTS[how]
    found = judged(procedure(tmp_path, PING), first)
    assert not found.passed
    said = [*found.wrong, *(f"{check.what}: {check.detail}" for check in found.checks if not check.passed)]
    assert any(why in text for text in said), said


def test_a_refusal_is_expected_with_its_cause(tmp_path: Path) -> None:
    expect = 'expect = [{ answer = "refused", cause = "UNKNOWN_TYPE", within = "20 ms" }]\n'
    made = procedure(tmp_path, f'[[step]]\nat = "100 ms"\nsend = "NOTHING"\n{expect}')
    assert judged(made, lambda log, sent: [log.packet(1, 2, sent[:4] + b"\0\1")]).passed
    assert not judged(made, lambda log, sent: [log.packet(1, 2, sent[:4] + b"\0\2")]).passed


def test_a_bound_between_two_answers(tmp_path: Path) -> None:
    """Whatever the way to the program takes."""
    made = procedure(tmp_path, SET + 'expect = [{ answer = "completed", since = "accepted", within = "2 ms" }]\n')

    def after(accepted_us: int, completed_us: int) -> First:
        times = (accepted_us * 1000, completed_us * 1000)
        return lambda log, sent: list(zip(times, log.good(sent), strict=True))

    assert judged(made, after(18_000, 19_900)).passed
    late = judged(made, after(1000, 4000))
    assert not late.passed
    assert "completed after accepted" in late.why


def test_what_holds_is_the_report_before_not_one_that_comes(tmp_path: Path) -> None:
    look = '[[step]]\nat = "500 ms"\nis = [{ report = "HK", values = { setpoint = 250 } }]\n'
    made = procedure(tmp_path, SET + look)

    def told_after(late_ms: int, setpoint: int = 250) -> First:
        hk = bytes([0, 1, 0, 0, 0]) + setpoint.to_bytes(2, "big") + (200).to_bytes(2, "big")
        return lambda log, sent: [*log.good(sent), (late_ms * 10**6, log.packet(3, 25, hk))]

    assert judged(made, told_after(100)).passed
    assert "it was setpoint 251" in judged(made, told_after(100, 251)).why
    assert "nothing was reported before" in judged(made, told_after(450)).why
    assert "nothing was reported before" in judged(made).why


def test_a_severe_event_that_nobody_expects_fails(tmp_path: Path) -> None:
    def hot(log: Answered, sent: bytes) -> Packets:
        return [*log.good(sent), log.packet(5, 3, b"\0\7")]

    expect = 'expect = [{ event = "NEARLY_TOO_HOT", within = "50 ms" }]\n'
    assert "NEARLY_TOO_HOT (MEDIUM), which no step expects" in judged(procedure(tmp_path, SET), hot).why
    assert judged(procedure(tmp_path, SET + expect), hot).passed
    assert judged(procedure(tmp_path, SET, head='ends = "1 s"\nallow = ["NEARLY_TOO_HOT"]'), hot).passed


def test_a_program_that_ends_fails(tmp_path: Path) -> None:
    assert "the program was ended by SIGSEGV" in judged(procedure(tmp_path, PING), ended="was ended by SIGSEGV").why
    to_end = procedure(tmp_path, PING, head='ends = "1 s"\nends_program = true')
    assert judged(to_end, ended="was ended by SIGKILL").passed
    assert "was to end" in judged(to_end).why
    unanswered = "".join(
        line for line in Answered(to_end, language()).log().splitlines(True) if int(line.split()[0]) <= 10**9
    )
    dead = f"{unanswered}1050000000 end 2 3\n"
    assert judge(
        to_end, compiled(to_end, language()), dead, language(), "was ended by SIGKILL"
    ).passed  # nobody is left to answer the closing PING
    alive = procedure(tmp_path, PING)
    assert not judge(alive, compiled(alive, language()), dead, language()).passed


def test_what_the_program_has_no_word_for_is_not_told_and_not_passed(tmp_path: Path) -> None:
    """Without rows of meanings a telecommand has no answers: a procedure must ask something of it."""
    dumb = language(verify_of(meanings=None, closing=()))
    with pytest.raises(BadInput, match="has no answer that must come"):
        procedure(tmp_path, PING, dumb)
    made = procedure(tmp_path, PING + 'expect = [{ report = "PONG", within = "50 ms" }]\n', dumb)
    found = judged(made, of=dumb)
    assert found.passed
    assert found.untold == ("accepted", "completed")
    assert [check.what for check in found.checks] == ["PONG"]


def test_an_unknown_packet_is_counted_or_fails(tmp_path: Path) -> None:
    told = language(verify_of(unknown="told"))
    found = judged(procedure(tmp_path, PING, told), FAULTS["unknown"][0], told)
    assert found.passed
    assert len(found.unknown) == 1
    assert not judged(procedure(tmp_path, PING), FAULTS["unknown"][0]).passed


def housekeeping(log: Answered, accepted: int, refused: int = 0) -> bytes:
    return log.packet(3, 25, accepted.to_bytes(2, "big") + refused.to_bytes(2, "big") + bytes(5))


@pytest.mark.parametrize(
    ("before", "after", "grown"), [(65_534, 1, True), (5, 8, True), (300, 2, False), (9, 9, False)]
)
def test_a_value_that_comes_round_has_grown_and_one_that_is_set_back_has_not(
    tmp_path: Path, before: int, after: int, grown: bool
) -> None:
    grows = '{ report = "HK", values = { accepted = { grows_at_least = 3, grows_at_most = 3 } }, within = "50 ms" }'
    made = procedure(tmp_path, f"{PING}expect = [{grows}]\n")

    def counted(log: Answered, sent: bytes) -> Packets:
        log.lines.append((1000, f"recv {housekeeping(log, before).hex()}"))
        return [*log.good(sent), housekeeping(log, after)]

    assert judged(made, counted).passed is grown


def test_a_completion_before_its_acceptance_is_told(tmp_path: Path) -> None:
    """Where packets have no counts that would."""
    uncounted = language(verify_of(check=()))
    made = procedure(tmp_path, PING, uncounted)
    turned = judged(made, lambda log, sent: [log.good(sent)[n] for n in (2, 1, 0)], uncounted)
    assert "which had been completed before" in turned.why
    assert judged(made, of=uncounted).passed


def test_a_counter_answers_for_the_telecommands_of_its_application(tmp_path: Path) -> None:
    """As cFS: no acknowledgement, and a counter in housekeeping."""
    rows = [{"is": each, "report": "HK", "grows": each} for each in ("accepted", "refused")]
    verify = verify_of(meanings=None, closing=())
    verify = type(verify).model_validate({**verify.model_dump(by_alias=True, exclude_unset=True), "meaning": rows})
    of = language(verify)
    made = procedure(tmp_path, PING, of)

    def with_counts(*counts: tuple[int, int], before: int = 0) -> First:
        def first(log: Answered, sent: bytes) -> Packets:
            every = [housekeeping(log, a, r) for a, r in ((before, 0), *counts)]
            log.lines.append((1000, f"recv {every[0].hex()}"))
            return every[1:]

        return first

    assert judged(made, with_counts((1, 0)), of).passed
    assert judged(made, with_counts((0, 0), before=65_535), of).passed  # 16 bits have come round
    for set_back in (3, 65_534):  # which would tell of more than was sent
        assert "accepted: did not come" in judged(made, with_counts((0, 0), before=set_back), of).why
    assert "accepted: did not come" in judged(made, with_counts((0, 0)), of).why
    assert "was refused" in " ".join(judged(made, with_counts((1, 1)), of).wrong)
    assert "answered before" in " ".join(judged(made, with_counts((3, 0)), of).wrong)


@pytest.mark.parametrize("refused", [True, False])
def test_half_a_telecommand_has_no_answer_of_the_next(tmp_path: Path, *, refused: bool) -> None:
    """Of a program that does not tell which it means; whether it refuses the half or drops it."""
    rows = [{"is": each.lower(), "report": each} for each in ("ACCEPTED", "REFUSED")]
    verify = verify_of(meanings=None)
    verify = type(verify).model_validate({**verify.model_dump(by_alias=True, exclude_unset=True), "meaning": rows})
    of = language(verify)
    half = PING + 'damage = "truncated"\nexpect = [{ answer = "refused", within = "50 ms" }]\n'
    made = procedure(tmp_path, half + PING.replace("100", "500"), of)
    log = Answered(made, of).log(lambda log, _: [log.packet(1, 2, bytes(6))] if refused else [])
    assert figures(compiled(made, of), log, of) == {"accepted PING": [ANSWER_NS, ANSWER_NS]}


@pytest.mark.parametrize(
    ("row", "before"),
    [
        # A field of the command, as F's opcode; a counter, as cFS's of an app.
        ({"is": "refused", "report": "REFUSED", "token": {"failure": "subtype"}}, 0),
        ({"is": "refused", "report": "{app}FUSED", "grows": "request"}, 1),
    ],
)
def test_raw_octets_may_be_refused_though_nobody_knows_what_they_are(
    tmp_path: Path, row: dict[str, object], before: int
) -> None:
    verify = verify_of(meanings=None, closing=(), check=())
    verify = type(verify).model_validate({**verify.model_dump(by_alias=True, exclude_unset=True), "meaning": [row]})
    of = language(verify)
    expect = 'expect = [{ report = "REFUSED", values = { failure = "WRONG_CHECKSUM" }, within = "50 ms" }]\n'
    made = procedure(tmp_path, f'[[step]]\nat = "100 ms"\nraw = "00"\n{expect}', of)

    def refused(log: Answered, sent: bytes) -> Packets:
        log.lines += [(1000, f"recv {log.packet(1, 2, bytes(5) + bytes([3])).hex()}")] * before
        return [log.packet(1, 2, bytes([0, 0, 0, 1, 0, 2]))]

    found = judged(made, refused, of)
    assert not any("had not been sent" in why for why in found.wrong), found.wrong
    assert all(check.passed for check in found.checks)


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (
            'forbid = [{ report = "HK", values = { setpiont = 1 } }]',
            "HK has no field 'setpiont'; did you mean 'setpoint'",
        ),
        ('is = [{ report = "HQ", values = { setpoint = 1 } }]', "there is no report 'HQ'; allowed: ACCEPTED"),
        ('expect = [{ answer = "progress", within = "1 ms" }]', None),
        ("unanswered = true", "has no answer that must come"),
        ("args = { tenths = 1 }", "there is no argument tenths"),
        ('damage = "flipped"', "says nothing of what follows"),
        ('expect = [{ answer = "accepted", since = "accepted", within = "1 ms" }]', "is the answer itself"),
        ('expect = [{ report = "HK", within = "2 s" }]', "is before step 1 has had its time"),
    ],
)
def test_what_could_never_fail_or_never_pass_is_refused(tmp_path: Path, step: str, why: str | None) -> None:
    if why is None:
        procedure(tmp_path, PING + step)
        return
    with pytest.raises(BadInput, match=why):
        procedure(tmp_path, PING + step)


def test_a_campaign_is_judged_by_what_its_folder_keeps(tmp_path: Path) -> None:
    """The dictionary too, which is a stranger's as soon as the folder is sent."""
    made, spoken = procedure(tmp_path, PING), language()
    text = kept((made,), spoken).as_json()
    again = Dialogues.model_validate_json(text)
    assert again.dictionary == {"0-packets.toml": (HEATER / "packets.toml").read_bytes()}
    assert again.language(spoken.verify).rows == spoken.rows
    assert again.named == (made,)
    for other in ("0/..", "../0-a", "0-a/b", "0-packets.tomk"):
        with pytest.raises((BadInput, ValueError)):
            Dialogues.model_validate_json(text.replace("0-packets.toml", other)).language(
                spoken.verify if other != "0-packets.tomk" else verify_of(format="xtce")
            )


def test_every_telecommand_is_tried_and_a_program_that_no_longer_answers_fails() -> None:
    spoken = language(verify_of(check=("ccsds-length", "crc16-ccitt")))  # what was sent at once is answered at once
    made, why = robust(spoken)
    assert [each.name for each in made] == ["robust-ping", "robust-mode", "robust-setpoint", "robust-nothing"]
    assert why == {}
    (ping, *_) = made
    lines = compiled(ping, spoken)
    sent = [line.packet for line in lines if line.packet]
    assert len({packet for packet in sent[2:14] if len(packet) < 13}) == 12  # cut at each octet
    assert judge(ping, lines, Answered(ping, spoken).log(), spoken).passed
    silent = Answered(ping, spoken)
    silent.good = lambda sent: []  # type: ignore[method-assign] # noqa: ARG005
    assert "at the end (PING): accepted: did not come" in judge(ping, lines, silent.log(), spoken).why
    with pytest.raises(BadInput, match="no closing telecommand"):
        robust(language(verify_of(closing=())))


def test_packets_that_are_shorter_say_so_and_are_sealed_like_the_whole_one() -> None:
    spoken = language()
    (ping, *_) = robust(spoken)[0]
    raw = [bytes.fromhex(step.raw) for step in ping.steps if step.raw]
    short = [packet for packet in raw if len(packet) > 6 and int.from_bytes(packet[4:6], "big") == len(packet) - 7]
    assert [len(packet) for packet in short] == [9, 10, 11, 12]
    assert all(crc16(packet) == 0 for packet in short), "only the length is another"
    bare = robust(language(verify_of(check=(), seal=())))[0][0]
    assert "cut at 10 places" in bare.title and "cut at 16 places" in ping.title


def test_the_link_is_lost_in_the_middle_of_a_packet_on_a_stream_that_cannot_find_its_step_again() -> None:
    for link, framing, closes in (
        ("udp:1:2", None, 0),
        ("connect:10025", None, 12),
        ("connect:10025", "cobs", 0),
        ("pty:/dev/x", None, 0),
    ):
        spoken = language(verify_of(link=link, framing=framing and Framing(framing)))
        (ping, *_) = robust(spoken)[0]
        faults = [line.text for line in compiled(ping, spoken) if not line.packet and line.text != "end"]
        assert faults == ["close", "open"] * closes
        assert [line.at_ns for line in compiled(ping, spoken) if line.packet][:2] == [0, 100_000_000], (
            "too early, then on"
        )


@pytest.mark.parametrize("link", ["udp:1:2", "connect:10025"])
def test_long_telecommands_are_tried_too(link: str) -> None:
    spoken = language(verify_of(link=link))
    for octets in (40, 79, 95, 400):
        made = _procedure("PING", {}, bytes(octets), spoken)
        assert sum(step.raw is not None for step in made.steps) >= 30


def test_what_is_tried_rests_as_long_as_the_program_reads_and_omits_what_would_end_it() -> None:
    settings = Robustness.model_validate({"rest": "6 s", "omit": ["NOTHING"]})
    made, why = robust(language(verify_of(robustness=settings)))
    assert [each.name for each in made] == ["robust-ping", "robust-mode", "robust-setpoint"]
    assert why == {"NOTHING": "the mission omits it"}
    assert {
        each.ends - max(step.at + (step.times or 1) * (step.every or 0) for step in each.steps) for each in made
    } == {6 * 10**9}
    with pytest.raises(BadInput, match="there is no command 'NOTHIN'; did you mean 'NOTHING'"):
        robust(language(verify_of(robustness=Robustness(omit=("NOTHIN",)))))


def test_octets_of_which_nothing_is_asked_are_refused(tmp_path: Path) -> None:
    raw = '[[step]]\nat = "100 ms"\nraw = "00"\nunanswered = true\n'
    with pytest.raises(BadInput, match="has no answer that must come"):
        procedure(tmp_path, raw)
    assert procedure(tmp_path, raw, head='ends = "1 s"\ntolerant = true')
