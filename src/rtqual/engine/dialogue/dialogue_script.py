# SPDX-License-Identifier: MIT
"""A procedure as the timed script that `rtqual-wire` plays: what begins every procedure, its steps, what ends it."""

from collections.abc import Iterator, Mapping
from itertools import count
from operator import attrgetter
from typing import Any

from rtqual.base.errors import BadInput
from rtqual.engine.dialogue.framing import framed
from rtqual.engine.dialogue.language import Language
from rtqual.engine.dialogue.meaning import RAW
from rtqual.engine.dialogue.model import Dialogue, DialogueDamage, DialogueStep
from rtqual.engine.mission.language_table import Telecommand
from rtqual.engine.procedure.line import CLOSING, SETUP, Line, lines_of
from rtqual.protocols.dictionary import Encoded, Refused


def compiled(procedure: Dialogue, language: Language, where: str = "") -> tuple[Line, ...]:
    """The lines of the script; the last is its end. Raises BadInput for what the dictionary refuses."""
    verify, where = language.verify, where or procedure.name
    sequence = count()

    def octets(number: int, step: DialogueStep, raw: bytes) -> Line:
        return _sending(step.at, Encoded(raw), number, RAW, language, sound=False)

    def telecommand(number: int, step: DialogueStep) -> Line:
        name = str(step.send)
        encoded = _encoded(language, name, step.args, next(sequence), f"{where}: step {number + 1}")
        sound = not step.unanswered and step.damage is None
        return _sending(step.at, _damaged(encoded, step.damage), number, name, language, sound=sound)

    lines = [_fixed(0, fixed, SETUP, language, next(sequence)) for fixed in verify.setup]
    lines += lines_of(procedure.done, attrgetter("line"), octets, telecommand)
    lines += [_fixed(procedure.ends, fixed, CLOSING, language, next(sequence)) for fixed in verify.closing]
    end_ns = procedure.ends + max((within for _, within in language.stages()), default=0) * bool(verify.closing)
    return (*lines, Line(end_ns, "end"))


def silent(procedure: Dialogue, language: Language) -> Iterator[int]:
    """The steps that would pass whatever happened: octets without answers, of which nothing is asked. A tolerant
    procedure asks at its end."""
    if procedure.tolerant and any(not telecommand.unanswered for telecommand in language.verify.closing):
        return
    for number, step in enumerate(procedure.steps):
        if (step.send or step.raw) and not step.asks and (step.unanswered or not any(language.stages())):
            yield number


def _fixed(at_ns: int, telecommand: Telecommand, step: int, language: Language, sequence: int) -> Line:
    encoded = _encoded(language, telecommand.send, telecommand.args, sequence, "[verify]")
    return _sending(at_ns, encoded, step, telecommand.send, language, sound=not telecommand.unanswered)


def _encoded(language: Language, name: str, arguments: Mapping[str, Any], sequence: int, where: str) -> Encoded:
    try:
        return language.encode(name, arguments, sequence)
    except Refused as why:
        raise BadInput(f"{where}: {name}: {why}") from None


def _damaged(encoded: Encoded, how: DialogueDamage | None) -> Encoded:
    octets = encoded.octets
    if how is DialogueDamage.FLIPPED:
        octets = octets[:-1] + bytes([octets[-1] ^ 1])
    elif how is DialogueDamage.TRUNCATED:
        octets = octets[: max(len(octets) // 2, 1)]
    return Encoded(octets, encoded.fields)


def _sending(at_ns: int, encoded: Encoded, step: int, command: str, language: Language, *, sound: bool) -> Line:
    whole = framed(encoded.octets, language.framing)
    return Line(at_ns, f"send {whole.hex()}", step, command, whole, sound, encoded)
