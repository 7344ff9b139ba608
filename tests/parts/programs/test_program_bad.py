# SPDX-License-Identifier: MIT
"""Programs that cannot be measured, each really run or refused: one line says why. And odd ones that can be."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rtqual.base.architecture import AMD64
from rtqual.base.errors import BadInput, RtqualError
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.candidates.ready import with_files
from rtqual.engine.mission.program import Program
from rtqual.parts.programs import program_files
from rtqual.parts.programs.instrument import ProgramParameters, program
from rtqual.protocols.board import Machine
from rtqual.protocols.board.system import Kernel
from rtqual.protocols.record.schema import Measurement

_EXAMPLE = Path(__file__).parents[3] / "examples" / "loop250" / "loop250.c"
_TASK = {"name": "control", "thread": "gnc-250hz"}
_SHELL = {"name": "x", "binary": "shell"}
_LOOP = "/opt/x/loop250 20 70"

ENDED = [
    ("(sleep 9; echo) & exit 0", {"runs_for": "1 s"}, r"x ended after .* of 1 s with exit code 0: if it goes to the"),
    ("exit 3", {}, r"x ended after .* with exit code 3"),
    ("echo bye; kill -SEGV $$", {}, r"x was ended by SIGSEGV after .*; its last words: 'bye'"),
    ("exec yes", {"most_output": "1 MiB"}, r"x wrote a file larger than 1 MiB and was ended .*: raise most_output"),
    ("sleep 9", {"ready": "up", "ready_within": "1 s"}, r"x never printed 'up' within 1 s"),
    ("echo no", {"ready": "up"}, r"x ended before it was ready with exit code 0"),
    ("exec dd if=/dev/i2c-9 of=/dev/null", {}, r"with exit code 1; its last words: .*/dev/i2c-9"),
    ("exec /opt/x/orphan", {}, r"with exit code 127; its last words: .*orphan: not found"),
    ("exit 0", {"prepare": ["mount -t nosuch none /mnt"]}, r"the preparation `sh -c .* failed: "),
]  # fmt: skip
TASKS = [
    (f"exec {_LOOP}", _TASK, ""),
    (f"{_LOOP} & wait", _TASK, ""),
    (f"{_LOOP} & {_LOOP} & wait", _TASK, r"task control: 2 threads fit it \(gnc-250hz .*: say nth"),
    (f"exec {_LOOP}", {**_TASK, "thread": "nosuch*"}, r"task control: no thread fits it; the program's threads were"),
    (f"exec {_LOOP}", {**_TASK, "released_by": "wake"}, r"task control: \d+ of \d+ jobs were released by a timer"),
    ("while [ $((i += 1)) -lt 9000 ]; do :; done", {"name": "spin", "nth": 1}, r"task spin: its thread .* never waits"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("bad")
    subprocess.run(["gcc", "-O2", "-static", "-pthread", "-o", made / "loop250", _EXAMPLE], check=True)
    texts = {"shell": '#!/bin/sh\neval "$1"\n', "orphan": "#!/no/such/interpreter\n", "text": "hello\n"}
    for name, text in texts.items():
        (made / name).write_text(text)
        (made / name).chmod(0o755)
    return made


@pytest.fixture(scope="module")
def run(
    kernel: Callable[..., Kernel], folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Measurement]]:
    """Runs a shell as a program, with an argument and more keys of its table."""
    beside = {"/opt/x/loop250": "loop250", "/opt/x/orphan": "orphan"}
    laid = program_files.laid(Program.model_validate({**_SHELL, "files": beside}, context={}), folder, AMD64)
    board = VirtualBoard(with_files(kernel("debian"), laid), Machine(), tmp_path_factory.mktemp("board") / "scratch")

    def measured(line: str, **more: Any) -> Measurement:
        wanted = Program.model_validate({**_SHELL, "arguments": [line], **more}, context={})
        parameters = ProgramParameters(program=wanted)
        job = replace(program("program-x").job(parameters, cpus=1, seed=1), watched="task" in more)
        return program("program-x").read(parameters, board.run(job, seed=1, timeout_s=300), cpus=1)

    yield measured
    board.close()


@pytest.mark.guest
@pytest.mark.parametrize(("line", "more", "says"), ENDED)
def test_a_run_that_gives_nothing_is_one_line(
    run: Callable[..., Measurement], line: str, more: dict[str, Any], says: str
) -> None:
    with pytest.raises(RtqualError) as caught:
        run(line, **more)
    assert re.search(says, str(caught.value)), caught.value
    assert "\n" not in str(caught.value)


@pytest.mark.guest
@pytest.mark.parametrize(("line", "task", "says"), TASKS)
def test_a_task_has_its_thread_or_a_problem(
    run: Callable[..., Measurement], line: str, task: dict[str, Any], says: str
) -> None:
    """What a program starts is watched with it, under whichever name."""
    found = run(line, task=[task])
    if not says:
        assert (found.problems, found.scalars["control jobs"].value) == ((), 19)
        return
    (problem,) = found.problems
    assert re.search(says, problem), problem


@pytest.mark.parametrize(
    ("binary", "says"),
    [
        ("arm64", r"is for 64-bit ARM, the candidate for x86-64: give binary = \{ amd64"),
        ("text", r"is neither a program \(ELF\) nor a script"),
        ("linked", r"needs libmine.so, which is not in the guest's packages: name the Debian package"),
        ("nosuch", r"cannot be read: No such file"),
        ("plain", r"is not to be executed"),
    ],
)
@pytest.mark.guest
def test_a_binary_that_no_guest_runs_is_refused(folder: Path, binary: str, says: str) -> None:
    loop = (folder / "loop250").read_bytes()
    (folder / "arm64").write_bytes(loop[:18] + (183).to_bytes(2, "little") + loop[20:])  # e_machine of its header
    (folder / "arm64").chmod(0o755)
    (folder / "plain").write_bytes(loop)
    (folder / "mine.c").write_text("int mine(void) { return 1; }\n")
    (folder / "main.c").write_text("int mine(void);\nint main(void) { return mine(); }\n")
    subprocess.run(["gcc", "-shared", "-o", folder / "libmine.so", folder / "mine.c"], check=True)
    subprocess.run(["gcc", "-o", folder / "linked", folder / "main.c", f"-L{folder}", "-lmine"], check=True)
    with pytest.raises(BadInput) as caught:
        program_files.laid(Program.model_validate({**_SHELL, "binary": binary}, context={}), folder, AMD64)
    assert re.search(says, str(caught.value)), caught.value
    assert "\n" not in str(caught.value)


@pytest.mark.guest
def test_a_package_comes_whole_though_the_guest_has_a_tool_that_needs_it(folder: Path) -> None:
    """hwlatdetect, of the guest's rt-tests, is written in Python, of which no guest has a file."""
    (folder / "loop.py").write_text("#!/usr/bin/python3\nimport json, math, socket, struct\n")
    (folder / "loop.py").chmod(0o755)
    table = {"name": "x", "binary": "loop.py", "packages": ["python3"]}
    laid = program_files.laid(Program.model_validate(table, context={}), folder, AMD64)
    (version,) = {place.split("/")[2] for place in laid if place.startswith("usr/lib/python3.")}
    assert {"usr/bin/python3", f"usr/lib/{version}/json/decoder.py", f"usr/lib/{version}/struct.py"} <= laid.keys()


def test_a_folder_without_end_is_refused_before_it_is_listed(folder: Path, tmp_path: Path) -> None:
    given = Program(name="x", binary="shell", files={"/all": "/"})
    with pytest.raises(BadInput, match="files: / holds more than 20,000 files"):
        program_files.hashes(given, folder)


def test_a_folder_that_vanishes_while_it_is_listed_is_not_there(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of processes do. One that may not be listed is refused, for nothing is left out in silence."""
    lists, inner = os.scandir, tmp_path / "files/inner"
    why: list[OSError] = [FileNotFoundError(2, "gone"), ProcessLookupError(3, "gone")]
    why.append(PermissionError(13, "Permission denied", str(inner)))

    def listed(path: Path | str) -> object:
        if Path(path) == inner:
            raise why.pop(0)
        return lists(path)

    inner.mkdir(parents=True)
    (tmp_path / "files/table").write_text("1\n")
    given = Program(name="x", binary="shell", files={"/opt/x": str(tmp_path / "files")})
    monkeypatch.setattr(os, "scandir", listed)
    assert "/opt/x/table" in program_files.hashes(given, folder)
    assert "/opt/x/table" in program_files.hashes(given, folder)
    with pytest.raises(BadInput, match=r"files: .*/inner cannot be read: Permission denied"):
        program_files.hashes(given, folder)


def test_a_sparse_file_without_end_is_refused_before_it_is_read(folder: Path, tmp_path: Path) -> None:
    with (tmp_path / "map").open("wb") as sparse:
        sparse.truncate(1 << 42)
    table = {"name": "x", "binary": str(folder / "shell"), "files": {"/opt/x/map": str(tmp_path / "map")}}
    with pytest.raises(BadInput, match=r"its files have 4,194,304 MiB, 1,024 at most"):
        program_files.hashes(Program.model_validate(table, context={}), tmp_path)
