# SPDX-License-Identifier: MIT
"""What the lint reads: command lines, configurations, and any other file."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtqual.base.errors import BadInput
from rtqual.engine.kernel.lint.judged_system import from_config, parse_parameters
from rtqual.engine.kernel.lint.lint_rules import State, lint
from support.command import Run
from support.lint_findings import BY_ID, TEXT, states


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("quiet  skew_tick=1\n", {"quiet": "", "skew_tick": "1"}),
        ("rcu-nocbs=1 rcu_nocbs=2-3", {"rcu_nocbs": "2-3"}),
        ('dyndbg="file a +p" "b=c d" last', {"dyndbg": "file a +p", "b": "c d", "last": ""}),
        ("a=1 -- nohz_full=1", {"a": "1"}),
        ('open="to the end', {"open": "to the end"}),
        ("a=b=c", {"a": "b=c"}),
    ],
)  # fmt: skip
def test_command_lines(text: str, expected: dict[str, str]) -> None:
    assert parse_parameters(text) == expected


@settings(deadline=None)
@given(st.text())
def test_any_command_line_is_read(text: str) -> None:
    for name, value in parse_parameters(text).items():
        assert "-" not in name and not value.startswith('"')


_WORDS = st.text(st.characters(codec="ascii", exclude_categories=["C", "Z"], exclude_characters='"='), min_size=1)


@settings(deadline=None)
@given(st.dictionaries(_WORDS.filter(lambda word: not word.startswith("-")), _WORDS))
def test_command_lines_round_trip(parameters: dict[str, str]) -> None:
    kept = {name.replace("-", "_"): value for name, value in parameters.items()}
    text = " ".join(f'{name}="{value} x"' for name, value in kept.items())
    assert parse_parameters(text) == {name: f"{value} x" for name, value in kept.items()}


@pytest.fixture(scope="session")
def fuzz_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "config"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(content=st.one_of(st.binary(), st.text().map(str.encode)), packed=st.booleans())
def test_any_file(rtqual: Run, fuzz_file: Path, content: bytes, packed: bool) -> None:
    fuzz_file.write_bytes(gzip.compress(content) if packed else content)
    done = rtqual("lint", fuzz_file)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_mutated_configurations(data: st.DataObject) -> None:
    """Other characters in a line still give a judgement, or one line that says where it is wrong."""
    lines = (TEXT + 'CONFIG_CMDLINE="quiet highres=off"\nCONFIG_CMDLINE_OVERRIDE=y\n').splitlines()
    number = data.draw(st.integers(0, len(lines) - 1))
    place = data.draw(st.integers(0, len(lines[number])))
    lines[number] = lines[number][:place] + data.draw(st.text(max_size=3)) + lines[number][place + 1 :]
    try:
        assert len(lint(from_config("\n".join(lines), "fuzz"))) == len(BY_ID)
    except BadInput as error:
        assert re.match(r"fuzz, line \d+: .+|fuzz: no kernel configuration", str(error))


def test_a_number_that_is_none_is_not_known() -> None:
    assert states(from_config("CONFIG_X86=y\nCONFIG_HZ=2:00\n", "one"))["hz"] == State.UNKNOWN


def test_damaged_gzip(fails: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "config.gz"
    whole = gzip.compress(TEXT.encode())
    path.write_bytes(whole[:-9])
    assert "damaged gzip file" in fails(2, "lint", path)
    path.write_bytes(gzip.compress(b"\n" * 2**25))
    assert "more than 16 MiB" in fails(2, "lint", path)
