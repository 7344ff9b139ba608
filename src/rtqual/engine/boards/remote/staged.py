# SPDX-License-Identifier: MIT
"""A candidate's files, and their way onto the board: under their hash, read back once they are on its disk."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rtqual.base.cache import sha256_file
from rtqual.base.errors import RunFailed
from rtqual.base.words import whole
from rtqual.engine.boards.remote.link import Link, put
from rtqual.engine.boards.remote.settings import STORE, Settings
from rtqual.protocols.board.system import Kernel
from rtqual.protocols.record.schema import digest

_IDENTITY = 32  # characters; nothing else in the store has so long a name
_OLD = "?" * _IDENTITY + "*"  # every candidate in the store, also one that was half sent
_SPARE_KIB = 4096  # for results beside a candidate
NONCE = "rtqual.candidate"
# What a candidate needs to be this board: written from what the known-good system has. The host key stays on the board.
_OWN = """\
set -e
mkdir -p {store}/own
cd {store}/own
way=$(ip -4 route show default | head -n 1)
interface=$(echo "$way" | sed -n 's/.* dev \\([^ ]*\\).*/\\1/p')
gateway=$(echo "$way" | sed -n 's/.* via \\([^ ]*\\).*/\\1/p')
address=$(ip -4 addr show dev "$interface" | sed -n 's/.*inet \\([0-9./]*\\).*/\\1/p' | head -n 1)
[ -n "$address" ] || {{ echo 'its network has no default route over IPv4' >&2; exit 1; }}
echo "$(cat /sys/class/net/$interface/address) $address ${{gateway:--}}" > network.new
for key in /etc/dropbear/dropbear_ed25519_host_key /etc/ssh/ssh_host_ed25519_key; do
	[ ! -s $key ] || cp $key hostkey.new
done
[ -s hostkey.new ] || {{ echo 'it has no ed25519 host key: ssh-keygen -A' >&2; exit 1; }}
cp ~/.ssh/authorized_keys authorized_keys.new
sync
for one in network hostkey authorized_keys; do
	mv $one.new $one
done
sync
"""
# Once the known-good system runs nobody needs it; what the key's blocks held is overwritten first.
_DISOWN = """\
if [ -d {store}/own ]; then
	for one in {store}/own/hostkey*; do
		[ ! -f "$one" ] || dd if=/dev/zero of="$one" bs=4096 count=1 conv=notrunc 2> /dev/null
	done
	sync
	rm -rf {store}/own
	sync
fi
"""


@dataclass(frozen=True)
class StagedFiles:
    """Files by their names on the board. `identity` names the candidate there and stands in its command line."""

    kernel: Kernel
    files: Mapping[str, Path]
    parameters: tuple[str, ...]

    @property
    def sums(self) -> dict[str, str]:
        return {name: sha256_file(path) for name, path in self.files.items()}

    @property
    def identity(self) -> str:
        return digest({**self.sums, "parameters": " ".join(self.parameters)})[:_IDENTITY]


def own(link: Link, store: str) -> None:
    link.run(_OWN.format(store=store), deadline_s=60)


def disown(store: str) -> str:
    """The script that takes back what own() left."""
    return _DISOWN.format(store=store)


def stage(link: Link, settings: Settings, store: str, candidate: StagedFiles) -> str:
    """Put the files on the board if they are not there; the folder. Raises RunFailed before anything is armed."""
    folder = f"{store}/{candidate.identity}"
    sums = candidate.sums
    if _there(link, folder, sums):
        return folder
    _make_room(link, settings, store, folder, sum(path.stat().st_size for path in candidate.files.values()))
    fresh = f"{folder}.new"
    link.run(f"rm -rf {fresh} && mkdir -p {fresh}")
    for name, path in candidate.files.items():
        put(link, path.read_bytes(), f"{fresh}/{name}")
    if not _there(link, fresh, sums):
        link.run(f"rm -rf {fresh}; sync")
        raise RunFailed(
            f"board {settings.name}: what arrived on its boot partition is not what was sent, so it was not restarted: "
            "run the same command again; if it happens again, check its card"
        )
    link.run(f"rm -rf {folder}; mv {fresh} {folder} && sync")
    return folder


def _there(link: Link, folder: str, sums: Mapping[str, str]) -> bool:
    """Read from the disk, not from memory."""
    names = " ".join(map(shlex.quote, sums))
    script = f"sync; echo 3 > /proc/sys/vm/drop_caches 2> /dev/null; cd {folder} 2> /dev/null && sha256sum {names}"
    said = link.run(f"{script}; exit 0", deadline_s=300).decode(errors="replace").split()
    return dict(zip(said[1::2], said[0::2], strict=False)) == dict(sums)


def room(boot: str) -> str:
    """The script that prints, in KiB, what is free on the boot partition and what candidates hold there that may go.
    `boot`: as the shell reads it."""
    return f"""\
echo "free_kib=$(df -k {boot} 2> /dev/null | tail -n 1 | awk '{{print $4}}')"
echo "old_kib=$(du -sk {boot}/{STORE}/{_OLD} 2> /dev/null | awk '{{sum += $1}} END {{print sum + 0}}')"
"""


def _make_room(link: Link, settings: Settings, store: str, folder: str, size_b: int) -> None:
    """Candidates that were staged before go if they are in the way; nothing else does."""
    free = f"df -k {store} | tail -n 1 | awk '{{print $4}}'"
    needed_kib = size_b // 1024 + _SPARE_KIB
    old = f'for one in {store}/{_OLD}; do [ "$one" = {folder} ] || rm -rf "$one"; done'
    said = link.run(f"free=$({free}); [ $free -ge {needed_kib} ] || {{ {old}; sync; }}; {free}", deadline_s=60)
    words = said.decode(errors="replace").split()
    free_kib = (whole(words[-1]) if words else None) or 0
    if free_kib < needed_kib:
        raise RunFailed(
            f"board {settings.name}: its boot partition has {free_kib // 1024} MiB free of the "
            f"{needed_kib // 1024} MiB that a candidate takes, so it was not restarted: make room there"
        )
