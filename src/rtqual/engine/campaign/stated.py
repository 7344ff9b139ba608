# SPDX-License-Identifier: MIT
"""Candidates that are this machine under a kernel they state: which of them run now, and what others left before.

One machine runs one kernel at a time. A candidate that states another waits for it; what was measured of it under
its own kernel, before a reboot, is found again by what its records tell of that kernel.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rtqual.engine.boards.local import RunningKernel, kernel_config, ran, running
from rtqual.engine.mission import Candidate
from rtqual.protocols.record.schema import Inputs

_KERNEL = "kernel"  # the artefact of this machine's records that tells it


def is_stated(candidate: Candidate, kernel: RunningKernel) -> bool:
    """Whether a kernel is the one that a candidate states; any is, where it states none."""
    return candidate.release in (None, kernel.release) and candidate.preempt_rt in (None, kernel.preempt_rt)


def why_waits(candidate: Candidate) -> str:
    """What to do for a candidate that is not what runs here now; empty where it is."""
    now = running()
    if not candidate.is_here or is_stated(candidate, now):
        return ""
    kind = "a PREEMPT_RT kernel" if candidate.preempt_rt else "a kernel without PREEMPT_RT"
    wanted = [candidate.release] if candidate.release else []
    wanted += [kind] if candidate.preempt_rt not in (None, now.preempt_rt) else []
    return (
        f"this machine runs {now.release}, candidate {candidate.name} is {', '.join(wanted)}: "
        "boot it and run the same command again"
    )


def is_of(candidate: Candidate, inputs: Inputs) -> bool:
    """Whether a record of this name was measured under the kernel that the candidate states."""
    return not candidate.is_here or is_stated(candidate, ran(inputs.artefacts.get(_KERNEL, "")))


@dataclass(frozen=True)
class Before:
    """What a candidate that waits was measured on, and that kernel's configuration where it is known."""

    artefacts: dict[str, str]
    config: str | None


def before(candidate: Candidate, records: Iterable[Inputs], kept_config: str | None) -> Before:
    """Of the system that most of its records were measured on; empty where there are none."""
    found = Counter(
        tuple(sorted(inputs.artefacts.items()))
        for inputs in records
        if (inputs.candidate, inputs.board) == (candidate.name, candidate.board) and is_of(candidate, inputs)
    )
    if not found:
        return Before({}, None)
    artefacts = dict(found.most_common(1)[0][0])
    return Before(artefacts, kept_config or kernel_config(ran(artefacts[_KERNEL]).release))
