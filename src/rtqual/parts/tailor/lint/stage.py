# SPDX-License-Identifier: MIT
"""`rtqual lint`: what is known of a configuration, of this machine or of a candidate's guest, against the rules."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rtqual.base.architecture import AMD64, ARCHITECTURES
from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.scratch import scratch
from rtqual.engine.candidates.kernel import kernel_of
from rtqual.engine.initramfs.contents import guest_tools
from rtqual.engine.kernel import config as kernel_config
from rtqual.engine.kernel.lint import lint_rules
from rtqual.engine.kernel.lint.judged_system import (
    System,
    architecture_of,
    from_config,
    parse_parameters,
    parse_version,
    read_config,
)
from rtqual.engine.kernel.lint.lint_rules import Finding, Severity, State
from rtqual.engine.mission import load_mission
from rtqual.parts.tailor.configure.tree import debian_tree, of_configuration, open_tree
from rtqual.parts.tailor.lint.fragment import check_complete, completed, told
from rtqual.protocols.board import Board, Command, Job, Machine
from rtqual.protocols.board.registry import PACKAGE, Start, Starts, row_for, row_of, this_machine
from rtqual.protocols.board.system import Kernel

_RESOLUTION, _IDLE = "clock_resolution_ns", "deepest_idle_us"  # readings that are no file
_STATES = "/sys/devices/system/cpu/cpu*/cpuidle/state*"
_LATENCY, _DISABLED = f"{_STATES}/latency", f"{_STATES}/disable"
_CMDLINE, _RELEASE = "/proc/cmdline", "/proc/sys/kernel/osrelease"
_TIMEOUT_S = 60.0
_MOST_CPUS = 256

# Keeps what a file says, or that there is no such file: its folder ($2) is there and not empty. A file that may not be
# read leaves neither. Only what is printable comes back.
_LOOK = r"""
look() {
	name=$1 folder=$2
	shift 2
	if [ -e "$1" ]; then
		cat "$@" > raw 2> /dev/null && tr -cd '\11\12\40-\176' < raw > "$name"
	elif [ -n "$(ls -A "$folder" 2> /dev/null)" ]; then
		echo "$name" >> absent
	fi
}
"""
_REST = """
{ zcat /proc/config.gz || cat "/boot/config-$(uname -r)"; } > config 2> /dev/null || rm -f config
uname -m > machine
nproc --all > cpus
true
"""


@dataclass(frozen=True)
class Linted:
    """What was judged, and what every rule found."""

    system: System
    findings: tuple[Finding, ...]

    @property
    def failed(self) -> bool:
        """Whether any finding is an error."""
        return any(
            finding.state == State.FOUND and finding.rule.severity == Severity.ERROR for finding in self.findings
        )


def lint(
    file: Path | None,
    *,
    board: str | None,
    candidate: str | None,
    boot: str | None,
    cpus: int | None,
    tree: str | None = None,
    architecture: str | None = None,
) -> Linted:
    """Judge what the command line names (_system_of). `tree`: the kernel's source (docs/lint.md)."""
    if tree is None:
        if architecture is not None:
            raise BadInput("--architecture: says for which processor --tree is read; add that, or leave it out")
        system = _system_of(file, board=board, candidate=candidate, boot=boot, cpus=cpus)
    elif file is None or board is not None or candidate is not None:
        raise BadInput("--tree: completes a fragment or defconfig; give its file, and no other system")
    else:
        system = of_fragment(file, tree, architecture, parameters=boot, cpus=cpus)
    return Linted(system, tuple(lint_rules.lint(system)))


def _system_of(
    file: Path | None, *, board: str | None, candidate: str | None, boot: str | None, cpus: int | None
) -> System:
    """What the command line names. Raises BadInput where it names nothing, or more than one thing."""
    if cpus is not None and not 1 <= cpus <= _MOST_CPUS:
        raise BadInput(f"--cpus {cpus}: write 1 to {_MOST_CPUS}")
    row = row_of(board) if board else None
    boots = row is not None and row.starts is Starts.KERNEL
    if not boots and candidate is not None:
        raise BadInput("--candidate: it is booted on the virtual board; add --board virtual and the mission file")
    if board is not None and boot is not None:
        raise BadInput("--boot: a running system has its own boot parameters; leave it out")
    if boots:
        if file is None:
            raise BadInput("--board virtual: which mission? rtqual lint MISSION --board virtual --candidate NAME")
        return of_candidate(file, candidate, cpus=cpus or 1)
    if row is not None and row.here:
        if file is not None or cpus is not None:
            raise BadInput("the running system is judged as it is: give neither a file nor --cpus with it")
        return of_this_machine()
    if file is None:
        raise BadInput("what is to be judged? A kernel's .config, or this machine with --running")
    return of_file(file, parameters=boot, cpus=cpus)


def of_file(path: Path, *, parameters: str | None = None, cpus: int | None = None) -> System:
    """A kernel's configuration. Raises BadInput when the file is none, or not a whole one."""
    text = read_config(path)
    check_complete(text, str(path))
    return from_config(text, str(path), parameters=parameters, cpus=cpus)


def of_fragment(
    path: Path, source: str, architecture: str | None, *, parameters: str | None = None, cpus: int | None = None
) -> System:
    """A fragment or defconfig as the kernel's source completes it: the path of a tree, or a package of Debian's."""
    text = read_config(path)
    named = next((known for known in ARCHITECTURES if known.name == architecture), None)
    processor = named or of_configuration(path) or AMD64
    if "/" in source or Path(source).exists():
        tree = open_tree(Path(source).expanduser(), processor, tailored=False)
    else:
        tree = debian_tree(processor, source, tailored=False)
    whole = completed(text, str(path), tree)
    system = from_config(whole.text, str(path), parameters=parameters, cpus=cpus)
    return replace(system, version=system.version or tree.number, remark=told(whole, tree))


def of_this_machine() -> System:
    return observe(this_machine().open(Start("this-machine")), "this machine")


def of_candidate(mission: Path, name: str | None, *, cpus: int = 1) -> System:
    """Boots a candidate of a mission on the virtual board. Without a name, the mission has to have only one.

    Raises BadInput for a candidate that is no Linux kernel to boot, RunFailed where it does not boot.
    """
    loaded = load_mission(mission)
    bootable = {
        candidate.name: candidate
        for candidate in loaded.candidates
        if candidate.place and candidate.place.starts is Starts.KERNEL
    }
    if name is None and len(bootable) == 1:
        name = next(iter(bootable))
    if name is None or name not in bootable:
        asked = f"no candidate {name!r} with a Linux kernel to boot" if name else "which of its candidates"
        raise BadInput(f"{mission}: {asked}; give --candidate with one of: {', '.join(bootable) or '(it has none)'}")
    candidate = bootable[name]
    assert candidate.architecture is not None, "it has a kernel"  # noqa: S101
    tools = guest_tools(candidate.architecture)
    return of_kernel_in_guest(kernel_of(candidate, loaded, tools)[0], cpus=cpus)


def of_kernel_in_guest(kernel: Kernel, *, cpus: int = 1) -> System:
    """What a kernel says once it has booted on the virtual board."""
    with scratch() as folder:
        start = Start(kernel.candidate, system=kernel, machine=Machine(cpus=cpus), scratch=folder / "scratch")
        board = row_for(PACKAGE, kernel.architecture).open(start)
        return observe(board, f"{kernel.candidate} on the virtual board", kernel.config)


def observe(board: Board, name: str, config: str | None = None) -> System:
    """Read on a board what the rules ask for. `config`: the kernel's, where the system does not carry it itself."""
    files = [*(path for path in lint_rules.readings() if path.startswith("/")), _LATENCY, _DISABLED, _CMDLINE, _RELEASE]
    names = {path: f"reading{number}" for number, path in enumerate(dict.fromkeys(files))}
    outcome = board.run(_job(names), seed=1, timeout_s=_TIMEOUT_S)
    if outcome.exit_code:
        said = " ".join(outcome.stderr.split())[:200]
        raise RunFailed(f"{name}: its settings cannot be read: {said or f'exit code {outcome.exit_code}'}")
    absent = set(outcome.files.get("absent", "").split())
    found: dict[str, str | None] = {path: None for path, kept in names.items() if kept in absent}
    found |= {path: outcome.files[kept] for path, kept in names.items() if kept in outcome.files}
    if resolution := outcome.facts.get(_RESOLUTION):
        found[_RESOLUTION] = resolution
    found |= _deepest_idle(found)
    text = outcome.files.get("config") or config
    known = kernel_config.parse(text, f"{name}: its kernel's configuration") if text else None
    cmdline = found.get(_CMDLINE)
    cpus = outcome.files.get("cpus", "").strip()
    return System(
        name=name,
        config=known,
        parameters=None if cmdline is None else parse_parameters(cmdline),
        readings=found,
        running=True,
        emulated=board.instruction_clock,
        cpus=int(cpus) if cpus.isdecimal() else None,
        version=parse_version(found.get(_RELEASE) or ""),
        architecture=architecture_of(known, outcome.files.get("machine", "").strip()),
    )


def _job(names: Mapping[str, str]) -> Job:
    script = (
        _LOOK + "".join(f"look {name} {shlex.quote(_folder(path))} {path}\n" for path, name in names.items()) + _REST
    )
    return Job(Command(("sh", "-c", script)), collect=(*names.values(), "absent", "config", "machine", "cpus"))


def _folder(path: str) -> str:
    """The part of /proc or /sys whose presence tells that a file missing below it does not exist."""
    parts = path.split("/")
    return "/".join(parts[: 5 if "debug" in parts else 3])


def _deepest_idle(found: Mapping[str, str | None]) -> dict[str, str | None]:
    """The longest exit latency, in us, of the idle states that are not disabled, of all CPUs; none without cpuidle."""
    latencies, disabled = ((found.get(path) or "").split() for path in (_LATENCY, _DISABLED))
    if not latencies:
        return {_IDLE: None} if _LATENCY in found else {}
    if len(latencies) != len(disabled):
        return {}
    used: Sequence[int] = [
        int(us) for us, off in zip(latencies, disabled, strict=True) if off == "0" and us.isdecimal()
    ]
    return {_IDLE: str(max(used))} if used else {}
