# SPDX-License-Identifier: MIT
"""The lane `unit`, of which this file is: a test that starts a process fails, whatever it catches."""

import os
import subprocess
from contextlib import suppress

import pytest

from support.unit_lane import ProcessStarted


@pytest.mark.xfail(strict=True, raises=ProcessStarted)
def test_a_program_is_refused() -> None:
    with suppress(Exception):
        subprocess.run(["true"], check=True)


@pytest.mark.xfail(strict=True, raises=ProcessStarted)
def test_a_copy_of_this_process_is_refused() -> None:
    with suppress(Exception):
        os.fork()


def test_this_file_is_in_the_lane(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("unit")
