# SPDX-License-Identifier: MIT
"""Arbitrary mission files: a Mission or BadInput, never anything else."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rtqual.base.errors import BadInput
from rtqual.engine.mission import load_mission
from support.mission_texts import GOOD


def load_or_refuse(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    try:
        mission = load_mission(path)
    except BadInput as error:
        assert len(str(error).splitlines()) == 1
    else:
        assert mission.candidates


@pytest.fixture(scope="module")
def fuzz_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "mission.toml"


@settings(max_examples=200, deadline=None)
@given(content=st.binary(max_size=200))
@example(content=b"\xef\xbb\xbf[mission]\n")
@example(content=b'"\\u2028" = 1')
@example(content=b"mission = 1979-05-27")
def test_arbitrary_bytes(fuzz_file: Path, content: bytes) -> None:
    load_or_refuse(fuzz_file, content)


LINES = GOOD.splitlines(keepends=True)
VALUES = [
    "",
    "0",
    "-1",
    "nan",
    "true",
    '""',
    '"0 s"',
    "[]",
    "[[]]",
    "{}",
    "{x=1}",
    "1979-05-27",
    "'''\n\n'''",
    "0x1F",
]
NAMES = [
    "name",
    "a.b",
    '"[key]"',
    '""',
    '"\\n"',
    "this-machine",
    "[mission]",
    "[[scale]]",
    "[[mission.needs]]",
    "[x",
]


@pytest.mark.guest
@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_mutated_missions(fuzz_file: Path, data: st.DataObject) -> None:
    lines = list(LINES)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(lines) - 1))
        key, equals, value = lines[at].partition("=")
        change = data.draw(st.sampled_from(["drop", "double", "swap", "value", "name", "cut"]))
        other = data.draw(st.integers(0, len(lines) - 1))
        if change == "drop":
            lines[at] = ""
        elif change == "double":
            lines[at] *= 2
        elif change == "swap":
            lines[at], lines[other] = lines[other], lines[at]
        elif change == "value":
            lines[at] = f"{key}={data.draw(st.sampled_from(VALUES))}\n"
        elif change == "name":
            lines[at] = f"{data.draw(st.sampled_from(NAMES))}{equals}{value}\n"
        else:
            lines[at] = lines[at][: data.draw(st.integers(0, len(lines[at])))]
    load_or_refuse(fuzz_file, "".join(lines).encode())
