# SPDX-License-Identifier: MIT
"""Procedures as stacks, which an operator runs in Yamcs step by step.

Telecommands go out as they stand and wait for their completion; housekeeping that must have a value is verified, what
has bounds is shown. What only the virtual board's ground does, faults, damaged packets and tags, is told as text.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rtqual.engine.procedure.described import Bounds
from rtqual_docking.packets.definition import Definition
from rtqual_docking.yamcs.mission_database import SPACE, sent_by_yamcs

_REFUSALS = ("1.2", "1.4", "1.8")
_MS = 10**6


def stack(procedure: Any, definition: Definition) -> str:
    """The file's text."""
    steps = [_text(f"**{procedure.title}** ({', '.join(procedure.verifies)})")]
    done = procedure.done
    for number, step in enumerate(done):
        until = done[number + 1].at if number + 1 < len(done) else procedure.ends
        steps += _steps(step, definition, (until - step.at) // _MS, tagged=procedure.tagged)
    whole = {"steps": steps, "advancement": {"acknowledgment": "Verifier_Completed", "wait": 0}}
    return json.dumps(whole, indent=1) + "\n"


def _steps(step: Any, definition: Definition, wait_ms: int, *, tagged: bool) -> Iterator[Mapping[str, Any]]:
    refused = [expected for expected in step.expect if expected.report in _REFUSALS]
    command = definition.commands.get(step.send or "")
    if command and not tagged and step.damage in (None, "gap") and sent_by_yamcs(command):
        advancement = {"acknowledgment": "Acknowledge_Sent"} if refused else {}
        entries: Sequence[Mapping[str, Any]] = step.entries or ({},)
        for number, entry in enumerate(entries, 1):  # Yamcs's commands have expected
            yield {
                "type": "command",
                "name": f"/{SPACE}/{step.send}",
                "arguments": [{"name": name, "value": value} for name, value in {**step.args, **entry}.items()],
                "advancement": {**advancement, "wait": wait_ms if number == len(entries) else 0},
                **(
                    {"comment": "must be refused: " + "; ".join(expected.said for expected in refused)}
                    if refused
                    else {}
                ),
            }
    elif step.send or step.raw or step.fault:
        yield _text(f"Not by Yamcs: {step.said}")
    for expect in step.expect:
        if expect not in refused:
            yield from _expected(expect)
    if step.forbid:
        yield _text("Must not come: " + "; ".join(forbid.said for forbid in step.forbid))


def _expected(expect: Any) -> Iterator[Mapping[str, Any]]:
    """An event is one of many in its parameter, so it is left to the operator, who has them in a list."""
    if expect.event or expect.file or not expect.values:
        if expect.report != "1.7":  # the command waits for it
            yield _text(f"Must come within {expect.within / 10**9:g} s: {expect.said}")
        return
    equal = {name: wanted for name, wanted in expect.values.items() if not isinstance(wanted, Bounds)}
    if equal:
        condition = [
            {"parameter": f"/{SPACE}/{name}", "operator": "eq", "value": wanted} for name, wanted in equal.items()
        ]
        yield {"type": "verify", "condition": condition, "timeout": max(expect.within // _MS, 1000)}
    if bounded := [name for name in expect.values if name not in equal]:
        shown = [{"parameter": f"/{SPACE}/{name}"} for name in bounded]
        yield {"type": "check", "parameters": shown, "comment": expect.said}


def _text(text: str) -> Mapping[str, Any]:
    return {"type": "text", "text": text}


def stacks(procedures: Sequence[Any], definition: Definition) -> dict[str, str]:
    """File -> text."""
    return {f"stacks/{procedure.name}.ycs": stack(procedure, definition) for procedure in procedures}
