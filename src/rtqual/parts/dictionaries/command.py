# SPDX-License-Identifier: MIT
"""`rtqual dictionary`."""

import math
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from rtqual.base.errors import BadInput
from rtqual.base.words import clean, count
from rtqual.engine.mission.explain import suggest
from rtqual.face.commands.app import LITERAL, Json, print_json

Format = Annotated[Literal["fprime", "xtce", "cosmos", "scos", "table"], Parameter(name="--format")]
Names = Annotated[list[str] | None, Parameter(name="--name", negative="")]
dictionary_app = App(
    name="dictionary",
    help="Dictionaries of flight software: what can be commanded, octets of a command, values of a packet.",
)


@dictionary_app.command
def check(files: list[Path], /, *, format: Format, names: Names = None, as_json: Json = False) -> int:
    """Say which commands and packets of a dictionary can be used, and why the others cannot.

    Parameters
    ----------
    files
        The dictionary's files; a MIB's folder.
    format
        What they are: an F' JSON dictionary, XTCE, COSMOS definitions, a SCOS-2000 MIB, a table of packets.
    names
        NAME=VALUE: what stands for <%= NAME %> in COSMOS definitions.
    """
    from rtqual.parts.dictionaries.dictionary_formats import read  # noqa: PLC0415 - not to be listed

    dictionary = read(format, files, _pairs(names, "--name"))
    commands = {name: _why(command.fields) for name, command in dictionary.commands.items()}
    packets = {name: _why(packet.fields) for name, packet in dictionary.packets.items()}
    if as_json:
        print_json({"commands": commands, "packets": packets})
        return 0
    for what, entries in (("command", commands), ("packet", packets)):
        refused = {name: why for name, why in entries.items() if why}
        LITERAL.print(f"{count(len(entries), what)}, {len(refused)} of them refused", highlight=False)
        for name, why in refused.items():
            LITERAL.print(clean(f"  {name}: {why}"), highlight=False, soft_wrap=True)
    return 0


@dictionary_app.command
def encode(
    command: str,
    files: list[Path],
    /,
    *,
    format: Format,
    values: Annotated[list[str] | None, Parameter(name="--set", negative="")] = None,
    fill: Annotated[list[str] | None, Parameter(name="--fill", negative="")] = None,
    seal: Annotated[list[str] | None, Parameter(name="--seal", negative="")] = None,
    sequence: int = 0,
    names: Names = None,
    as_json: Json = False,
) -> int:
    """Print the octets of a command as hexadecimal digits.

    Parameters
    ----------
    command
        Its name, as the dictionary writes it.
    files
        The dictionary's files; a MIB's folder.
    format
        What they are: an F' JSON dictionary, XTCE, COSMOS definitions, a SCOS-2000 MIB, a table of packets.
    values
        NAME=VALUE: an argument.
    fill
        NAME=VALUE: a header field that no command sets.
    seal
        What is filled in last, in this order: ccsds-sequence, ccsds-length, cfe-checksum, crc16-ccitt.
    sequence
        The packet's sequence count.
    names
        NAME=VALUE: what stands for <%= NAME %> in COSMOS definitions.
    """
    from rtqual.engine.dialogue.sealing import sealed  # noqa: PLC0415
    from rtqual.parts.dictionaries import value_codec  # noqa: PLC0415 - not to be listed
    from rtqual.parts.dictionaries.dictionary_formats import read  # noqa: PLC0415
    from rtqual.protocols.dictionary import Refused  # noqa: PLC0415

    dictionary = read(format, files, _pairs(names, "--name"))
    if command not in dictionary.commands:
        raise BadInput(f"there is no command {command!r:.80}; {suggest(command, dictionary.commands)}")
    try:
        filled = _pairs(fill, "--fill")
        octets = value_codec.encode(dictionary.commands[command], _pairs(values, "--set"), filled)
        if unused := [*filled.keys() - value_codec.fillable(dictionary.commands[command])]:
            raise Refused(f"--fill {min(unused):.60}: it has no such field, or sets it itself")
        octets = sealed(octets, seal or (), sequence)
    except Refused as why:
        raise BadInput(f"{command}: {why}") from why
    if as_json:
        print_json({"command": command, "octets": octets.hex()})
    else:
        LITERAL.print(octets.hex(" "), highlight=False, soft_wrap=True)
    return 0


@dictionary_app.command
def decode(
    octets: str,
    files: list[Path],
    /,
    *,
    format: Format,
    names: Names = None,
    as_json: Json = False,
) -> int:
    """Print which packet of a dictionary some octets are, and its values.

    Parameters
    ----------
    octets
        The packet, as hexadecimal digits.
    files
        The dictionary's files; a MIB's folder.
    format
        What they are: an F' JSON dictionary, XTCE, COSMOS definitions, a SCOS-2000 MIB, a table of packets.
    names
        NAME=VALUE: what stands for <%= NAME %> in COSMOS definitions.
    """
    from rtqual.parts.dictionaries import value_codec  # noqa: PLC0415 - not to be listed
    from rtqual.parts.dictionaries.dictionary_formats import read  # noqa: PLC0415
    from rtqual.protocols.dictionary import Refused  # noqa: PLC0415

    try:
        data = bytes.fromhex(octets)
    except ValueError as error:
        raise BadInput("the packet is given as hexadecimal digits, two an octet") from error
    dictionary = read(format, files, _pairs(names, "--name"))
    try:
        packet, values = value_codec.recognise(dictionary, data)
    except Refused as why:
        raise BadInput(f"these {len(data)} octets are no packet of the dictionary: {why}") from why
    shown = {name: _printable(value) for name, value in values.shown.items()}
    if as_json:
        print_json({"packet": packet.name, "severity": dictionary.severities.get(packet.name), "values": shown})
        return 0
    LITERAL.print(clean(packet.name), highlight=False, soft_wrap=True)
    for name, value in shown.items():
        LITERAL.print(clean(f"  {name} = {value}"), highlight=False, soft_wrap=True)
    return 0


@dictionary_app.command
def export(
    files: list[Path],
    /,
    *,
    format: Format,
    out: Path,
    space: str = "program",
    fill: Annotated[list[str] | None, Parameter(name="--fill", negative="")] = None,
    names: Names = None,
) -> int:
    """Write a dictionary as XTCE 1.2, which Yamcs and other grounds read.

    Parameters
    ----------
    files
        The dictionary's files; a MIB's folder.
    format
        What they are: an F' JSON dictionary, XTCE, COSMOS definitions, a SCOS-2000 MIB, a table of packets.
    out
        The file that is written.
    space
        The SpaceSystem that everything is in.
    fill
        NAME=VALUE: a header field that no command sets.
    names
        NAME=VALUE: what stands for <%= NAME %> in COSMOS definitions.
    """
    from rtqual.base import unlinked  # noqa: PLC0415
    from rtqual.parts.dictionaries.dictionary_formats import read  # noqa: PLC0415 - not to be listed
    from rtqual.parts.dictionaries.xtce_writer import written, xtce_name  # noqa: PLC0415

    made = written(read(format, files, _pairs(names, "--name")), xtce_name(space), _pairs(fill, "--fill"))
    try:
        unlinked.write(out.parent, out.name, made.text.encode())
    except OSError as error:
        raise BadInput(f"--out {out}: cannot be written: {error.strerror}") from None
    told = f"{out}: {count(len(made.names), 'name')} of commands and packets, {len(made.left_out)} left out"
    LITERAL.print(told, highlight=False, soft_wrap=True)
    for name, why in made.left_out.items():
        LITERAL.print(clean(f"  {name}: {why}"), highlight=False, soft_wrap=True)
    return 0


def _why(fields: object) -> str | None:
    return str(fields) if isinstance(fields, Exception) else None


def _pairs(texts: list[str] | None, option: str) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts or ()]
    if wrong := next((name for name, sign, _ in pairs if not sign or not name), None):
        raise BadInput(f"{option} {wrong!r:.60}: write NAME=VALUE")
    twice = [name for name, times in Counter(name for name, _, _ in pairs).items() if times > 1]
    if twice:
        raise BadInput(f"{option} {twice[0]!r:.60}: is given twice")
    return {name: value for name, _, value in pairs}


def _printable(value: Any) -> Any:
    """Octets as digits, also within lists and tables."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        return [_printable(part) for part in value]
    if isinstance(value, dict):
        return {name: _printable(part) for name, part in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no such number
    return value
