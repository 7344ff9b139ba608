# SPDX-License-Identifier: MIT
"""What the flight program's tests share."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.flight_link import Program


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Program]]:
    started: list[Program] = []

    def begin(*arguments: str, name: str = "ds325-flight") -> Program:
        started.append(Program(tmp_path, *arguments, name=name))
        return started[-1]

    yield begin
    for one in started:
        one.process.kill()
        one.process.wait()
        for ground in one.sockets:
            ground.close()
