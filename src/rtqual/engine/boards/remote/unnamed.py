# SPDX-License-Identifier: MIT
"""A board over ssh that no mission names yet, asked what it is, for its table there. Nothing is changed on it."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from rtqual.base.architecture import AMD64, ARM64, Architecture
from rtqual.base.errors import RunFailed
from rtqual.base.program import run
from rtqual.base.scratch import scratch
from rtqual.base.words import clean, whole
from rtqual.engine.boards.remote import truth
from rtqual.engine.boards.remote.link import Ssh
from rtqual.engine.boards.remote.settings import Settings
from rtqual.engine.boards.remote.switch import SWITCHERS, find_boot

_KEYSCAN_S = 5
_KINDS = ("ssh-ed25519", "ecdsa-sha2-nistp256", "ssh-rsa")  # of host keys, the best first
_PROCESSORS = {"x86_64": AMD64, "aarch64": ARM64}
_LOADERS = ("systemd-boot", "tryboot", "grub")
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class BoardAsked:
    """`table`: of the mission file, in TOML. `host_key`: whoever answered showed it; nobody vouches for it yet."""

    name: str
    architecture: Architecture
    host_key: str
    table: str


def ask(ssh: str, user: str, host: str, port: int, identity: Path | None = None) -> BoardAsked:
    """`ssh`: the address as the mission is to have it. Raises RunFailed where the board does not answer within seconds,
    or is none that rtqual measures."""
    key = _host_key(host, port)
    unknown = Settings("here", "unknown", AMD64, user, host, port, key, "", _LOADERS[0], identity=identity)
    with scratch() as folder:
        link = Ssh(unknown, folder)
        try:
            said = link.run(_script(unknown)).decode(errors="replace")
        finally:
            link.drop()
    told = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
    processor = told.get("processor", "")
    if processor not in _PROCESSORS:
        raise RunFailed(
            f"{ssh}: its processor is {clean(processor[:40]) or 'unknown'}; {' and '.join(_PROCESSORS)} are measured"
        )
    model = _slug(told.get("machine", ""))
    found = [name for name in _LOADERS if told.get(name)]
    table = {
        "name": "board",
        "model": model,
        "architecture": _PROCESSORS[processor].name,
        "ssh": ssh,
        "host_key": key,
        **({"serial": serial} if (serial := told.get("serial", truth.UNKNOWN)) != truth.UNKNOWN else {}),
        "good": told.get("release", ""),
        "switch": found[0] if found else "command",
        "cpus": whole(told.get("cpus", "")) or 1,
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in table.items()]
    if not found:
        lines.append('switch_command = ["/usr/local/sbin/once"]  # no loader was found: docs/boards.md')
    return BoardAsked("board", _PROCESSORS[processor], key, "\n".join(("[[board]]", *lines, "")))


def _script(settings: Settings) -> str:
    looks = [f"echo {name}=$({find_boot(SWITCHERS[name](settings)).strip()})" for name in _LOADERS]
    facts = ("release=$(uname -r)", "processor=$(uname -m)", "cpus=$(grep -c '^processor' /proc/cpuinfo)")
    return "\n".join((*(f"echo {fact}" for fact in facts), *looks, truth.script()))


def _host_key(host: str, port: int) -> str:
    command = ["ssh-keyscan", "-T", str(_KEYSCAN_S), "-p", str(port), host]
    done = run(command, package="openssh-client", timeout_s=10 * _KEYSCAN_S)
    keys = {fields[1]: " ".join(fields[1:3]) for line in done.stdout.splitlines() if len(fields := line.split()) >= 3}
    if key := next((keys[kind] for kind in _KINDS if kind in keys), ""):
        return key
    raise RunFailed(
        f"{host}:{port} shows no host key within {_KEYSCAN_S} s: switch the board on, or correct its address"
    )


def _slug(machine: str) -> str:
    return _NOT_SLUG.sub("-", machine.lower()).strip("-") or truth.UNKNOWN
