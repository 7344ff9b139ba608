# SPDX-License-Identifier: MIT
"""Errors of the system that nobody foresaw."""

import subprocess

import pytest

from rtqual.base.errors import told


def test_a_program_that_is_missing_is_named_with_what_installs_it() -> None:
    with pytest.raises(OSError) as missing:
        subprocess.run(["no-such-program"], check=False)
    assert told(missing.value) == (
        "no-such-program: is not here; if it is a program, `rtqual doctor` says what installs it"
    )
