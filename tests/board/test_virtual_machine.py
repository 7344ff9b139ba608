# SPDX-License-Identifier: MIT
"""What is said of a QEMU that does not tell its version."""

from pathlib import Path

import pytest

from rtqual.base.errors import RunFailed
from rtqual.board import machine


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("kill -9 $$", "--version was ended by signal 9; run the same command again, or reinstall qemu-system-x86"),
        ("echo no library >&2; exit 127", "--version does not run here: no library; run"),
        (None, "is missing: `apt-get install qemu-system-x86`"),
    ],
)
def test_a_qemu_that_was_killed_is_not_called_missing(tmp_path: Path, script: str | None, told: str) -> None:
    """A storm of kills met it while it told its version."""
    qemu = tmp_path / "qemu"
    if script:
        qemu.write_text(f"#!/bin/sh\n{script}\n")
        qemu.chmod(0o755)
    with pytest.raises(RunFailed) as failed:
        machine._version(str(qemu), "qemu-system-x86")
    assert told in str(failed.value)
