# SPDX-License-Identifier: MIT
"""What is asked of QEMU: its version, and which of our plugins it takes."""

from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from rtqual.base.errors import RunFailed
from rtqual.engine.boards import machine


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("kill -9 $$", "--version does not run here: ended by signal 9; run the same command again, or reinstall qemu"),
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


@pytest.mark.parametrize(
    ("version", "file", "interface"),
    [
        ("7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)", "rtqual-{}.so", 1),
        ("8.2.2 (Debian 1:8.2.2+ds-0ubuntu1)", "rtqual-{}.so", 1),
        ("9.1.0", "rtqual-{}-3.so", 3),
        ("10.0.13 (Debian 1:10.0.13+ds-0+deb13u1)", "rtqual-{}-3.so", 3),
    ],
)
@pytest.mark.parametrize("name", ["clock", "memory", "watch", "used", "scene", "channel", "disk"])
def test_a_qemu_gets_the_plugin_of_its_interface(name: str, version: str, file: str, interface: int) -> None:
    path = machine.plugin(f"rtqual-{name}", version)
    assert path.name == file.format(name)
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        (symbol,) = elf.get_section_by_name(".dynsym").get_symbol_by_name("qemu_plugin_version")
        section = elf.get_section(symbol["st_shndx"])
        at = symbol["st_value"] - section["sh_addr"]
        assert int.from_bytes(section.data()[at : at + symbol["st_size"]], "little") == interface


def test_a_qemu_that_takes_none_is_told_before_anything_runs() -> None:
    with pytest.raises(RunFailed, match=r"QEMU 9\.0\.2 takes no plugin of rtqual's: install 9\.1 or newer"):
        machine.plugin("rtqual-clock", "9.0.2")
