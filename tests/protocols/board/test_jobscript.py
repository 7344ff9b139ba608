# SPDX-License-Identifier: MIT
"""A job's script, and its results as they come back: whole or refused, whatever the bytes."""

import gzip
import io
import subprocess
import tarfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtqual.base.errors import RunFailed
from rtqual.protocols.board import Command, Job, jobscript
from rtqual.protocols.record.schema import LATER_S, RESET

FILES = {"measure.out": "hello\n", "measure.status": "exit 0\n", "file.data.json": "{}"}
NAMES = st.text("abcdefghij.", min_size=1, max_size=12).filter(lambda name: set(name) != {"."})
CONTENTS = st.dictionaries(NAMES, st.text(st.characters(codec="utf-8")), max_size=4)


def archive(files: Mapping[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        folder = tarfile.TarInfo("./")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
        for name, text in files.items():
            member = tarfile.TarInfo(f"./{name}")
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return buffer.getvalue()


def frame(body: bytes) -> bytes:
    return f"RTQUAL1 {len(body)} {zlib.crc32(body):08x}\n".encode() + body


def refusal(sent: bytes) -> str:
    with pytest.raises(RunFailed) as caught:
        jobscript.unpack(sent, "kernel on board")
    text = str(caught.value)
    assert text.startswith("kernel on board: ")
    assert "\n" not in text
    return text


@given(CONTENTS)
def test_what_was_sent_comes_back(files: dict[str, str]) -> None:
    assert jobscript.unpack(frame(archive(files)), "x") == files


@given(st.binary().filter(lambda noise: b"RTQUAL1 " not in noise), st.binary())
def test_noise_around_a_frame_is_no_part_of_it(before: bytes, after: bytes) -> None:
    noise = before.rstrip(b"RTQUAL1 ")  # which could run into the mark
    assert jobscript.unpack(noise + b"\n" + frame(archive(FILES)) + after, "x") == FILES


@given(st.binary())
def test_garbage_is_refused(garbage: bytes) -> None:
    refusal(garbage)
    refusal(b"RTQUAL1 " + garbage)


@given(st.data())
def test_a_cut_frame_is_refused_and_says_how_much_is_missing(data: st.DataObject) -> None:
    whole = frame(archive(FILES))
    start = whole.index(b"\n") + 1
    kept = data.draw(st.integers(start, len(whole) - 1))
    assert f"cut at byte {kept - start} of {len(whole) - start}" in refusal(whole[:kept])


@given(st.data())
def test_one_changed_byte_is_found(data: st.DataObject) -> None:
    whole = bytearray(frame(archive(FILES)))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    try:
        files = jobscript.unpack(bytes(whole), "x")
    except RunFailed:
        return
    assert files == FILES  # the same number written in another way, as 'A' for 'a' in the checksum


@given(st.binary(max_size=3000))
def test_a_sound_frame_that_holds_no_archive_is_refused_or_empty(body: bytes) -> None:
    try:
        files = jobscript.unpack(frame(body), "kernel on board")
    except RunFailed as error:
        assert str(error).startswith("kernel on board: the result is no archive")
    else:
        assert all(isinstance(text, str) for text in files.values())


@given(st.data())
def test_an_archive_damaged_before_it_was_framed_is_refused_or_read(data: st.DataObject) -> None:
    body = bytearray(archive(FILES))
    for _ in range(data.draw(st.integers(1, 8))):
        body[data.draw(st.integers(0, 2048))] = data.draw(st.integers(0, 255))
    try:
        jobscript.unpack(frame(bytes(body)), "kernel on board")
    except RunFailed as error:
        assert str(error).startswith("kernel on board: ")


AGENT_FILES = ("measure.status", "measure.threads", "facts", "version.out")


@given(st.dictionaries(st.sampled_from(AGENT_FILES), st.text(max_size=200)))
def test_what_the_agent_left_is_read_or_refused(files: dict[str, str]) -> None:
    try:
        outcome = jobscript.outcome(files, jobscript.facts(files), console="", wall_s=1.0, command=["x"])
    except RunFailed as error:
        assert "\n" not in str(error)
    else:
        assert all(isinstance(value, int) for value in outcome.status.values())


def test_a_thread_whose_line_was_not_finished_is_left_out() -> None:
    """The agent is ended while it writes: its last line may be half."""
    files = {"measure.threads": "12 1 80 0,1 cyclictest\n13 0 0 0 sh\n14 1 8"}
    threads = jobscript.outcome(files, {}, console="", wall_s=0.0, command=()).threads
    assert [(t["tid"], t["policy"], t["priority"], t["name"]) for t in threads] == [
        (12, "fifo", 80, "cyclictest"),
        (13, "other", 0, "sh"),
    ]


def test_a_thread_counts_at_its_highest_priority() -> None:
    """cyclictest begins its measuring threads at its own priority, and ends them at none."""
    looks = "12 1 1 0 cyclictest\n13 1 1 0 cyclictest\n13 1 80 0 cyclictest\n13 0 0 0 cyclictest\n"
    threads = jobscript.outcome({"measure.threads": looks}, {}, console="", wall_s=0.0, command=()).threads
    assert [(t["tid"], t["policy"], t["priority"]) for t in threads] == [(12, "fifo", 1), (13, "fifo", 80)]


def test_a_missing_status_is_no_success() -> None:
    assert jobscript.outcome({}, {}, console="", wall_s=0.0, command=()).exit_code != 0


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)


@given(st.lists(WORDS, min_size=1, max_size=4), st.integers(0, 9))
def test_words_reach_the_program_as_they_are(words: list[str], seed: int) -> None:
    script = jobscript.render(Job(measure=Command(("printf", "%s\\n", *words))), seed)
    start, end = script.index("rtqual-agent run /run/result measure"), script.index("{ uname")
    line = script[start:end].replace("rtqual-agent", "agent", 1)
    shell = f'agent() {{ shift 5; printf "%s\\0" "$@"; }}\n{line}\n'
    done = subprocess.run(["sh", "-c", shell], capture_output=True, check=True)
    assert done.stdout == b"".join(word.encode() + b"\0" for word in ["%s\\n", *words])


def test_every_step_is_there_in_its_order(tmp_path: Path) -> None:
    job = Job(
        measure=Command(("measure",), fifo=7),
        setup=(Command(("prepare",)),),
        loads=(Command(("disturb",)),),
        collect=("it's.json",),
        modules=("radio",),
        folder="usb",
        version=("measure", "--version"),
    )
    script = jobscript.render(job, 5)
    steps = ["mount -t ext4 /dev/sda", "cd /run/usb", "modprobe radio", "version 0 measure --version",
             "setup0 0 prepare", "load0 0 disturb", "phase 5", "measure 7 measure", "kill -0 $load0",
             "cp 'it'\"'\"'s.json'", "give_back"]  # fmt: skip
    places = [script.index(step, script.index("cd /run") - 80) for step in steps]
    assert places == sorted(places)
    (tmp_path / "job.sh").write_text(script)
    subprocess.run(["sh", "-n", str(tmp_path / "job.sh")], check=True)


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"failed": "setup0\n", "setup0.err": "no\nroom\n"}, "the preparation `prepare` failed: no / room"),
        ({"failed": "setup0"}, "the preparation `prepare` failed: silently"),
        ({"failed": "load0\n", "load0.out": "bye"}, "the load `disturb` ended before the measurement did: bye"),
        ({"failed": "the kernel has no module radio"}, "the kernel has no module radio"),
    ],
)
def test_a_failed_step_is_told(files: dict[str, str], told: str) -> None:
    job = Job(Command(("m",)), setup=(Command(("prepare",)),), loads=(Command(("disturb",)),))
    with pytest.raises(RunFailed) as caught:
        jobscript.check(job, files, "kernel on board")
    assert str(caught.value) == f"kernel on board: {told}"


def test_no_failed_step_is_no_failure() -> None:
    jobscript.check(Job(Command(("m",))), {}, "x")


def test_a_failure_that_nothing_could_be_written_of_is_one() -> None:
    with pytest.raises(RunFailed, match=r"^x: its memory was full"):
        jobscript.check(Job(Command(("m",))), {"failed": ""}, "x")


@pytest.mark.parametrize("said", ["setup9999", "setup", "load1", "loadx\n" * 300, "setup\u0663"])
def test_a_step_that_the_job_does_not_have_is_told_as_it_stands(said: str) -> None:
    """A guest that means harm, or is damaged, says so."""
    job = Job(Command(("true",)), setup=(Command(("a",)),), loads=(Command(("b",)),))
    with pytest.raises(RunFailed, match=r"^here: (setup|load)") as caught:
        jobscript.check(job, {"failed": said}, "here")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


def test_an_archive_that_grows_when_it_is_opened_is_not_opened() -> None:
    assert "is no archive" in refusal(frame(gzip.compress(archive({"measure.out": "0" * 10**6}))))
    holes = tarfile.TarInfo("./measure.out")
    holes.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(2**50)}
    holes.size = 512
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(holes, io.BytesIO(b"1\n0\n0\n".ljust(512, b"\0")))
    assert jobscript.unpack(frame(buffer.getvalue()), "x") == {}


def test_facts_without_end_are_cut() -> None:
    """They go into the record, and a board may answer anything."""
    assert jobscript.facts({"facts": "cpus=1\nkernel=6.1 x=y\nempty=\nno fact\n"}) == {"cpus": "1", "kernel": "6.1 x=y"}
    long = jobscript.facts({"facts": "".join(f"{number}={'x' * 10**5}\n" for number in range(1000))})
    assert len(str(long)) < 10**6
    assert len(jobscript.facts({"facts": "".join(f"{number}=x\n" for number in range(1000))})) == 100


def rested_s(script: str, folder: Path, told: str) -> tuple[str, str]:
    """How long a job's script sleeps in a guest that tells that of its rest, and the facts that it then adds."""
    (folder / "rest").write_text(told)
    line = next(line for line in script.splitlines() if " || sleep " in line)
    line = line.replace("/run/rest", str(folder / "rest")).replace("sleep", "echo")
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    return done.stdout.strip(), next((line.split()[1] for line in script.splitlines() if LATER_S in line), "")


@pytest.mark.parametrize(("later_s", "fact"), [(0, ""), (10, f"{LATER_S}=10")])
def test_a_job_that_begins_later_tells_so_and_after_a_reset_none_waits(later_s: int, fact: str, tmp_path: Path) -> None:
    script = jobscript.render(Job(measure=Command(("true",))), 1, later_s=later_s)
    assert rested_s(script, tmp_path, "rest_ns=20\n") == (str(1 + later_s), fact)
    assert rested_s(script, tmp_path, f"{RESET}=1\n")[0] == ""


def test_a_guest_s_loads_are_stopped_before_the_result_is_sent_and_a_board_s_are_left_alone() -> None:
    """Beside a load a PREEMPT_RT kernel sent 512 octets in minutes, and a good run was ended at its deadline."""
    job = Job(measure=Command(("true",)), loads=(Command(("sleep", "9")),))
    script = jobscript.render(job, 1)
    assert 0 <= script.find("kill -STOP -1") < script.find("rtqual-agent send")
    assert "kill -STOP" not in jobscript.render(job, 1, leave="exit 0")
