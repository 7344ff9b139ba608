# SPDX-License-Identifier: MIT
"""What of the lint's findings would shorten what made a candidate's tail."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.engine.campaign.folder import load
from rtqual.engine.kernel.lint.judged_system import from_config
from rtqual.engine.kernel.lint.lint_rules import State, lint
from rtqual.parts.explain.cause_tally import CauseTally
from rtqual.parts.explain.timeline import TimeKind

_MATTERS = 0.05  # of the mean of the samples
_CHECKS = (
    "lock-debugging", "memory-checkers", "slub-debug", "slub-debug-at-boot", "page-debugging", "page-debugging-at-boot",
    "object-debugging", "debug-preempt", "rcu-debugging", "latency-tracers", "kfence",
)  # fmt: skip
# The rules of lint.toml that are about such time. Of interrupts there are none: a wake-up's is mostly its own timer's,
# which no setting moves to a thread.
_ABOUT: Mapping[TimeKind, tuple[str, ...]] = {
    TimeKind.SOFTIRQ: ("preempt-rt", "threaded-interrupts", "rcu-nocb"),
    TimeKind.IRQS_OFF: ("preempt-rt", *_CHECKS),
    TimeKind.LOCK: ("futex-pi", "rcu-boost"),
    TimeKind.PREEMPT_OFF: ("preempt-rt", *_CHECKS),
    TimeKind.OTHER: ("preempt-rt", "preempt-mode", "preempt-ignored"),
    TimeKind.FAULT: ("swap", "huge-pages", "compaction-of-locked-memory"),
}


@dataclass(frozen=True)
class Advice:
    """A finding of the lint about a kind of time that made a tail."""

    candidate: str
    kind: TimeKind
    rule: str
    title: str
    seen: str


def advice(folder: Path, tallies: Iterable[CauseTally]) -> list[Advice]:
    """Of a campaign that has ended; of another nothing is known but its records."""
    try:
        campaign = load(folder)
    except BadInput:
        return []
    parameters = {
        candidate.name: " ".join((*((f"preempt={candidate.preempt}",) if candidate.preempt else ()), *candidate.boot))
        for candidate in campaign.mission.candidates
    }
    found: dict[tuple[str, TimeKind, str], Advice] = {}
    for tally in tallies:
        text = campaign.result.configs.get(tally.candidate)
        if text is None:
            continue
        system = from_config(text, tally.candidate, parameters=parameters[tally.candidate], cpus=1)
        said = {finding.rule.id: finding for finding in lint(system) if finding.state == State.FOUND}
        for kind, ns in tally.causes_ns.items():
            for rule in _ABOUT.get(kind, ()) if ns >= _MATTERS * tally.mean_ns else ():
                if rule in said:
                    key = tally.candidate, kind, rule
                    found[key] = Advice(*key, said[rule].rule.title, said[rule].seen)
    return list(found.values())
