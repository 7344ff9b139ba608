# SPDX-License-Identifier: MIT
"""Where a record comes from, as its board told it."""

import platform
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from rtqual import __version__
from rtqual.base.words import whole
from rtqual.engine.boards.modelled import BUSY
from rtqual.engine.campaign.cell import Cell
from rtqual.protocols.board import LEFT, JobOutcome
from rtqual.protocols.instrument.about import about_record
from rtqual.protocols.instrument.version import parse_version
from rtqual.protocols.load import Load
from rtqual.protocols.record.schema import Inputs, Measurement, Provenance, Record
from rtqual.protocols.record.store import make, read

# Of the time that a CPU runs. Where the arrays of stress-ng stream lay on each other in L1D it was 0.23, else 0.92.
_LEAST_BUSY = 0.3


def provenance(cell: Cell, outcome: JobOutcome, started: datetime, mission_sha256: str) -> Provenance:
    known = dict(outcome.facts)
    resolution = known.pop("clock_resolution_ns", None)
    tools = {cell.instrument.program: parse_version(outcome.version)} if cell.job().version else {}
    return Provenance(
        rtqual=__version__,
        mission_sha256=mission_sha256,
        started=_ran(started, known.get(LEFT)),
        wall_s=round(outcome.wall_s, 3),
        command=list(outcome.command),
        tools=tools,
        kernel=known.pop("kernel", None),
        kernel_cmdline=known.pop("cmdline", None),
        clocksource=known.pop("clocksource", None),
        clock_resolution_ns=whole(resolution) if resolution else None,
        threads=list(outcome.threads),
        page_faults=sum(faults) if (faults := _page_faults(outcome)) else None,
        facts={**known, "host": platform.machine()},
    )


def _ran(started: datetime, left_s: str | None) -> str | None:
    """When it was measured: a result that was left on a board is older than the call that took it; None: unknown."""
    age_s = 0 if left_s is None else whole(left_s)
    return None if age_s is None else (started - timedelta(seconds=age_s)).isoformat(timespec="seconds")


def _page_faults(outcome: JobOutcome) -> list[int]:
    """The counts there are; none of a system without pages."""
    return [outcome.status[kind] for kind in ("minor_faults", "major_faults") if kind in outcome.status]


def replayed(inputs: Inputs, path: Path, mission_sha256: str) -> Record:
    """A record that was made before, as one of this campaign's; what it says of its run is said of that run."""
    recorded = read(path)
    old = recorded.manifest
    # What others ran need not be what the mission asks for; what rtqual replays was looked up by that.
    asked, had = inputs.parameters, old.inputs.parameters
    other = [f"it was measured with {name} {had[name]}, the mission asks for {asked[name]}"
             for name in sorted(asked.keys() & had.keys()) if asked[name] != had[name]]  # fmt: skip
    measurement = Measurement(recorded.series, old.scalars, (*old.problems, *other), old.absent)
    facts = {**old.provenance.facts, "replayed": old.hash}
    now = {"mission_sha256": mission_sha256, "command": ["rtqual", "show", str(path)], "facts": facts}
    made = old.provenance.model_copy(update=now)
    return make(inputs, measurement, made, timing=old.timing, repeat=0, about=about_record(old))


# What a kernel says that was told to panic, by sysrq.
_BY_INTENT = re.compile(r"Kernel panic - not syncing: sysrq triggered crash.*?Kernel Offset", re.DOTALL)


def kernel_complaints(console: str, *, resets: bool = False) -> list[str]:
    """What the kernel itself says went wrong while it ran. `resets`: its end may have been asked for."""
    console = _BY_INTENT.sub("", console) if resets else console
    signs = ("BUG:", "Oops", "WARNING: CPU", "RT throttling activated", "Call Trace", "rcu: INFO")
    return [f"the kernel said: {line.strip()[:160]}" for line in console.splitlines() if any(s in line for s in signs)][
        :3
    ]


def spared_memory(facts: Mapping[str, str], load: Load) -> list[str]:
    """A load on memory that a model's caches took: pages of a boot may lie so that its arrays stay in L2."""
    busy = facts.get(BUSY)
    if not load.memory or busy is None or float(busy) >= _LEAST_BUSY:
        return []
    return [
        f"the load on memory did not reach DRAM, which was busy for {float(busy):.1%} of the time that a CPU ran: its "
        "pages lay well in this boot; run more boots (docs/memory.md)"
    ]


def missing_cpus(facts: Mapping[str, str], asked: int) -> list[str]:
    """A kernel may find fewer than its machine has. What is told are those that any program may run on."""
    told = facts.get("cpus", "")
    fewer = told.isascii() and told.isdigit() and int(told) < asked and "isolcpus=" not in facts.get("cmdline", "")
    return [f"the kernel ran on {told} of {asked} CPUs"] if fewer else []
