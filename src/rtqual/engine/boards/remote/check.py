# SPDX-License-Identifier: MIT
"""Whether a board has what a campaign needs of it: looked at only, nothing is changed and nothing is taken."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from rtqual.base.architecture import AMD64, ARM64
from rtqual.base.errors import RunFailed
from rtqual.base.scratch import scratch
from rtqual.base.words import clean, whole
from rtqual.engine.boards.remote import staged
from rtqual.engine.boards.remote.link import Ssh
from rtqual.engine.boards.remote.settings import BoardRefused, Settings
from rtqual.engine.boards.remote.staged import NONCE
from rtqual.engine.boards.remote.switch import find_boot, switcher_of
from rtqual.engine.boards.remote.truth import UNKNOWN
from rtqual.engine.boards.remote.truth import script as truth_script

# Two candidates of Debian's kernels and the results of their jobs; arm64's kernels are not packed.
_ROOM_MIB = {AMD64: 40, ARM64: 80}
_PROGRAMS = (
    "awk",
    "cat",
    "df",
    "du",
    "head",
    "ip",
    "mount",
    "sed",
    "setsid",
    "sha256sum",
    "sync",
    "tail",
    "tar",
    "umount",
)
_TRYBOOT = "; not checked: whether its kernel passes tryboot on (the Raspberry Pi's own do, mainline does not)"
_PASSES_ON = re.compile(r"rpi|\+rpt|-v[678]l?(-\w+)?\+?$")  # how the Raspberry Pi's own kernels are named
_LOOK = """\
boot=$({find})
echo "boot=$boot"
echo "user=$(id -u)"
echo "release=$(uname -r)"
echo "nonce=$(sed -n 's/.*{nonce}=\\([^ ]*\\).*/\\1/p' /proc/cmdline)"
{room}for one in {programs}; do command -v $one > /dev/null || echo "missing=$one"; done
echo "way=$(ip -4 route show default | head -n 1)"
echo "watchdog=$(ls /dev/watchdog0 2> /dev/null)"
{{ {why_not}
}} | sed 's/^/why_not=/'
echo "held=$(cat "$boot"/rtqual/lease-*/owner 2> /dev/null)"
"""


@dataclass(frozen=True)
class BoardFinding:
    """One thing looked at. `mend`: what to do where it is not good."""

    name: str
    good: bool
    what: str
    mend: str = ""


def check(settings: Settings) -> Iterator[BoardFinding]:
    with scratch() as folder:
        link = Ssh(settings, folder)
        try:
            told = _told(link, settings)
        except RunFailed as error:
            known = isinstance(error, BoardRefused)  # and its words say what to do
            mend = "" if known else "switch it on, or correct its address in the mission"
            yield BoardFinding("host key" if known else "reach", False, str(error), mend)
            return
        finally:
            link.drop()
    yield BoardFinding("reach", True, f"{settings.user}@{settings.host}:{settings.port}, with the pinned host key")
    yield from _identity(settings, told)
    yield from _system(settings, told)
    yield from _ways_back(settings, told)


def _told(link: Ssh, settings: Settings) -> dict[str, list[str]]:
    look = _LOOK.format(
        room=staged.room('"$boot"'),
        find=find_boot(switcher_of(settings)).strip(),
        nonce=NONCE.replace(".", "\\."),
        programs=shlex.join(_PROGRAMS),
        why_not=switcher_of(settings).why_not or ":",
    )
    told: dict[str, list[str]] = {}
    for line in link.run(look + truth_script(), deadline_s=60).decode(errors="replace").splitlines():
        key, _, value = line.partition("=")
        if value:
            told.setdefault(key, []).append("\t".join(map(clean, value.split("\t"))))
    return told


def _one(told: dict[str, list[str]], key: str) -> str:
    return next(iter(told.get(key, [])), "")


def _identity(settings: Settings, told: dict[str, list[str]]) -> Iterator[BoardFinding]:
    serial = _one(told, "serial")
    if settings.serial:
        matches = serial == settings.serial
        yield BoardFinding(
            "serial", matches, serial or UNKNOWN, "" if matches else f"the mission says {settings.serial}"
        )
    else:
        yield BoardFinding("serial", True, f'{serial or UNKNOWN}; serial = "..." in the mission pins it')
    root = _one(told, "user") == "0"
    yield BoardFinding("user", root, "root" if root else "not root", "" if root else "log in as root: ssh = root@...")
    held = _one(told, "held")
    mend = f"if that has died: rtqual board restore {settings.name} --take"
    yield BoardFinding("lease", not held, f"held by {held}" if held else "free", mend if held else "")


def _system(settings: Settings, told: dict[str, list[str]]) -> Iterator[BoardFinding]:
    release, nonce = _one(told, "release"), _one(told, "nonce")
    good = release == settings.good and not nonce
    mend = f"rtqual board restore {settings.name}" if nonce else f'write good = "{release}", or boot {settings.good}'
    yield BoardFinding("system", good, f"{release}{', a candidate' if nonce else ''}", "" if good else mend)
    missing = told.get("missing", [])
    what = f"no {', no '.join(missing)}" if missing else "all there"
    yield BoardFinding("programs", not missing, what, "install them on the board" if missing else "")
    way = _one(told, "way")
    mend = "" if way else "ip route add default dev eth0: candidates take over the interface of that route"
    yield BoardFinding("network", bool(way), way or "no default route over IPv4", mend)
    boot = _one(told, "boot")
    places = ", ".join(switcher_of(settings).finds)
    yield BoardFinding("boot partition", bool(boot), boot or f"not in {places}", "" if boot else "mount it there")
    if boot:
        free_mib, old_mib = ((whole(_one(told, key)) or 0) // 1024 for key in ("free_kib", "old_kib"))
        asked_mib = _ROOM_MIB.get(settings.architecture, _ROOM_MIB[AMD64])
        roomy = free_mib + old_mib >= asked_mib
        old = f", {old_mib} MiB of candidates that may go" if old_mib else ""
        yield BoardFinding(
            "room", roomy, f"{free_mib} MiB free{old}", "" if roomy else f"{asked_mib} MiB hold two candidates"
        )
    for reason in told.get("why_not", []):
        what, _, mend = reason.partition("\t")
        yield BoardFinding("one-shot entry", False, what, mend)
    if not told.get("why_not"):
        unseen = _TRYBOOT if settings.switch == "tryboot" and not _PASSES_ON.search(release) else ""
        yield BoardFinding("one-shot entry", True, f"by {settings.switch}{unseen}")
    yield BoardFinding("time", True, f"clock source {_one(told, 'clocksource')}, adjtimex {_one(told, 'time_status')}")


def _ways_back(settings: Settings, told: dict[str, list[str]]) -> Iterator[BoardFinding]:
    if settings.watchdog_s:
        there = bool(_one(told, "watchdog"))
        mend = "" if there else "load its driver; without it only the power ends a hang"
        yield BoardFinding("watchdog", there, "/dev/watchdog0" if there else "none", mend)
    power = bool(settings.power_on)
    mend = "" if power else "without power = { off, on } somebody must restart a board that hangs"
    yield BoardFinding("power", power, shlex.join(settings.power_off) if power else "cannot be switched", mend)
    console = bool(settings.console)
    mend = "" if console else 'console = "socket:..." tells why a candidate did not start'
    yield BoardFinding("console", console, settings.console or "none", mend)
