# SPDX-License-Identifier: MIT
"""A procedure as the timed script that `rtqual-ground` plays.

At its end every procedure asks for the housekeeping of a program that must be there and still answer.
"""

import signal
from collections.abc import Mapping
from typing import Any

from rtqual.base.errors import BadInput
from rtqual.engine.procedure.described import clock_ns
from rtqual.engine.procedure.line import CLOSING, Line, lines_of
from rtqual.protocols.dictionary import Encoded
from rtqual_docking.packets.codec import telecommand
from rtqual_docking.packets.definition import Definition
from rtqual_docking.packets.packet_octets import damaged
from rtqual_docking.procedures.model import Damage, Fault, Procedure, Step

PROGRAM = "ds325-flight"
CONTROL, FULL_FILE, STATE_FILE = "control", "state/full", "state/kept"  # in the job's folder
FRAME_FILE = "frame"  # that TAKE_FRAME writes and SEND_FILE sends
KEY, KEY_FILE = b"a key for procedures, worth nothing", "key"
HOUSEKEEPING = ("CAMERA", "CONTROL", "LINK", "SYSTEM")  # structures, asked for when the procedure ends
CLOSING_NS = 10**9  # for the answers
_GAP = 5
_INNER = 8192  # sequence counts of telecommands within others begin here


def compiled(procedure: Procedure, definition: Definition, where: str = "") -> tuple[Line, ...]:
    """The lines of the script; the last is its end. Raises BadInput for arguments that no packet takes."""
    where = where or procedure.name
    sequence, used = 1, 0  # used: the last sound telecommand's counter

    def octets(number: int, step: Step, raw: bytes) -> Line:
        return _sending(step.at, raw, number, "raw", sound=False)

    def told(number: int, step: Step) -> Line:
        nonlocal sequence, used
        sequence += _GAP if step.damage is Damage.GAP else 0
        key = KEY if procedure.tagged and step.damage is not Damage.UNTAGGED else None
        counter = used if step.damage is Damage.COUNTER else sequence
        packet = _telecommand(step, definition, sequence, f"{where}: step {number + 1}", key, counter)
        sound = step.damage in (None, Damage.GAP)
        whole = sound or step.damage in (Damage.UNTAGGED, Damage.COUNTER)
        sent = packet if whole else damaged(packet, str(step.damage))
        used, sequence = counter if sound else used, sequence + 1
        return _sending(step.at, sent, number, str(step.send), sound=sound)

    lines = list(lines_of(procedure.done, _fault, octets, told))
    entries = [{"structure": name} for name in HOUSEKEEPING]
    key = KEY if procedure.tagged else None
    closing = telecommand(definition, "HK_ONCE", None, entries, sequence=sequence, key=key, counter=sequence)
    lines.append(_sending(procedure.ends, closing, CLOSING, "HK_ONCE", sound=True, said="the end"))
    return (*lines, Line(procedure.ends + CLOSING_NS, "end"))


def _sending(at_ns: int, packet: bytes, step: int, command: str, *, sound: bool, said: str = "") -> Line:
    return Line(at_ns, f"send {packet.hex()}", step, command, packet, sound, Encoded(packet), said)


def _telecommand(
    step: Step, definition: Definition, sequence: int, where: str, key: bytes | None, counter: int
) -> bytes:
    assert step.send is not None, "a telecommand"  # noqa: S101
    try:
        entries = [_entry(table, definition, number) for number, table in enumerate(step.entries)]
        return telecommand(
            definition, step.send, step.args, entries or None, sequence=sequence, key=key, counter=counter
        )
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None


def _entry(written: Mapping[str, Any], definition: Definition, number: int) -> dict[str, Any]:
    """A telecommand within another is written by its name, where it has no arguments."""
    inner = written.get("telecommand")
    if not isinstance(inner, str):
        return dict(written)
    return {**written, "telecommand": telecommand(definition, inner, sequence=_INNER + number)}


def _fault(fault: Fault) -> str:
    ((name, value),) = [(name, value) for name, value in fault if value is not None]
    match name:
        case "camera":
            line = f"write {CONTROL} {value}"
        case "signal":
            line = f"signal {PROGRAM} {int(signal.Signals[f'SIG{value}'])}"
        case "flip":
            line = f"flip {STATE_FILE} {PROGRAM} {value}"
        case "clock":
            line = f"clock {clock_ns(value)}"
        case "files":
            line = f"lose {int(value.partition(':')[2])}"
        case "disk":
            line = f"{'fill' if value == 'full' else 'free'} {FULL_FILE}"
        case "lost":
            line = f"free {STATE_FILE}{'' if value == 'state' else f'.{value}'}"
        case "link":
            line = str(value)
        case _:  # kernel, stranger
            line = f"{name} {value}"
    return line
