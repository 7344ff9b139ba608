# SPDX-License-Identifier: MIT
"""This machine's rest: its start is waited for. Which programs run on it is its own affair, so a busy one is a fact and
no problem."""

import shutil
import time
from pathlib import Path

from rtqual.base.errors import RunFailed
from rtqual.base.program import run
from rtqual.protocols.board.rest import BUSY, START
from rtqual.protocols.record.schema import WAITED_NS

_WINDOW_MS, _LIMIT_MS = 250, 1000
_PATIENCE_S, _ANSWER_S = 60.0, 30.0
_CGROUPS = Path("/proc/self/cgroup")


def of_this_machine(agent: Path) -> dict[str, str]:
    """Wait until this machine's start is over, a minute at most; the facts of its rest."""
    began_s, awaited = time.monotonic(), ""
    while True:
        said = run([agent, "rest", str(_WINDOW_MS), str(_LIMIT_MS)]).require("rtqual-agent rest failed").stdout
        facts = dict(line.split("=", 1) for line in said.splitlines())
        if starts := _systemd():
            facts |= {"unrest": START, "rest_awaited": starts}
        awaits = facts.get("unrest") == START
        awaited = facts["rest_awaited"] if awaits else awaited
        waited_s = time.monotonic() - began_s
        if not awaits or waited_s > _PATIENCE_S:
            break
        time.sleep(1)
    if facts.get("unrest") == BUSY:
        del facts["unrest"]
    named = {"rest_awaited": awaited} if awaited else {}
    return {**facts, **named, WAITED_NS: str(round(waited_s * 1e9))}


def _systemd() -> str:
    """What it starts or stops, if anything: a unit's job lasts until it is done, as apt's or the making of keys."""
    if (tool := shutil.which("systemctl")) is None:
        return ""
    try:
        done = run([tool, "list-jobs", "--no-legend", "--no-pager", "--plain"], timeout_s=_ANSWER_S)
    except RunFailed:
        return "systemd, which does not answer"
    fields = [line.split() for line in done.stdout.splitlines()]
    running = [some[1] for some in fields if len(some) == 4 and some[3] == "running"]
    own = _own_units()
    return next((f"systemd's job of {unit}" for unit in running if unit not in own), "")


def _own_units() -> set[str]:
    """What rtqual runs in. The job of a oneshot service, as timers start them, lasts until rtqual ends."""
    try:
        paths = [line.split(":", 2)[-1] for line in _CGROUPS.read_text().splitlines()]
    except OSError:
        return set()
    return {part for path in paths for part in path.split("/")}
