# SPDX-License-Identifier: MIT
"""Procedures for every telecommand of a dictionary, which name no program: at once, whole, cut at each octet, twice, as
a flood.

What is asked: that the program still answers the telecommands that end every procedure, has not ended, and that all it
says is whole. What becomes of a telecommand with made-up arguments nobody knows, so refusals are no fault.
"""

import re

from rtqual.base.errors import BadInput
from rtqual.engine.dialogue.language import Language
from rtqual.engine.dialogue.model import Dialogue, DialogueFault, DialogueStep
from rtqual.engine.dialogue.sealing import sealed
from rtqual.engine.mission.explain import suggest
from rtqual.engine.mission.language_table import Framing
from rtqual.engine.mission.verify_table import SystemRequirement
from rtqual.protocols.dictionary import Refused

ROBUST = SystemRequirement(
    id="RB-010",
    text="Whatever comes of a telecommand, whole, cut off, twice or in a flood, the program goes on and answers.",
)
# Of a telecommand at most, so that a long one is cut at some of its octets; the latter where each loses the link.
_PIECES, _PIECES_OF_LINKS = 48, 32
_FLOOD = 50
_MS = 10**6
_BEGIN, _APART, _FLOOD_APART = 100 * _MS, 20 * _MS, 1 * _MS
_CLOSED, _OPENED = 5 * _MS, 10 * _MS  # after a piece
_LEAST = 7  # octets of a space packet
_LENGTH_AT, _CHECKSUM, _CRC = 4, 2, "crc16-ccitt"
_MOST = 400  # telecommands; a folder keeps no more than 500 procedures


def robust(language: Language) -> tuple[tuple[Dialogue, ...], dict[str, str]]:
    """Return a procedure a telecommand, and why others have none. Raises BadInput where none could fail."""
    if not any(not telecommand.unanswered for telecommand in language.verify.closing):
        raise BadInput(
            "[verify] has no closing telecommand: without one nobody knows whether the program still answers"
        )
    settings, commands = language.verify.robustness, language.dictionary.commands
    if unknown := next((name for name in settings.omit if name not in commands), None):
        raise BadInput(f"[verify] robustness: omit: there is no command {unknown!r:.80}; {suggest(unknown, commands)}")
    made: dict[str, Dialogue] = {}
    why = dict.fromkeys(settings.omit, "the mission omits it")
    for command in [name for name in commands if name not in settings.omit][:_MOST]:
        try:
            arguments = language.dictionary.sample(command)
            octets = language.encode(command, arguments, 0).octets
        except Refused as refused:
            why[command] = str(refused)
            continue
        name = f"robust-{re.sub(r'[^a-z0-9]+', '-', command.lower()).strip('-')}"
        name = name if name not in made else f"{name}-{len(made)}"
        made[name] = _procedure(command, dict(arguments), octets, language).named(name)
    return tuple(made.values()), why


def _procedure(command: str, arguments: dict[str, object], octets: bytes, language: Language) -> Dialogue:
    link, rest_ns = language.verify.link or "", language.verify.robustness.rest
    # On a stream a packet that is cut off takes its missing octets from the next, whoever reads it. So the link is
    # lost in the middle of it.
    loses_link = language.framing is Framing.SPACE_PACKETS and link.startswith("connect")
    every = -(-len(octets) // (_PIECES_OF_LINKS if loses_link else _PIECES))
    whole = {"send": command, "args": arguments, "unanswered": True}
    steps = [DialogueStep(at=at, **whole) for at in (0, _BEGIN)]
    at = _BEGIN
    for length in range(1, len(octets), every):
        at += _APART
        steps.append(DialogueStep(at=at, raw=octets[:length].hex(), unanswered=True))
        if loses_link:
            steps.append(DialogueStep(at=at + _CLOSED, fault=DialogueFault(link="close")))
            steps.append(DialogueStep(at=at + _OPENED, fault=DialogueFault(link="open")))
    for length in _shorter_lengths(len(octets), every, language):
        at += _APART
        steps.append(DialogueStep(at=at, raw=_shorter(octets, length, language).hex(), unanswered=True))
    pieces = sum(step.raw is not None for step in steps)
    at += _APART
    steps += [
        DialogueStep(at=at, **whole),
        DialogueStep(at=at, send=command, args=arguments, damage="duplicate", unanswered=True),
    ]
    at += _APART
    steps.append(DialogueStep(at=at, times=_FLOOD, every=_FLOOD_APART, **whole))
    return Dialogue(
        title=f"{command}: at once, cut at {pieces} places, twice, {_FLOOD} times in {_FLOOD} ms"[:200],
        verifies=(ROBUST.id,),
        tolerant=True,
        ends=at + _FLOOD * _FLOOD_APART + rest_ns,
        steps=tuple(steps),
    )


def _shorter_lengths(whole: int, every: int, language: Language) -> range:
    """Those that its head can say, where it is sent as a space packet."""
    spoken = language.spoken
    if not any(name.startswith("ccsds") for name in (*spoken.seal, *spoken.check)):
        return range(0)
    return range(_LEAST + _CHECKSUM * (_CRC in spoken.seal), whole, every)


def _shorter(octets: bytes, length: int, language: Language) -> bytes:
    """A space packet that lacks its last octets, and whose head says so: a program that believes its length reads on
    behind it."""
    checks = [seal for seal in language.spoken.seal if seal in (_CRC, "cfe-checksum")]
    says = int.from_bytes(octets[_LENGTH_AT : _LENGTH_AT + 2], "big") - (len(octets) - length)
    kept = octets[_LENGTH_AT + 2 : length - _CHECKSUM * (_CRC in checks)]
    packet = octets[:_LENGTH_AT] + max(says, 0).to_bytes(2, "big") + kept
    try:
        return sealed(packet, checks, 0)
    except Refused:  # it is too short for that
        return packet
