# SPDX-License-Identifier: MIT
"""Any dictionary as XTCE 1.2, for other grounds: what it cannot say is left out, with the reason.

Names of XTCE hold no dots and slashes, so CFE_ES.NOOP is CFE_ES_NOOP there. Arrays and structures become a parameter
for each of their numbers. From the first field without a fixed size on a packet is left out.

The dictionary may be a stranger's: what is written of a command or packet is looked at before anything of it is.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from rtqual.parts.dictionaries.bounded_files import attempt
from rtqual.parts.dictionaries.model import (
    All,
    Coding,
    CommandType,
    Dictionary,
    Number,
    Packet,
    Polynomial,
    Text,
    Where,
)
from rtqual.parts.dictionaries.value_codec import MOST_OCTETS, octets_of, raw_of
from rtqual.parts.dictionaries.xtce_flat import FieldCount, Flat, flat_fields, xml_text
from rtqual.protocols.dictionary import Refused

NAMESPACE = "http://www.omg.org/spec/XTCE/20180204"
_SIGNED = {Coding.TWOS: "twosComplement", Coding.SIGN: "signMagnitude", Coding.ONES: "onesComplement"}


@dataclass
class Written:
    """`left_out`: names of commands and packets, and why; `names`: the dictionary's, as the document has them; `taken`:
    what is named so in it, by kind."""

    root: Element
    left_out: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    taken: set[tuple[str, str]] = field(default_factory=set)
    work: FieldCount = field(default_factory=FieldCount)

    @property
    def text(self) -> str:
        indent(self.root)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(self.root, encoding="unicode") + "\n"


def written(dictionary: Dictionary, space: str, fill: Mapping[str, Any]) -> Written:
    """Return the document. `space`: its SpaceSystem; `fill`: header fields that no command sets."""
    made = Written(Element("SpaceSystem", name=space, xmlns=NAMESPACE))
    _telemetry(made, dictionary)
    _commands(made, dictionary, fill)
    return made


def xtce_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def _own_name(made: Written, kind: str, name: str) -> str:
    """A name as it is in the document; empty where another of its kind is written alike there."""
    own = xtce_name(name)
    if not _is_free(made, kind, own):
        made.left_out[name] = "is written as another name of the dictionary is"
        return ""
    made.names[name] = own
    return own


def _is_free(made: Written, kind: str, own: str) -> bool:
    """Whether nothing of a kind is named so; now it is."""
    before = len(made.taken)
    made.taken.add((kind, own))
    return len(made.taken) > before


def _telemetry(made: Written, dictionary: Dictionary) -> None:
    part = SubElement(made.root, "TelemetryMetaData")
    types, parameters = SubElement(part, "ParameterTypeSet"), SubElement(part, "ParameterSet")
    containers = SubElement(part, "ContainerSet")
    alone = len(dictionary.roots) == 1
    done: set[int] = set()
    waiting = [(root, "") for root in reversed(dictionary.roots)]
    while waiting:
        packet, base = waiting.pop()
        if id(packet) in done:
            continue
        done.add(id(packet))
        equal = attempt(packet.name, lambda where: [*_equalities(where)], packet.where) if base else []
        if isinstance(equal, Refused):
            made.left_out[packet.name] = str(equal)
            continue
        told = [_of_parents(where.name, packet.base, alone) for where in equal]
        if lacking := next((own for own in told if ("parameter", own) not in made.taken), ""):
            made.left_out[packet.name] = f"is known by {lacking}, which is left out"
            continue
        if not (name := _own_name(made, "packet", packet.name)):
            continue
        if not base and packet.where != All():
            made.left_out[packet.name] = "by which values it is known is left out: no container before it has them"
        element = SubElement(containers, "SequenceContainer", name=name)
        if packet.abstract:
            element.set("abstract", "true")
        entries = SubElement(element, "EntryList")
        # Those of the one head of all are known by their own names, those of a report by its name and theirs.
        prefix = "" if alone and not base else f"{name}_"
        for flat in _flattened(packet, made):
            if not flat.name:
                continue
            own = prefix + xtce_name(flat.name)
            if not _is_free(made, "parameter", own):
                made.left_out[packet.name] = f"{flat.name} is written as another field is; what follows is left out"
                break
            _type(types, "Parameter", own, flat)
            SubElement(parameters, "Parameter", name=own, parameterTypeRef=own)
            _place(SubElement(entries, "ParameterRefEntry", parameterRef=own), flat)
        if base:
            criteria = SubElement(element, "BaseContainer", containerRef=base)
            compared = SubElement(SubElement(criteria, "RestrictionCriteria"), "ComparisonList") if equal else None
            for own, where in zip(told, equal, strict=True):
                row = SubElement(compared, "Comparison", value=where.value)  # type: ignore[arg-type]
                row.set("parameterRef", own)
                row.set("useCalibratedValue", "false" if where.raw else "true")
        waiting += [(child, name) for child in reversed(packet.children)]


def _of_parents(name: str, packet: Packet | None, alone: bool) -> str:
    """A parameter by the name of the packet that has it; `alone`: there is one head of all."""
    field_name = name.partition("/")[0]  # of a member
    while packet is not None and not (alone and packet.base is None):
        known = () if isinstance(packet.fields, Refused) else packet.fields
        if any(field_name == each.name for each in known):
            return f"{xtce_name(packet.name)}_{xtce_name(name)}"
        packet = packet.base
    return xtce_name(name)


def _equalities(where: Any) -> Iterator[Where]:
    """Raises Refused for what is not a list of equalities."""
    if isinstance(where, Where) and where.operator == "==":
        yield replace(where, value=xml_text(where.value))
    elif isinstance(where, All) and not where.some:
        for part in where.parts:
            yield from _equalities(part)
    else:
        raise Refused("is distinguished by more than equal values")


def _flattened(packet: Packet, made: Written) -> Iterator[Flat]:
    """Its fields up to the first that has no fixed place."""
    if isinstance(packet.fields, Refused):
        made.left_out[packet.name] = str(packet.fields)
        return
    made.work.of_packet = 0
    for each in packet.fields:
        flats = attempt(each.name, lambda each: [*flat_fields(made.work, each, each)], each)
        if isinstance(flats, Refused):
            made.left_out[packet.name] = f"{flats}; what follows is left out"
            return
        yield from flats


def _place(entry: Element, flat: Flat) -> None:
    if flat.at is None and not flat.gap:
        return
    where = "previousEntry" if flat.at is None else "containerStart"
    place = SubElement(entry, "LocationInContainerInBits", referenceLocation=where)
    SubElement(place, "FixedValue").text = str(flat.gap if flat.at is None else flat.at)


def _type(types: Element, of: str, name: str, flat: Flat) -> None:
    kind = flat.type
    if isinstance(kind, Text):
        tag, size = ("Binary", "SizeInBits") if kind.charset is None else ("String", "SizeInBits")
        element = SubElement(types, f"{tag}{of}Type", name=name)
        encoding = SubElement(element, f"{tag}DataEncoding")
        held = SubElement(encoding, size) if kind.charset is None else SubElement(SubElement(encoding, size), "Fixed")
        SubElement(held, "FixedValue").text = str(flat.bits)
        if kind.charset is not None:
            encoding.set("encoding", kind.charset.upper())
        return
    floats = kind.coding is Coding.IEEE
    tag = "Enumerated" if kind.labels else "Float" if floats or kind.calibration else "Integer"
    element = SubElement(types, f"{tag}{of}Type", name=name)
    encoding = SubElement(element, "FloatDataEncoding" if floats else "IntegerDataEncoding", sizeInBits=str(flat.bits))
    if kind.coding in _SIGNED:
        encoding.set("encoding", _SIGNED[kind.coding])
    if kind.little:
        encoding.set("byteOrder", "leastSignificantByteFirst")
    if tag == "Integer":
        element.set("signed", "true" if kind.coding in _SIGNED else "false")
    if kind.calibration:
        _calibrated(SubElement(encoding, "DefaultCalibrator"), kind)
    if kind.labels:
        listed = SubElement(element, "EnumerationList")
        for value, label in sorted(kind.labels.items()):
            SubElement(listed, "Enumeration", value=str(value), label=label)
    elif kind.least is not None or kind.most is not None:
        valid = SubElement(element, "ValidRangeSet" if of == "Argument" else "ValidRange")
        valid = SubElement(valid, "ValidRange") if of == "Argument" else valid
        for key, bound in (("minInclusive", kind.least), ("maxInclusive", kind.most)):
            if bound is not None:
                valid.set(key, repr(float(bound)) if tag == "Float" else str(int(bound)))


def _calibrated(parent: Element, kind: Number) -> None:
    if isinstance(kind.calibration, Polynomial):
        curve = SubElement(parent, "PolynomialCalibrator")
        for power, factor in enumerate(kind.calibration.coefficients):
            SubElement(curve, "Term", coefficient=repr(factor), exponent=str(power))
    elif kind.calibration:
        curve = SubElement(parent, "SplineCalibrator")
        for raw, value in kind.calibration.points:
            SubElement(curve, "SplinePoint", raw=repr(raw), calibrated=repr(value))


def _commands(made: Written, dictionary: Dictionary, fill: Mapping[str, Any]) -> None:
    part = SubElement(made.root, "CommandMetaData")
    types, every = SubElement(part, "ArgumentTypeSet"), SubElement(part, "MetaCommandSet")
    for name, command in dictionary.commands.items():
        entries = attempt(name, _laid_out, made, command, fill)
        if isinstance(entries, Refused):
            made.left_out[name] = str(entries)
        elif own := _own_name(made, "command", name):
            _command(made, types, SubElement(every, "MetaCommand", name=own), command, entries)


@dataclass(frozen=True)
class _Entry:
    """A field of a command where the last ended; without a field that is of no matter."""

    bits: int
    value: int | None = 0  # None: the user's
    flat: Flat | None = None


def _laid_out(made: Written, command: CommandType, fill: Mapping[str, Any]) -> list[_Entry]:
    """A command's entries, each behind the other. Raises Refused where the document cannot say it."""
    if isinstance(command.fields, Refused):
        raise command.fields
    entries, end, made.work.of_packet = list[_Entry](), 0, 0
    for each in command.fields:
        for flat in flat_fields(made.work, each, each):
            gap = flat.gap if flat.at is None else flat.at - end
            if gap < 0:
                raise Refused(f"{flat.name} lies before the end of another field")
            if end + gap + flat.bits > MOST_OCTETS * 8:
                raise Refused(f"{flat.name} lies outside of any packet")
            entries += [_Entry(gap)] if gap else []
            of_user = each.name in command.arguments and each.name not in command.assigned and each.fixed is None
            entries.append(_Entry(flat.bits, None if of_user and flat.name else _fixed(flat, command, fill), flat))
            end += gap + flat.bits
    arguments = [xtce_name(entry.flat.name) for entry in entries if entry.flat and entry.value is None]
    types = [f"{xtce_name(command.name)}_{argument}" for argument in arguments]
    if alike := next((name for name in types if not _is_free(made, "argument", name)), ""):
        raise Refused(f"{alike} is written as another argument is")
    return entries


def _fixed(flat: Flat, command: CommandType, fill: Mapping[str, Any]) -> int:
    """The bits of a field that no user sets."""
    if not isinstance(flat.type, Number):
        raise Refused(f"{flat.name} is always the same, and no number")
    if flat.of.fixed is not None:
        return flat.of.fixed & ((1 << flat.bits) - 1)
    values = {**command.defaults, **fill, **command.assigned}
    if flat.name != flat.of.name and flat.of.name in values:
        raise Refused(f"{flat.of.name} is always the same, and of several parts")
    try:
        return raw_of(flat.type, values.get(flat.name, 0), flat.bits)
    except Refused as why:
        raise Refused(f"{flat.name}: {why}") from None


def _initial(flat: Flat, value: Any) -> str:
    """A default as the document has it. Raises Refused for one that does not fit."""
    kind = flat.type
    if flat.name != flat.of.name:
        raise Refused("it is of several parts")
    if isinstance(kind, Text):
        octets = octets_of(kind, value)
        return octets.hex() if kind.charset is None else xml_text(octets.decode(kind.charset))
    raw_of(kind, value, flat.bits)
    if not kind.labels or value in kind.labels.values():
        return xml_text(str(value))
    return kind.labels[int(value)]


def _command(made: Written, types: Element, element: Element, command: CommandType, laid_out: Sequence[_Entry]) -> None:
    name = element.get("name", "")
    arguments = SubElement(element, "ArgumentList") if any(entry.value is None for entry in laid_out) else None
    entries = SubElement(SubElement(element, "CommandContainer", name=name), "EntryList")
    spare = 0
    for entry in laid_out:
        flat, own = entry.flat, xtce_name(entry.flat.name) if entry.flat else ""
        if flat and arguments is not None and entry.value is None:
            _type(types, "Argument", f"{name}_{own}", flat)
            argument = SubElement(arguments, "Argument", name=own, argumentTypeRef=f"{name}_{own}")
            if flat.of.name in command.defaults:
                initial = attempt(own, _initial, flat, command.defaults[flat.of.name])
                if isinstance(initial, str):
                    argument.set("initialValue", initial)
                else:
                    made.left_out[command.name] = f"the default of {flat.of.name} is left out: {initial}"
            SubElement(entries, "ArgumentRefEntry", argumentRef=own)
        else:
            little = isinstance(entry.flat.type, Number) and entry.flat.type.little if entry.flat else False
            _constant(entries, own or f"spare{spare}", entry.value or 0, entry.bits, little=little)
            spare += not own


def _constant(parent: Element, name: str, value: int, bits: int, *, little: bool) -> None:
    octets = value.to_bytes((bits + 7) // 8, "little" if little and bits % 8 == 0 else "big")
    SubElement(parent, "FixedValueEntry", name=name, binaryValue=octets.hex().upper(), sizeInBits=str(bits))
