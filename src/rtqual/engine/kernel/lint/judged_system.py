# SPDX-License-Identifier: MIT
"""What is known of a system to be judged: configuration, boot parameters, what it shows while it runs."""

import gzip
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path

from rtqual.base import named
from rtqual.base.errors import BadInput
from rtqual.engine.kernel.config import Config, parse

Version = tuple[int, int]

_HEADER = re.compile(
    r"^# Linux/\S+ (\d+)\.(\d+)(?:\.(\d{1,4}))?", re.MULTILINE | re.ASCII
)  # the second line that Kconfig writes
_LONGEST_CONFIG_B = 2**24  # Debian's are 0.3 MB
_ARCHITECTURES = {"X86": "x86", "ARM64": "arm64", "ARM": "arm", "RISCV": "riscv"}  # symbol -> ours
_CORES = {"XENOMAI": "Xenomai's Cobalt", "EVL": "EVL", "RTAI": "RTAI"}  # symbol -> the second kernel
_MACHINES = {"x86_64": "x86", "aarch64": "arm64", "riscv64": "riscv", "riscv32": "riscv"}  # `uname -m` -> ours


@dataclass(frozen=True)
class System:
    """`readings`: what files or calls say; None: the system has no such file. Unreadable files are absent."""

    name: str
    config: Config | None = None
    parameters: Mapping[str, str] | None = None  # of the kernel's command line
    readings: Mapping[str, str | None] = field(default_factory=dict)
    running: bool = False
    emulated: bool = False  # its processor and devices are not those of the flight computer
    cpus: int | None = None
    version: Version | None = None
    sublevel: int | None = None  # what follows the version's second point
    architecture: str | None = None
    remark: str = ""  # what whoever reads the findings has to know of the configuration, a sentence

    @property
    def realtime(self) -> bool | None:
        """Is it a PREEMPT_RT kernel?"""
        said = self.readings.get("/proc/version")
        if said:
            return "PREEMPT_RT" in said
        return None if self.config is None else self.config.on("PREEMPT_RT")

    @property
    def core(self) -> str:
        """The second kernel that its deadlines rest on, beside Linux; empty where there is none, or none is known."""
        return next((name for symbol, name in _CORES.items() if self.config is not None and self.config.on(symbol)), "")

    @property
    def kind(self) -> str | None:
        """ "dual" with a second kernel, "rt" with PREEMPT_RT, else "stock"; None where that is not known."""
        if self.core:
            return "dual"
        return None if self.realtime is None else "rt" if self.realtime else "stock"


def parse_parameters(text: str) -> dict[str, str]:
    """A kernel command line as the kernel parses it (lib/cmdline.c, kernel/params.c): the last of a name counts.

    Double quotes hold spaces together, - and _ are the same in a name, and what follows `--` is for init.
    """
    found: dict[str, str] = {}
    for word in re.findall(r'(?:[^\s"]|"[^"]*(?:"|$))+', text):
        if word == "--":
            break
        name, _, value = word.removeprefix('"').partition("=")
        found[name.strip('"').replace("-", "_")] = value.strip('"')
    return found


def parse_version(text: str) -> Version | None:
    """As `uname -r` says it: 6.1.0-56-rt-amd64 is 6.1."""
    found = re.match(r"(\d{1,4})\.(\d{1,4})", text, re.ASCII)
    return (int(found[1]), int(found[2])) if found else None


def architecture_of(config: Config | None, machine: str = "") -> str | None:
    """`machine` as `uname -m` says it; a running kernel's word comes before its configuration's."""
    if machine:
        return _MACHINES.get(machine) or ("arm" if machine.startswith("arm") else machine)
    return next((ours for symbol, ours in _ARCHITECTURES.items() if config is not None and config.on(symbol)), None)


def from_config(text: str, name: str, *, parameters: str | None = None, cpus: int | None = None) -> System:
    """A kernel that does not run here. `parameters`: the command line it will be booted with.

    Raises BadInput when `text` is not a kernel configuration.
    """
    config = parse(text, name)
    if config.on("PREEMPT_RT_FULL"):  # as patches called it up to 5.2
        config = replace(config, symbols={**config.symbols, "PREEMPT_RT": "y"})
    return System(
        name,
        config,
        _parameters(config, parameters),
        cpus=1 if not config.on("SMP") else cpus,
        version=version_of(text),
        sublevel=int(header[3]) if (header := _HEADER.search(text[:1000])) and header[3] else None,
        architecture=architecture_of(config),
    )


def version_of(text: str) -> Version | None:
    """Of the kernel whose build wrote a configuration, by its title."""
    header = _HEADER.search(text[:1000])
    return (int(header[1]), int(header[2])) if header else None


def _parameters(config: Config, given: str | None) -> dict[str, str] | None:
    """The built-in command line and what the boot loader passes, None where that is not known, put together as the
    kernel does (arch/x86/kernel/setup.c, drivers/of/fdt.c)."""
    built_in = parse_parameters(config.get("CMDLINE", ""))
    if config.on("CMDLINE_OVERRIDE") or config.on("CMDLINE_FORCE"):
        return built_in
    if given is None:
        return None
    known = parse_parameters(given)
    if config.on("CMDLINE_BOOL"):  # the PC's, before what is passed
        return {**built_in, **known}
    if config.on("CMDLINE_EXTEND"):
        return {**known, **built_in}
    return known if given.strip() else built_in


def read_config(path: Path) -> str:
    """A .config, /boot/config-* or /proc/config.gz. Raises BadInput."""
    try:
        content = named.read(path, _LONGEST_CONFIG_B)
        if content[:2] == b"\x1f\x8b":
            with gzip.GzipFile(fileobj=BytesIO(content)) as unpacked:
                content = unpacked.read(_LONGEST_CONFIG_B + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadInput(f"{path}: damaged gzip file ({error}): copy it again") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}): name a kernel's .config") from None
    if len(content) > _LONGEST_CONFIG_B:
        raise BadInput(f"{path}: more than {_LONGEST_CONFIG_B >> 20} MiB, so no kernel configuration")
    return content.decode(errors="replace").replace("\r\n", "\n")
