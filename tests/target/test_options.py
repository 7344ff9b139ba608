# SPDX-License-Identifier: MIT
"""The command lines of our programs: one table each, which --help prints and these tests are fed from."""

import re
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtqual.engine.initramfs.contents import guest_file


@dataclass(frozen=True)
class Program:
    """`before` and `after` go around what is tried, so that nothing of it begins to run: there is no camera here."""

    name: str
    before: tuple[str, ...]
    after: tuple[str, ...] = ()

    def run(self, *arguments: str, folder: str | Path = ".") -> subprocess.CompletedProcess[bytes]:
        command = [guest_file(self.name), *self.before, *arguments, *self.after]
        return subprocess.run(command, cwd=folder, capture_output=True, timeout=20, check=False)


PROGRAMS = (
    Program("ds325-emulator", ("--attach", "--listen=0")),  # which exclude each other
    Program("ds325-stream", ("--device=nowhere", "--priority=0")),
    Program("ds325-pose", (), ("/nowhere/frames",)),
    Program("rtqual-probe", ("wakeup",), ("out=/nowhere/result",)),
)
NAMES = [program.name for program in PROGRAMS]
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12) | st.sampled_from(
    ["simd", "baseline", "kernel", "none", "ring", "dmabuf", "newest", "depth", "all", "clear,,", "0", "1", "-1", "5",
     "99999999999", "2147483648", "0x10", " 5", "1e3", "nan", "0 0 0 1 0 0 0", "drop@3:4", "stall@", "x" * 300, "%s%n",
     "/dev/null", "-", "--"]
)  # fmt: skip


@cache
def keys(program: Program) -> dict[str, bool]:
    """Each option's name in --help: has it a value?"""
    shown = program.run("--help").stdout.decode()
    return {name: bool(value) for name, value in re.findall(r"^  (?:--)?([a-z0-9_-]+)(=?)", shown, re.MULTILINE)}


def is_one_line(program: Program, done: subprocess.CompletedProcess[bytes]) -> bool:
    start = f"{program.name}: ".encode()
    line = done.stderr.startswith(start) and done.stderr.count(b"\n") == 1
    return line and not re.search(rb"[\0-\x1f]", done.stderr[:-1]) and done.stdout == b""


@pytest.mark.guest
@pytest.mark.parametrize("program", PROGRAMS, ids=NAMES)
@settings(deadline=None, max_examples=150)
@given(st.data())
def test_any_options_are_a_run_a_help_or_one_line(program: Program, data: st.DataObject) -> None:
    """In a folder of its own, where files may be made."""
    names = st.sampled_from(sorted(keys(program)))
    words = st.builds("--{}={}".format, names, WORDS) | st.builds("--{}".format, names | WORDS) | WORDS
    arguments = data.draw(st.lists(words, max_size=5))
    with TemporaryDirectory() as folder:
        done = program.run(*arguments, folder=folder)
    if done.returncode == 0:
        assert {"--help", "--version"} & set(arguments)
    else:
        assert done.returncode in (2, 3), done.stderr
        assert is_one_line(program, done), done.stderr


@pytest.mark.parametrize("program", PROGRAMS, ids=NAMES)
def test_every_option_is_read_in_each_spelling(program: Program, tmp_path: Path) -> None:
    """What is refused of a value shows that the option was read: a control character is nothing but a file's name."""
    assert len(keys(program)) >= 6
    for name, has_value in keys(program).items():
        for arguments in ([f"--{name}=\1"], [f"--{name}", "\1"]) if has_value else ([f"--{name}"],):
            done = program.run(*arguments, folder=tmp_path)
            assert done.returncode in (2, 3)
            assert b"is no option" not in done.stderr, arguments
        if not has_value:
            assert program.run(f"--{name}=yes").returncode == 2


@pytest.mark.parametrize("program", PROGRAMS, ids=NAMES)
def test_each_says_its_version(program: Program) -> None:
    assert re.fullmatch(rf"{program.name} \d+\.\d+\.\d+\n", program.run("--version").stdout.decode())
