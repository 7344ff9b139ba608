# SPDX-License-Identifier: MIT
"""Who may command a board: a token that lies on the board itself and that every command checks.

A lock that a server keeps is lost with the server; this one is where the commands run. The folder `lease-N` with the
highest N is the lease, its file says whose. Making a folder fails where it is, so of two who take only one does; who is
overtaken finds his folder gone, and his next command is not run.

A silent board cannot be asked, and its power can still be switched. So a lease also says, in its file `alone`, for how
many seconds after a command that was run its owner may do that: he keeps to it by his own clock, and whoever takes the
board from him is told.
"""

import math
import shlex
import time
from dataclasses import dataclass, field, replace

from rtqual.base.errors import RunFailed
from rtqual.base.words import whole
from rtqual.engine.boards.remote.link import SAID_MOST_B, Link
from rtqual.engine.boards.remote.settings import BoardRefused

_FENCED = "rtqual: fenced"
_TAKE = """\
cd {store}
last=0
for one in lease-*; do
	[ -d "$one" ] && [ "${{one#lease-}}" -gt "$last" ] && last=${{one#lease-}}
done
held=$(cat lease-$last/owner 2> /dev/null)
before=$(cat lease-$last/alone 2> /dev/null)
if [ -n "$held" ] && [ "$held" != {owner} ] && [ {force} = no ]; then
	printf 'held %s\\n' "$held"
	exit 0
fi
next=$((last + 1))
mkdir lease-$next 2> /dev/null || {{ echo "held somebody who was faster"; exit 0; }}
echo {alone} > lease-$next/alone
printf '%s\\n' {owner} > lease-$next/owner
for one in lease-*; do
	[ "$one" = lease-$next ] || rm -rf "$one"
done
sync
[ -n "$held" ] && [ "$held" != {owner} ] || before=0
echo "taken $next $before"
"""


def _now_s() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclass
class LastHeard:
    """When the last command was sent that the board ran as ours."""

    at_s: float = field(default_factory=_now_s)


@dataclass(frozen=True)
class Lease:
    """The board behind `link`, ours until somebody takes it; itself a link, whose commands check that first."""

    link: Link
    store: str
    number: int
    alone_s: int = 0
    before_s: int = 0  # who had it before may switch its power for so long
    heard: LastHeard = field(default_factory=LastHeard, compare=False)

    @property
    def holds(self) -> bool:
        """Whether its power may be switched, though it is silent."""
        return _now_s() - self.heard.at_s <= self.alone_s

    def alone(self, seconds: float) -> "Lease":
        """For so long it may be silent from now on."""
        if seconds <= self.alone_s:
            return self
        self.run(f"echo {seconds:.0f} > {shlex.quote(self.store)}/lease-{self.number}/alone && sync")
        return replace(self, alone_s=round(seconds))

    @property
    def _check(self) -> str:
        return f"[ -d {shlex.quote(self.store)}/lease-{self.number} ] || {{ echo '{_FENCED}' >&2; exit 77; }}\n"

    def run(self, script: str, *, deadline_s: float = 30.0, give: bytes = b"", most_b: int = SAID_MOST_B) -> bytes:
        asked_s = _now_s()
        try:
            said = self.link.run(self._check + script, deadline_s=deadline_s, give=give, most_b=most_b)
        except RunFailed as error:
            if _FENCED in str(error):
                self.heard.at_s = -math.inf
                raise BoardRefused(f"{str(error).partition(':')[0]}: somebody else has taken the board since") from None
            raise
        self.heard.at_s = asked_s
        return said

    def drop(self) -> None:
        self.link.drop()

    def release(self) -> None:
        self.run(f": > {shlex.quote(self.store)}/lease-{self.number}/owner; sync")


def take(link: Link, store: str, owner: str, name: str, *, force: bool = False, alone_s: float = 0) -> Lease:
    """Raises Refused where it is another's. The same owner takes it again, for then the first is dead."""
    script = f"mkdir -p {shlex.quote(store)}\n"
    forced = "yes" if force else "no"
    script += _TAKE.format(store=shlex.quote(store), owner=shlex.quote(owner), force=forced, alone=round(alone_s))
    heard = LastHeard()
    word, _, rest = link.run(script).decode(errors="replace").strip().partition(" ")
    number = whole(rest.partition(" ")[0])
    if word != "taken" or number is None:
        raise BoardRefused(
            f"board {name} is in use by {rest[:200]}; if that has died: `rtqual board restore {name} --take`"
        )
    return Lease(link, store, number, round(alone_s), whole(rest.partition(" ")[2]) or 0, heard)
