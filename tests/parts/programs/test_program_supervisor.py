# SPDX-License-Identifier: MIT
"""rtqual-program as it runs here: what it says of a program that ends, is killed, writes too much, is never ready."""

import subprocess
from pathlib import Path

import pytest

from rtqual.engine.initramfs.contents import guest_file
from rtqual.parts.programs.run_report import RunReport, read_report


def _run(folder: Path, *arguments: str) -> tuple[int, RunReport]:
    done = subprocess.run([guest_file("rtqual-program"), *arguments], cwd=folder, timeout=60, check=False)
    return done.returncode, read_report((folder / "program.report").read_text())


def _shell(text: str) -> tuple[str, ...]:
    return ("--", "sh", "-c", text)


def test_it_runs_for_as_long_as_it_is_to(tmp_path: Path) -> None:
    code, report = _run(
        tmp_path, "--warm-up", "20000000", "--runs-for", "50000000", *_shell("echo out; echo err >&2; sleep 9")
    )
    assert (code, report.signal, report.killed) == (0, 15, False)
    assert report.lasted_ns >= 70_000_000
    assert report.faults_in_window is not None
    assert ((tmp_path / "program.out").read_text(), (tmp_path / "program.err").read_text()) == ("out\n", "err\n")


def test_until_it_ends(tmp_path: Path) -> None:
    assert _run(tmp_path, *_shell("exit 0"))[0] == 0
    code, report = _run(tmp_path, *_shell("exit 7"))
    assert (code, report.exit) == (3, 7)


def test_an_early_end_is_told(tmp_path: Path) -> None:
    code, report = _run(tmp_path, "--runs-for", "60000000000", *_shell("exit 4"))
    assert (code, report.exit) == (3, 4)
    code, report = _run(tmp_path, "--runs-for", "60000000000", *_shell("kill -9 $$"))
    assert (code, report.signal) == (3, 9)


def test_it_waits_until_it_is_ready(tmp_path: Path) -> None:
    split = "printf 'now oper' >&2; sleep 0.05; echo ational >&2; sleep 9"
    code, report = _run(tmp_path, "--ready", "operational", "--runs-for", "10000000", *_shell(split))
    assert (code, report.ready is not None) == (0, True)
    code, report = _run(tmp_path, "--ready", "never", "--ready-within", "50000000", *_shell("echo no; sleep 9"))
    assert (code, report.never_ready, report.begin) == (3, 50_000_000, None)
    code, report = _run(tmp_path, "--ready", "never", *_shell("exit 2"))
    assert (code, report.exit, report.ready) == (3, 2, None)


def test_output_without_end_is_cut_and_told(tmp_path: Path) -> None:
    code, report = _run(tmp_path, "--most-bytes", "10000", "--runs-for", "60000000000", *_shell("exec cat /dev/zero"))
    assert (code, report.signal) == (3, 25)
    assert (tmp_path / "program.out").stat().st_size == 10_000


def test_what_it_does_not_end_by_is_killed(tmp_path: Path) -> None:
    code, report = _run(tmp_path, "--runs-for", "100000000", *_shell("trap '' TERM; while :; do sleep 0.1; done"))
    assert (code, report.killed, report.signal) == (0, True, 9)


def test_files_come_back_and_missing_ones_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    (tmp_path / "secret").write_text("secret")
    script = f"echo 1 > left.csv; ln -s {tmp_path}/secret link"
    _, report = _run(
        tmp_path, "--folder", str(folder), "--left", "left.csv", "--left", "none", "--left", "link", *_shell(script)
    )
    assert (tmp_path / "program.file.left.csv").read_text() == "1\n"
    assert report.unleft == ("none", "link")
    assert not (tmp_path / "program.file.link").exists()


def test_its_environment_and_a_program_that_is_not_there(tmp_path: Path) -> None:
    _run(tmp_path, "--set", "RATE=250", *_shell("echo $RATE"))
    assert (tmp_path / "program.out").read_text() == "250\n"
    code, report = _run(tmp_path, "--", "/no/such/program")
    assert (code, report.exit) == (3, 125)
    assert "cannot run /no/such/program" in (tmp_path / "program.err").read_text()


@pytest.mark.parametrize(
    "wrong", [("--nonsense", "1", "--", "true"), ("--warm-up", "soon", "--", "true"), ("--warm-up", "1")]
)
def test_a_wrong_call_is_refused(tmp_path: Path, wrong: tuple[str, ...]) -> None:
    done = subprocess.run([guest_file("rtqual-program"), *wrong], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 125
