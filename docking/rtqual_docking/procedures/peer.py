# SPDX-License-Identifier: MIT
"""Whether a procedure's peer got what its [peer] asks for, by the counts in the record."""

from collections.abc import Mapping
from dataclasses import replace
from math import inf

from rtqual.engine.procedure.judging import Check, Judgement
from rtqual.protocols.record.schema import Scalar
from rtqual_docking.packets.definition import Definition
from rtqual_docking.procedures.model import Peer, Procedure
from rtqual_docking.procedures.own_program import judge


def judged(procedure: Procedure, log: str, definition: Definition, scalars: Mapping[str, Scalar]) -> Judgement:
    """By the ground's log and by what its [peer] asks for; a record that says nothing of that is no evidence."""
    judgement, asked = judge(procedure, log, definition), procedure.peer
    if asked is None or judgement.unsound:
        return judgement
    found = {name: scalar.value for name, scalar in scalars.items()}
    if missing := [name for name in _COUNTED if name not in found]:
        return replace(judgement, unsound=f"stands in a record without {missing[0]}")
    if strange := [name for name, value in found.items() if name in _COUNTED and not (0 <= value < inf)]:
        return replace(judgement, unsound=f"stands in a record whose {strange[0]} is {found[strange[0]]:g}")
    return replace(judgement, checks=(*judgement.checks, *_checks(asked, found)))


_AT_MOST = {"peer_lost": "lost", "peer_age_most": "age", "log_lines_lost": "lines_lost"}  # figure: key of [peer]
_COUNTED = (*_AT_MOST, "peer_poses")


def _checks(asked: Peer, found: Mapping[str, float]) -> list[Check]:
    came, least = found["peer_poses"], asked.poses
    checks = [Check(-1, "the peer", f"poses >= {least}", came >= least, f"{came:.0f} came")]
    for figure, key in _AT_MOST.items():
        value, most = found[figure], getattr(asked, key)
        unit, scale = (" ms", 10**6) if key == "age" else ("", 1)
        told = f"{key} <= {most / scale:.12g}{unit}"
        checks.append(Check(-1, "the peer", told, value <= most, f"{value / scale:.12g}{unit}"))
    return checks
