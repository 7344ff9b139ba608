# SPDX-License-Identifier: MIT
"""A board of a mission file: a computer that is reached over ssh, on which candidates are measured."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, Strict, WithJsonSchema, model_validator

from rtqual.base.architecture import AMD64, ARM64
from rtqual.base.units import DurationNs
from rtqual.engine.boards.remote.farm import client
from rtqual.engine.boards.remote.row import row
from rtqual.engine.boards.remote.settings import CARD_SWITCHES, Settings
from rtqual.engine.mission.candidate import PUBLISHED, Candidate
from rtqual.engine.mission.explain import At, Problem, shown, suggest
from rtqual.engine.mission.table import Table
from rtqual.engine.mission.toml_lines import KeyPath
from rtqual.engine.mission.values import BootParameter, CpuCount, Distinct, NonEmpty, Release, Slug, Text
from rtqual.protocols.board.registry import BoardRow, all_boards

_SSH = re.compile(r"(?:([a-z_][a-z0-9_-]*)@)?([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9a-fA-F:]+\])(?::(\d{1,5}))?")
_HOST_KEY = r"(?:ssh-ed25519|ecdsa-sha2-nistp(?:256|384|521)|ssh-rsa) [A-Za-z0-9+/]+=*"
_CONSOLE = r"(?:socket:/.+|tcp:[^:]+:\d+)"
_ENDLESS_S = 3600.0
_LEAST_WATCHDOG_S = 6.0  # candidates feed it every 3 s (target/agent/init-board)
_NETWORK = ("ssh", "host_key", "good")  # a board has all three, or no network
_OVER_SSH = ("identity", "power", "labgrid", "console")
_ALIKE = ("architecture", "cpus", "parameters", "tune")  # what boards of a model have in common


def _address(text: str) -> str:
    found = _SSH.fullmatch(text)
    if not found or not 0 < int(found[3] or 22) < 2**16:
        raise ValueError(f"{shown(text)} is no way over ssh; write 'USER@HOST' or 'USER@HOST:PORT'")
    return text


def over_ssh(text: str) -> tuple[str, str, int]:
    """User, host and port of an address. Raises ValueError where it is none."""
    found = _SSH.fullmatch(_address(text))
    assert found, "it was looked at"  # noqa: S101
    return found[1] or "root", found[2].strip("[]"), int(found[3] or 22)


def _host_key(text: str) -> str:
    key = " ".join(text.split()[:2])
    if not re.fullmatch(_HOST_KEY, key):
        raise ValueError(
            f"{shown(text)} is no host key; write what `ssh-keyscan -t ed25519 HOST` prints behind the host"
        )
    return key


def _console(text: str) -> str:
    if not re.fullmatch(_CONSOLE, text):
        raise ValueError(f"{shown(text)} is no console; write 'socket:/PATH' or 'tcp:HOST:PORT'")
    return text


_Argv = Annotated[tuple[Text, ...], NonEmpty]


class Power(Table):
    """Programs on this machine that switch a board's power, each with its arguments; no shell reads them."""

    off: _Argv
    """Switches it off, as ["uhubctl", "-a", "off", "-p", "2"]."""
    on: _Argv
    """Switches it on."""


_Disk = Annotated[
    str, WithJsonSchema({"type": "string"}), Field(pattern=r"^(?:/dev/[A-Za-z0-9/_-]+|UUID=[A-Za-z0-9-]+)$")
]


class Disks(Table):
    """Partitions with a file system, as candidates find them."""

    root: _Disk | None = None
    """On the card or disk that the board starts from."""
    usb: _Disk | None = None
    """On a USB disk."""


class Labgrid(Table):
    """A place of labgrid's: acquired for a campaign; its power is used where the board has none of its own."""

    coordinator: Annotated[str, WithJsonSchema({"type": "string"}), Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.:-]*$")]
    """The coordinator's address, as "labgrid:20408"."""
    place: Slug
    """The place's name."""


def _at_home(path: str) -> Path:
    """With "~" in its place; a user that there is not stays as written."""
    with suppress(RuntimeError):
        return Path(path).expanduser()
    return Path(path)


class BoardTable(Table):
    """A computer on which candidates are measured, over ssh or by a card. A board without a network has none of ssh,
    host_key and good (docs/boards.md)."""

    name: Slug
    """Which board it is; plans name it, and records say it."""
    model: Slug
    """What it is: boards of one model are judged together."""
    architecture: Literal["amd64", "arm64"]
    """Its processor."""
    ssh: (
        Annotated[str, AfterValidator(_address), WithJsonSchema({"type": "string", "pattern": f"^{_SSH.pattern}$"})]
        | None
    ) = None
    """How it is reached, as "root@192.168.7.20:22"; root must be let in. Without ssh: by a card (docs/boards.md)."""
    host_key: Annotated[str, AfterValidator(_host_key), WithJsonSchema({"type": "string"})] | None = None
    """Its public host key, as ssh-keyscan prints it: another machine at that address is refused."""
    identity: Text | None = None
    """The file of the private key that lets rtqual in; OpenSSH's own choice where left out."""
    serial: Text | None = None
    """The serial number that the machine there must have."""
    good: Release | None = None
    """The kernel of the system it always comes back to, as `uname -r` prints it there."""
    switch: Literal["systemd-boot", "tryboot", "grub", "command"]
    """What starts a candidate once: the boot loader, or a program of yours on the board."""
    switch_command: _Argv | None = None
    """With switch = "command": the program on the board and its first arguments (docs/boards.md)."""
    cpus: CpuCount = 1
    """How many CPUs it has."""
    parameters: Annotated[tuple[BootParameter, ...], Distinct] = ()
    """Kernel parameters that every candidate gets on this board."""
    boot_timeout: Annotated[DurationNs, Field(gt=0)] = 180_000_000_000
    """How long it may take to start, as "180 s"."""
    watchdog: Annotated[DurationNs, Field(gt=0)] | None = None
    """The time-out of its watchdog, which candidates feed, as "15 s"; 6 s at least, for it is fed every 3 s."""
    tune: Annotated[bool, Strict()] = False
    """Whether each candidate's settings are steadied before it is measured, as `rtqual board tune` does."""
    disks: Disks | None = None
    """Disks that sysbench's fileio may write to, in a folder of its own: { root = "UUID=...", usb = "/dev/sda1" }."""
    power: Power | None = None
    """How it is switched off and on, where that is possible: { off = [...], on = [...] }."""
    labgrid: Labgrid | None = None
    """The place of a farm that it stands in: { coordinator = "labgrid:20408", place = "pi-a" }."""
    console: Annotated[str, AfterValidator(_console), WithJsonSchema({"type": "string"})] | None = None
    """Where its serial console is read, as "socket:/run/pi-a.console" or "tcp:HOST:PORT"."""

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        if (self.switch == "command") != (self.switch_command is not None):
            needed = self.switch == "command"
            message = 'is missing beside switch = "command"' if needed else 'needs switch = "command" beside it'
            raise At("switch_command", message)
        given = [key for key in _NETWORK if getattr(self, key) is not None]
        if given and (missing := [key for key in _NETWORK if key not in given]):
            raise At(missing[0], f"is missing beside {given[0]}; a board without a network has none of the three")
        if not given and (idle := [key for key in _OVER_SSH if getattr(self, key)]):
            raise At(idle[0], "needs ssh: a board without a network is measured by its card (docs/boards.md)")
        if not given and self.switch == "tryboot" and self.architecture != ARM64.name:
            raise At("switch", "tryboot is the Raspberry Pi's, which is arm64")
        if not given and self.switch not in CARD_SWITCHES:
            raise At("switch", f"a card starts candidates by {' or '.join(CARD_SWITCHES)}; {self.switch} needs ssh")
        if self.model in {PUBLISHED, *(known.name for known in all_boards())}:
            raise At("model", f"{shown(self.model)} is a name of rtqual's own; write the board's")
        if self.boot_timeout > _ENDLESS_S * 1e9:
            raise At("boot_timeout", "is more than an hour; no board takes that long")
        if self.watchdog is not None and self.watchdog < _LEAST_WATCHDOG_S * 1e9:
            raise At("watchdog", "is less than 6 s; candidates feed it every 3 s, and a busy one would be restarted")
        return self

    def _of_farm(self, *words: str) -> tuple[str, ...]:
        return client(self.labgrid.coordinator, self.labgrid.place, *words) if self.labgrid else ()

    @property
    def settings(self) -> Settings:
        user, host, port = over_ssh(self.ssh) if self.ssh else ("", "", 0)
        return Settings(
            name=self.name,
            model=self.model,
            architecture=AMD64 if self.architecture == AMD64.name else ARM64,
            user=user,
            host=host,
            port=port,
            host_key=self.host_key or "",
            good=self.good or "",
            switch=self.switch,
            switch_command=self.switch_command or (),
            serial=self.serial or "",
            identity=_at_home(self.identity) if self.identity else None,
            cpus=self.cpus,
            parameters=self.parameters,
            boot_timeout_s=self.boot_timeout / 1e9,
            watchdog_s=(self.watchdog or 0) / 1e9,
            power_off=self.power.off if self.power else self._of_farm("power", "off"),
            power_on=self.power.on if self.power else self._of_farm("power", "on"),
            labgrid=(self.labgrid.coordinator, self.labgrid.place) if self.labgrid else (),
            console=self.console or "",
            tune=self.tune,
            disks=tuple(self.disks.model_dump(exclude_none=True).items()) if self.disks else (),
        )

    @property
    def place(self) -> BoardRow:
        return row(self.settings)


def problems_of_plan(
    boards: tuple[BoardTable, ...], named: tuple[str, ...], candidates: tuple[Candidate, ...], path: KeyPath
) -> Iterator[Problem]:
    """What a plan asks for on boards that they cannot run."""
    known = {board.name: board for board in boards}
    models: dict[str, BoardTable] = {}
    for i, name in enumerate(named):
        if name not in known:
            advice = suggest(name, known) if known else "the mission has no [[board]]"
            yield Problem((*path, "boards", i), f"unknown board {shown(name)}; {advice}")
            continue
        board = known[name]
        first = models.setdefault(board.model, board)
        if unlike := [key for key in _ALIKE if getattr(board, key) != getattr(first, key)]:
            message = f"is of the model of {first.name}, and has another {unlike[0]}: boards of a model are alike"
            yield Problem((*path, "boards", i), message)
        for candidate in candidates:
            why = _why_not_on(candidate, board)
            if why:
                message = f"{shown(name)} cannot run {candidate.name}: {why}; name candidates that it can run"
                yield Problem((*path, "boards", i), message)


def _why_not_on(candidate: Candidate, board: BoardTable) -> str:
    if not candidate.architecture:
        return "it is no kernel"
    if candidate.architecture.name != board.architecture:
        return f"it is for {candidate.architecture.name}, the board is {board.architecture}"
    return "it has a root of its own, which only virtual boards start" if candidate.root else ""
