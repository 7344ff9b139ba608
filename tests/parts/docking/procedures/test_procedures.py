# SPDX-License-Identifier: MIT
"""Procedures as files: one line on what is wrong with one; the script that is made of it; what a record keeps."""

import hmac
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.dialogue.octets import crc16
from rtqual.engine.mission import load_mission
from rtqual.engine.mission.verify_table import Camera
from rtqual.engine.procedure.compliance import Compliance, PlayedRun, control, unasked
from rtqual.engine.procedure.judging import Judgement
from rtqual.engine.procedure.line import script
from rtqual.engine.procedure.played_log import LOG_SERIES, OCTET, log_of
from rtqual.protocols.record.schema import Inputs, Manifest, Provenance, Record, Series, Timing
from rtqual_docking.procedures.checked_procedures import load_procedures
from rtqual_docking.procedures.own_program import judge
from rtqual_docking.procedures.script import KEY, compiled
from support.ground_log import START_STOP, TOP, definition, good, procedure

WRONG = {
    ("LIDAR_START", "LIDAR_STRAT"): "step[1].send: unknown telecommand 'LIDAR_STRAT'; did you mean 'LIDAR_START'",
    ("CAMERA_GONE", "CAMERA_WENT"): "step[2].expect[0].event: unknown event 'CAMERA_WENT'",
    ('failure = "BAD_CRC"', 'failure = "BAD_CRV"'): "unknown failure 'BAD_CRV'; did you mean 'BAD_CRC'",
    ('report = "5.4"', 'report = "5.9"'): "unknown report '5.9'",
    ('mode = "STANDBY"', 'mode = "ASLEEP"'): "step 1: SET_MODE: mode: ASLEEP is none of",
    ('mode = "STANDBY"', "rate = 3"): "step 1: SET_MODE needs the argument mode",
    ("event_value =", "event_worth ="): "MODE has no field 'event_worth'; did you mean",
    ('"unplug:500"', '"unplug; rm"'): "is not a fault of the camera",
    ('at = "2 s"', 'at = "1 ms"'): "step 3 is earlier than the one before",
    ('within = "700 ms"', 'within = "2 s"'): "ends: is before step 3 has had its time",
    ('damage = "crc"', 'damage = "crk"'): "'crk' is not allowed; did you mean 'crc'?",
    ('send = "LIDAR_STOP"', 'raw = "xx"'): "is not octets",
    ('verifies = ["TC-010"]', "verifies = []"): "verifies: is empty",
    ('title = "Start and stop"', ""): "title: is missing",
    ('ends = "3 s"', "ends = 3"): "ends",
    ('{ camera = "unplug:500" }', '{ camera = "drop", signal = "KILL" }'): "is one fault",
    ('{ camera = "unplug:500" }', '{ flip = "2:0" }'): "is not bits of the program's state",
    ('event_value = "STREAM"', 'event_value = "STREAN"'): "event_value: 'STREAN' is none of its values; did you mean",
    (
        'report = "5.4"',
        'report = "HK_CAMERA", values = { camera = 1 }',
    ): "values: camera: is no number; allowed: GONE, OFF, STALLED",
    ('report = "5.4"', 'report = "HK_CAMERA", values = { mode = { at_least = 1 } }'): "values: mode: is no number",
    ('report = "5.4"', 'report = "HK_CAMERA", values = { lost = "0" }'): "values: lost: '0' is no number; write one",
    ('report = "1.1",', 'report = "1.1", values = { request = 1 },'): "values: request: is no number; leave it out",
    ('event = "CAMERA_GONE"', 'file = "complete", values = { octets = "all" }'): "octets: 'all' is no number",
    ('event = "CAMERA_GONE"', 'file = "complete", values = { name = 3 }'): "name: is no number; write a text",
    ('report = "5.4"', 'report = "1.7"'): "forbid[0].report: 1.7 answers a telecommand, and this step sends none",
    ('report = "5.4"', 'report = "HK_CAMERA", values = { lost = -1 }'): "lost: -1 is none of its values: whole numbers",
    ('report = "5.4"', 'report = "HK_CAMERA", values = { lost = 0.5 }'): "lost: 0.5 is none of its values: whole",
    ('report = "5.4"', 'report = "HK_CAMERA", values = { lost = 4294967296 }'): "lost: 4294967296 is none of",
    (
        'report = "5.4"',
        'report = "HK_CAMERA", values = { lost = { at_least = 5000000000 } }',
    ): "nothing is within these",
    ('report = "5.4"', 'report = "HK_CAMERA", values = { lost = { at_least = 5, at_most = 2 } }'): "nothing is within",
    ('report = "5.4"', 'report = "HK_CAMERA", values = { lost = { grows_at_most = -1 } }'): "nothing is within these",
    (
        'report = "5.4"',
        'report = "HK_CAMERA", values = { lost = [1] }',
    ): "values.lost: [1] is not allowed; write a string, a number or a table",
    (
        'report = "5.4"',
        'report = "HK_CAMERA", values = { lost = "" }',
    ): "values.lost: is empty; write at least 1",
    ('report = "5.4"', 'report = "HK_CAMERA", values = { lost = {} }'): "values.lost: says no bound; write at_least",
    (
        'report = "5.4"',
        'report = "HK_CAMERA", values = { lost = { at_most = true } }',
    ): "lost.at_most: True is not allowed",
    (
        'report = "5.4"',
        'report = "HK_CAMERA", values = { lost = { at_lest = 1 } }',
    ): "values.lost.at_lest: unknown key; did you mean 'at_least'",
    ('{ camera = "unplug:500" }', '{ camra = "unplug:500" }'): "fault.camra: unknown key; did you mean 'camera'",
    ('report = "5.4"', 'report = "HK_POSE", values = { range_mm = 0.1 }'): "range_mm: 0.1 is none of its values, which",
    ('report = "5.4"', 'report = "TIME", values = { board_time = -1 }'): "board_time: -1 is none of its values",
    ('report = "5.4"', 'event = "MODE", values = { event_value = 77 }'): "event_value: 77 is none of its values",
    ('report = "5.4"', 'event = "MODE", values = { event = "CAMERA_GONE" }'): "event: stands beside the values, too",
    ('failure = "BAD_CRC",', 'camera = "driver",'): "step 4 asks nothing where frames come by uvcvideo",
    ('damage = "crc"', 'damage = "tag"'): "step 4 damages a tag; write tagged = true",
    ('within = "50 ms"', 'within = "50 ms", camera = "usb"'): "'usb' is not allowed; allowed: uvcvideo, driver",
    ('{ camera = "unplug:500" }', '{ kernel = "hang" }'): "step 3 ends the kernel; write resets = true",
}


@pytest.mark.parametrize("change", WRONG)
def test_a_wrong_procedure_is_one_line_with_its_place(tmp_path: Path, change: tuple[str, str]) -> None:
    assert change[0] in START_STOP
    with pytest.raises(BadInput) as raised:
        procedure(tmp_path, START_STOP.replace(*change, 1))
    told = str(raised.value)
    assert WRONG[change] in told
    assert "\n" not in told
    assert re.match(re.escape(f"{tmp_path}/start-stop.toml:"), told)


def test_a_wrong_value_in_the_only_step_is_told_itself(tmp_path: Path) -> None:
    only = 'title = "A"\nverifies = ["TC-010"]\nends = "3 s"\n[[step]]\nat = "1 s"\nsend = 5\n'
    with pytest.raises(BadInput, match=r"toml:6: step\[0\].send: 5 should be a string"):
        procedure(tmp_path, only)


def test_what_holds_for_one_way_of_the_camera_is_asked_there_only(tmp_path: Path) -> None:
    gone = '{ event = "CAMERA_GONE", within = "50 ms"'
    text = START_STOP.replace(gone, f'{gone}, camera = "uvcvideo"').replace(
        'forbid = [{ report = "5.4" }]', 'forbid = [{ report = "5.4" }, { event = "CAMERA_GONE", camera = "driver" }]'
    )
    every = procedure(tmp_path, text)
    log = good(every).text  # in which the camera goes
    judged = {camera: judge(every.by(camera), log, definition()) for camera in Camera}
    assert judged[Camera.UVCVIDEO].passed, judged[Camera.UVCVIDEO].why
    assert "CAMERA_GONE" in judged[Camera.DRIVER].why
    for camera in Camera:
        assert script(compiled(every.by(camera), definition())) == script(compiled(every, definition()))


def test_a_procedure_that_asks_nothing_of_one_way_is_refused(tmp_path: Path) -> None:
    step = '[[step]]\nat = "1 s"\nfault = { camera = "unplug:500" }\n'
    ask = 'expect = [{ event = "CAMERA_GONE", within = "50 ms", camera = "driver" }]\n'
    text = 'title = "Gone"\nverifies = ["TC-010"]\nends = "3 s"\n'
    with pytest.raises(BadInput, match="nothing is asked where frames come by uvcvideo"):
        procedure(tmp_path, text + step + ask)
    wait = f'[[step]]\nat = "2 s"\n{ask}'
    with pytest.raises(BadInput, match="step 2 asks nothing where frames come by uvcvideo"):
        procedure(tmp_path, text + step + ask.replace(', camera = "driver"', "") + wait)


def test_the_script_has_the_times_and_packets_of_the_steps(tmp_path: Path) -> None:
    lines = compiled(procedure(tmp_path), definition())
    text = script(lines).splitlines()
    assert text[2] == "2000000000 write control unplug:500"
    assert text[-1] == "4000000000 end"
    sent = [line for line in lines if line.packet]
    assert [crc16(line.packet) == 0 for line in sent] == [True, True, False, True], "the third is damaged"
    assert len({line.packet[:4] for line in sent}) == len(sent), "each has its own sequence count"
    assert sent[-1].command == "HK_ONCE", "every procedure ends with a program that answers"


def test_a_tagged_procedure_s_telecommands_have_tags_and_rising_counters(tmp_path: Path) -> None:

    def of(damage: str) -> list[tuple[int, bool]]:
        text = START_STOP.replace('"crc"', f'"{damage}"').replace("BAD_CRC", "BAD_TAG")
        made = procedure(tmp_path, f"tagged = true\n{text}", damage)
        packets = [line.packet for line in compiled(made, definition()) if line.packet]
        assert all(crc16(one) == 0 for one in packets)
        told = [(one[-26:-18], hmac.digest(KEY, one[:-18], "sha256")[:16] == one[-18:-2]) for one in packets]
        return [(int.from_bytes(counter, "big"), right) for counter, right in told]

    assert of("gap") == [(1, True), (2, True), (8, True), (9, True)]
    assert of("tag") == [(1, True), (2, True), (3, False), (4, True)]
    assert of("counter") == [(1, True), (2, True), (2, True), (4, True)], "that of the last that ran"
    assert [right for _, right in of("untagged")] == [True, True, False, True]


def test_the_repository_s_procedures_and_the_mission_s_requirements_name_each_other() -> None:
    mission = load_mission(TOP / "docking/missions/docking.toml")
    assert mission.verify is not None
    procedures = load_procedures(TOP / "docking/procedures", definition())
    assert not unasked(mission.verify.requirements, procedures)
    for row in control(mission.verify.requirements, procedures, [], {}, {}):
        assert row.procedures, f"{row.requirement.id} has no procedure"
        assert row.compliance is Compliance.OPEN, "nothing was played"


def _record(*series: Series) -> Record:
    inputs = Inputs(candidate="c", instrument="procedure-x", load="none", board="virtual", cpus=1, seed=1)
    made = Provenance(rtqual="0", mission_sha256="", started=None, wall_s=None, command=[])
    manifest = Manifest(
        hash="", inputs=inputs, timing=Timing.REAL, series=[s.info for s in series], provenance=made, samples_sha256=""
    )
    return Record(manifest, series)


def test_a_record_keeps_the_log_to_its_last_octet(tmp_path: Path) -> None:
    log = good(procedure(tmp_path)).text
    kept = Series.raw(np.frombuffer(log.encode(), np.uint8).astype(np.int64), name=LOG_SERIES, unit=OCTET)
    assert log_of(_record(kept)) == log
    assert log_of(_record()) == ""
    for wrong in ([300], [-1], [200]):
        assert log_of(_record(Series.raw(wrong, name=LOG_SERIES, unit=OCTET))) == "\0", "and no log that could pass"


def _run(judgement: Judgement, name: str, timing: Timing = Timing.INSTRUCTIONS) -> PlayedRun:
    return PlayedRun(name, "ab" * 32, "virtual", "debian-rt", 1, 0, timing, judgement)


def test_a_requirement_is_compliant_where_all_its_procedures_passed_and_closed_by_real_time_only(
    tmp_path: Path,
) -> None:
    mission = load_mission(TOP / "docking/missions/docking.toml")
    assert mission.verify is not None
    one = next(r for r in mission.verify.requirements if r.id == "TC-010")
    both = [procedure(tmp_path, START_STOP, name) for name in ("first", "second")]
    passed, failed, unknown = good(both[0]).judged(), Judgement(wrong=("it lies",)), Judgement(unsound="is cut off")
    cases: tuple[tuple[list[tuple[str, Judgement]], dict[str, str], Compliance], ...] = (
        ([("first", passed), ("second", passed)], {}, Compliance.YES),
        ([("first", passed), ("second", failed)], {}, Compliance.NO),
        ([("first", unknown), ("second", failed)], {}, Compliance.NO),
        ([("first", passed), ("second", unknown)], {}, Compliance.OPEN),
        ([("first", passed), ("second", passed), ("second", unknown)], {}, Compliance.OPEN),
        ([("first", passed)], {}, Compliance.OPEN),
        ([("first", passed)], {"second": "the guest died"}, Compliance.OPEN),
        ([], {}, Compliance.OPEN),
    )
    for played, failures, expected in cases:
        row = control([one], both, [_run(judgement, name) for name, judgement in played], failures, {})[0]
        assert (row.compliance, row.closed.startswith("open")) == (expected, True)
        before = control([one], both, list(row.runs), failures, {"first": "a run left no record"})[0].compliance
        assert before is (Compliance.OPEN if expected is Compliance.YES else expected), "what failed has failed"
    for timing, closed in (
        (Timing.REAL, "closed"),
        (Timing.INSTRUCTIONS, "open: the virtual board closes no requirement"),
    ):
        runs = [_run(passed, name, timing) for name in ("first", "second")]
        assert control([one], both, runs, {}, {})[0].closed == closed
    guests = [replace(run, guest_of="an emulator") for run in runs]
    real = [replace(run, timing=Timing.REAL) for run in guests]
    assert control([one], both, real, {}, {})[0].closed == "open: the board is a guest of an emulator"
    assert control([one], [], [], {}, {})[0].why == "no procedure verifies it"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "a" * 200_000,
        "x = " + "[" * 200 + "]" * 200,
        f"ends = {'9' * 5000}",
        "step = 1",
        "\x00",
        "title = '\x1b[2J'",
    ],
)
def test_what_is_no_procedure_is_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput) as raised:
        procedure(tmp_path, text)
    assert "\n" not in str(raised.value)


def test_huge_numbers_are_refused(tmp_path: Path) -> None:
    for change in (('event_value = "STREAM"', f"event_value = {10**30}"), ("ends = ", f"x = {10**30}\nends = ")):
        with pytest.raises(BadInput):
            procedure(tmp_path, START_STOP.replace(*change, 1))
