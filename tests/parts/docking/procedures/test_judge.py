# SPDX-License-Identifier: MIT
"""The judge decides rightly of every log: what is missing, late, early, there twice, in another order, of another
telecommand, cut off or garbage is never a pass."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtqual.engine.dialogue.hearing import _Meets
from rtqual.engine.procedure.judging import Judgement
from rtqual_docking.packets.codec import telecommand
from rtqual_docking.procedures.checked_procedures import load_procedure
from rtqual_docking.procedures.log_figures import figures
from rtqual_docking.procedures.model import Procedure
from rtqual_docking.procedures.own_program import judge
from support.ground_log import MS, Log, definition, good, procedure


@pytest.fixture(scope="module")
def start_stop(tmp_path_factory: pytest.TempPathFactory) -> Procedure:
    return procedure(tmp_path_factory.mktemp("procedure"))


def _kind(row: str) -> str:
    """'1.7' of a row with a report."""
    octets = bytes.fromhex(row.rpartition(" ")[2]) if " recv " in row else b""
    return f"{octets[7]}.{octets[8]}" if octets else ""


def _nth(log: Log, kind: str, number: int = 0) -> int:
    return [n for n, row in enumerate(log.rows) if _kind(row) == kind][number]


def _renumbered(log: Log) -> Log:
    """The rows' telemetry counted anew, as a program would that never sent what is missing."""
    again = Log(log.procedure)
    rows = []
    for row in log.rows[:-1]:
        at, what, *rest = row.split(" ")
        if what == "recv":
            old = bytes.fromhex(rest[0])
            rows.append(f"{at} recv {again.packet(old[7], old[8], old[21:-2]).hex()}")
        else:
            rows.append(row)
    again.rows = rows
    return again.ended()


def _moved(log: Log, row: int, to: int, at_ns: int) -> Log:
    taken = log.rows.pop(row)
    log.rows.insert(to, f"{at_ns} {taken.split(' ', 1)[1]}")
    return _renumbered(log)


def _without(kind: str, number: int = 0) -> Callable[[Log], Log]:
    def change(log: Log) -> Log:
        del log.rows[_nth(log, kind, number)]
        return _renumbered(log)

    return change


def _twice(kind: str, number: int = 0) -> Callable[[Log], Log]:
    def change(log: Log) -> Log:
        place = _nth(log, kind, number)
        log.rows.insert(place, log.rows[place])
        return _renumbered(log)

    return change


def _late(kind: str, number: int, by_ns: int) -> Callable[[Log], Log]:
    def change(log: Log) -> Log:
        place = _nth(log, kind, number)
        at_ns = int(log.rows[place].split(" ")[0]) + by_ns
        to = next(n for n, row in enumerate(log.rows) if int(row.split(" ")[0]) >= at_ns)
        return _moved(log, place, to - 1, at_ns)

    return change


def _before_its_sending(log: Log) -> Log:
    sent = log.find(lambda row: " send 2 " in row)
    at_ns = int(log.rows[sent].split(" ")[0])
    return _moved(log, _nth(log, "1.1", 1), sent, at_ns)


def _event_before_its_fault(log: Log) -> Log:
    place = log.find(lambda row: " did " in row)
    return _moved(log, _nth(log, "5.3"), place, int(log.rows[place].split(" ")[0]))


def _other_order(log: Log) -> Log:
    first, last = _nth(log, "1.1"), _nth(log, "1.7")
    log.rows[first], log.rows[last] = log.rows[last], log.rows[first]
    return _renumbered(log)


def _of_another(log: Log) -> Log:
    """The second telecommand's completion names the first."""
    place = _nth(log, "1.7", 1)
    request = log.lines[0].packet[:4]
    log.rows[place] = f"{230 * MS} recv {log.packet(1, 7, request).hex()}"
    return _renumbered(log)


def _severe(log: Log) -> Log:
    place = log.find(lambda row: " did " in row)
    extra = Log(log.procedure)
    extra.event(int(log.rows[place].split(" ")[0]), "WATCHDOG")
    log.rows.insert(place + 1, extra.rows[-1])
    return _renumbered(log)


def _other_failure(log: Log) -> Log:
    place = _nth(log, "1.2")
    at = log.rows[place].split(" ")[0]
    code = definition().failures["BAD_MODE"].to_bytes(2, "big")
    log.rows[place] = f"{at} recv {log.packet(1, 2, log.lines[3].packet[:4] + code).hex()}"
    return _renumbered(log)


WRONG: dict[str, tuple[Callable[[Log], Log], str]] = {
    "an acceptance is missing": (_without("1.1"), "did not come"),
    "a completion is missing": (_without("1.7"), "did not come"),
    "the event is missing": (_without("5.1"), "MODE"),
    "the camera is not seen to be gone": (_without("5.3"), "CAMERA_GONE"),
    "the refusal is missing": (_without("1.2"), "BAD_CRC"),
    "housekeeping at the end is missing": (_without("3.25", 2), "HK_LINK"),
    "accepted twice": (_twice("1.1", 1), "answered before"),
    "begun twice": (_twice("1.3", 1), "begun before"),
    "completed twice": (_twice("1.7", 1), "ended before"),
    "the event is late": (_late("5.3", 0, 40 * MS), "CAMERA_GONE"),
    "the acceptance is late": (_late("1.1", 1, 6 * MS), "did not come"),
    "answered before it was sent": (_before_its_sending, "had not been sent"),
    "an event from before the fault": (_event_before_its_fault, "CAMERA_GONE"),
    "completed before it was accepted": (_other_order, "had not begun"),
    "another telecommand's completion": (_of_another, "did not come"),
    "a severe event that nobody expects": (_severe, "5.4"),
    "refused for another reason": (_other_failure, "BAD_CRC"),
}


def test_a_good_log_passes_and_tells_how_long_everything_took(start_stop: Procedure) -> None:
    judgement = good(start_stop).judged()
    assert judgement.passed, judgement.why
    told = {(one.step, one.what): one.after_ns for one in judgement.checks}
    assert told[1, "1.1"] == 300_000
    assert told[2, "CAMERA_GONE"] == 20 * MS
    assert told[2, "CAMERA_BACK"] == 600 * MS
    assert (0, "1.7") in told, "what its step does not say is checked too"


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_fails_for_this_reason(start_stop: Procedure, name: str) -> None:
    change, why = WRONG[name]
    judgement = change(good(start_stop)).judged()
    assert not judgement.passed
    assert any(why in told for told in (judgement.why, *judgement.wrong)), (judgement.why, judgement.wrong)
    assert not judgement.unsound


def test_telemetry_that_is_lost_or_there_twice_is_seen(start_stop: Procedure) -> None:
    for kind in ("1.3", "3.25"):
        lost = good(start_stop)
        place = _nth(lost, kind)
        del lost.rows[place]
        assert any("out of order" in one for one in lost.recounted().judged().wrong)
        twice = good(start_stop)
        twice.rows.insert(place, twice.rows[place])
        assert any("out of order" in one for one in twice.recounted().judged().wrong)


def test_a_report_with_one_wrong_bit_is_no_report(start_stop: Procedure) -> None:
    for bit in range(0, 8 * 27, 7):
        log = good(start_stop)
        place = _nth(log, "1.7", 1)
        at, what, octets = log.rows[place].split(" ")
        raw = bytearray.fromhex(octets)
        raw[bit // 8] ^= 1 << bit % 8
        log.rows[place] = f"{at} {what} {raw.hex()}"
        assert not log.judged().passed, f"bit {bit}"


def test_a_link_that_is_lost_and_back_is_seen(start_stop: Procedure) -> None:
    """A program that ended and was started again shows nothing else."""
    log = good(start_stop)
    place = log.find(lambda row: " send 2 " in row)
    at = log.rows[place].split(" ", maxsplit=1)[0]
    log.rows[place:place] = [f"{at} lost 0", f"{at} up"]
    judgement = log.judged()
    assert not judgement.passed
    assert "the link was lost" in judgement.why


def test_a_link_may_flap_while_it_is_expected_to_go_and_not_later(tmp_path: Path) -> None:
    text = """\
title = "Killed"
verifies = ["TC-010"]
ends = "2 s"
[[step]]
at = "100 ms"
fault = { signal = "KILL" }
expect = [{ link = "lost", within = "100 ms" }, { link = "up", within = "1 s" }]
"""

    def judged(*changes: tuple[int, str]) -> Judgement:
        log = Log(procedure(tmp_path, text, "killed"))
        log.done(0)
        log.rows += [f"{at_ms * MS} {what}" for at_ms, what in changes]
        return log.closed().judged()

    assert judged((101, "lost 0"), (300, "up")).passed
    assert judged((101, "reset"), (300, "up")).passed, "the board was reset, and the ground on it"
    assert "no step expects" in judged((101, "lost 0"), (300, "up"), (900, "reset"), (901, "up")).why
    assert judged((101, "lost 0"), (102, "up"), (103, "lost 0"), (300, "up")).passed
    assert "no step expects" in judged((101, "lost 0"), (300, "up"), (900, "lost 0"), (901, "up")).why
    assert "link lost" in judged().why
    assert "link lost" in judged((300, "lost 0"), (301, "up")).why
    assert "link up" in judged((101, "lost 0"), (1200, "up")).why


def test_one_event_serves_one_expectation(tmp_path: Path) -> None:
    text = """\
title = "Two faults"
verifies = ["TC-010"]
ends = "2 s"
step = [
  { at = "100 ms", fault = { camera = "drop" }, expect = [{ event = "FRAMES_LOST", within = "1 s" }] },
  { at = "200 ms", fault = { camera = "drop" }, expect = [{ event = "FRAMES_LOST", within = "1 s" }] },
]
"""
    two = procedure(tmp_path, text, "two")
    once, twice = Log(two), Log(two)
    for log in (once, twice):
        log.done(0)
        at_ns = log.done(1)
        log.event(at_ns + MS, "FRAMES_LOST")
    twice.event(at_ns + 2 * MS, "FRAMES_LOST")
    assert not once.closed().judged().passed
    assert twice.closed().judged().passed


def test_a_telecommand_that_is_sent_again_may_be_refused_but_must_not_run_again(tmp_path: Path) -> None:
    text = """\
title = "Twice"
verifies = ["TC-010"]
ends = "2 s"
[[step]]
at = "100 ms"
send = "PING"
expect = [{ report = "17.2", within = "5 ms" }]
[[step]]
at = "200 ms"
send = "PING"
damage = "duplicate"
expect = [{ report = "1.2", failure = "DUPLICATE", within = "5 ms" }]
forbid = [{ report = "17.2" }, { report = "1.7" }]
"""
    twice = procedure(tmp_path, text, "twice")

    def log(*, runs: bool) -> Log:
        log = Log(twice)
        log.answered(0, 1, 3)
        log.got(101 * MS, 17, 2)
        log.got(101 * MS, 1, 7, log.lines[0].packet[:4])
        if runs:
            log.answered(1)
            log.got(201 * MS, 17, 2)
        else:
            log.answered(1, 2, failure="DUPLICATE")
        return log.closed()

    assert log(runs=False).judged().passed
    ran = log(runs=True).judged()
    assert [one.what for one in ran.checks if not one.passed] == ["1.2 DUPLICATE", "no 17.2", "no 1.7"]


UNSOUND: dict[str, tuple[Callable[[str], str], str]] = {
    "empty": (lambda _: "", "cut off"),
    "cut in a line": (lambda log: log[:-5], "cut off"),
    "cut after a line": (lambda log: "".join(log.splitlines(keepends=True)[:-1]), "cut off"),
    "a line is missing": (
        lambda log: "".join(log.splitlines(keepends=True)[:4] + log.splitlines(keepends=True)[5:]),
        "",
    ),
    "garbage": (lambda log: log.replace("\n", "\n\x1b[2J\n", 1), "line 2"),
    "goes on": (lambda log: f"{log}9999999999 up\n", "`end`"),
    "other sending": (lambda log: log.replace("send 2 18", "send 2 19"), "something else"),
    "times go back": (lambda log: log.replace("\n2", "\n9", 1), "go back"),
    "a step was late": (lambda log: log.replace("200010000 send", "230010000 send"), ""),
    "a fault failed": (lambda log: log.replace("did 3", "failed 3 no FIFO"), "no FIFO"),
}


@pytest.mark.parametrize("name", UNSOUND)
def test_a_damaged_log_is_no_evidence(start_stop: Procedure, name: str) -> None:
    change, why = UNSOUND[name]
    whole = good(start_stop).text
    changed = change(whole)
    assert changed != whole
    judgement = judge(start_stop, changed, definition())
    assert judgement.unsound
    assert why in judgement.unsound
    assert not judgement.passed
    assert not judgement.checks


@given(st.data())
def test_whatever_the_log_holds_the_judge_answers(start_stop: Procedure, data: st.DataObject) -> None:
    """And a log from which a piece is missing, or to which something is added, never passes."""
    whole = good(start_stop).text
    at = data.draw(st.integers(0, len(whole) - 2))
    to = data.draw(st.integers(at, min(len(whole), at + 40)))
    instead = data.draw(st.text(alphabet="0123456789 abcdefsendrecvup\n\x1b", max_size=20))
    changed = whole[:at] + instead + whole[to:]
    judgement = judge(start_stop, changed, definition())
    assert isinstance(judgement.why, str)


def test_a_log_of_more_than_is_expected_is_judged_by_as_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger's log of 8 MiB, every report of which would serve each of 440 expectations: 48 s, 1.7 GB."""
    expected, came = 60, 1000
    path = tmp_path / "many.toml"
    expect = ", ".join(['{ report = "HK_CONTROL", within = "1 s" }'] * expected)
    path.write_text(f'title = "x"\nverifies = ["TC-010"]\nends = "2 s"\n[[step]]\nat = "1 ms"\nexpect = [{expect}]\n')
    log = Log(load_procedure(path, definition()))
    control = definition().reports["HK_CONTROL"]
    assert control.id is not None
    data = bytes([control.id]) + bytes(sum(one.octets for one in control.fields))
    for number in range(came):
        log.got(2 * MS + number, 3, 25, data)
    looks, match = [], _Meets.match
    monkeypatch.setattr(_Meets, "match", lambda *given: (looks.append(1), match(*given))[1])
    judgement = log.closed().judged()
    after_ns = sorted(one.after_ns or 0 for one in judgement.checks[:expected])
    assert judgement.passed and after_ns == [*range(MS, MS + expected)]
    assert len(looks) < 2 * expected**2


def test_a_log_of_more_than_can_be_judged_is_no_evidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger's log of 8 MiB beside 440 expectations, of a link or of values that no report has: minutes, 6 GB."""
    path = tmp_path / "flapping.toml"
    expect = ", ".join(['{ link = "lost", within = "1 s" }'] * 440)
    path.write_text(f'title = "x"\nverifies = ["TC-010"]\nends = "2 s"\n[[step]]\nat = "1 ms"\nexpect = [{expect}]\n')
    log = Log(load_procedure(path, definition()))
    log.rows += [f"{2 * MS + number} {'up' if number % 2 else 'lost 0'}" for number in range(10_000)]
    monkeypatch.setattr("rtqual.engine.dialogue.hearing.assigned", lambda _: pytest.fail("it is judged"))
    judgement = log.closed().judged()
    assert judgement.unsound.startswith("has 10,0") and not judgement.passed


def test_an_answer_that_came_before_its_telecommand_is_no_latency(start_stop: Procedure) -> None:
    early = figures(start_stop, _before_its_sending(good(start_stop)).text, definition()).latencies_ns
    assert "accepted LIDAR_START" not in early
    assert figures(start_stop, good(start_stop).text, definition()).latencies_ns["accepted LIDAR_START"] == [300_000]


def test_a_scheduled_telecommand_answers_for_itself_once(tmp_path: Path) -> None:
    entries = '[{ time = 1000000000, telecommand = "PING" }, { time = 2000000000, telecommand = "LIDAR_STOP" }]'
    step = f'[[step]]\nat = "100 ms"\nsend = "SCHEDULE_INSERT"\nargs = {{ subschedule = 0 }}\nentries = {entries}\n'
    of = procedure(tmp_path, f'title = "x"\nverifies = ["TC-010"]\nends = "2 s"\n{step}')

    def released(*subtypes: int) -> Judgement:
        log = Log(of)
        log.answered(0)
        inner = telecommand(definition(), "LIDAR_STOP", sequence=8193)  # of the second entry
        assert inner in log.lines[0].packet
        for subtype in subtypes:
            log.got(1000 * MS, 1, subtype, inner[:4])
        return log.closed().judged()

    assert released(1, 3, 7).passed, released(1, 3, 7).why
    assert "which had been answered before" in released(1, 1).why
    assert "had not begun" in released(1, 7).why
