# SPDX-License-Identifier: MIT
"""Any dictionary as XTCE 1.2, for other grounds: what it cannot say is left out, with the reason.

Names of XTCE hold no dots and slashes, so CFE_ES.NOOP is CFE_ES_NOOP there. Arrays and structures become a parameter
for each of their numbers. From the first field without a fixed size on a packet is left out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from rtqual.parts.dictionaries.model import (
    All,
    Array,
    Coding,
    CommandType,
    Dictionary,
    Field,
    Number,
    Packet,
    Polynomial,
    Struct,
    Text,
    Where,
    number,
)
from rtqual.protocols.dictionary import Refused

NAMESPACE = "http://www.omg.org/spec/XTCE/20180204"
_MOST_ELEMENTS = 256  # of an array, each a parameter of its own
_SIGNED = {Coding.TWOS: "twosComplement", Coding.SIGN: "signMagnitude", Coding.ONES: "onesComplement"}


@dataclass(frozen=True)
class Flat:
    """A field of a plain type. `at`: its first bit from the packet's start, where only that tells it; else it lies
    `gap` bits behind the one before."""

    name: str
    type: Number | Text
    at: int | None = None
    gap: int = 0
    fixed: int | None = None


@dataclass
class Written:
    """`left_out`: names of commands and packets, and why; `names`: the dictionary's, as the document has them."""

    root: Element
    left_out: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

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


def _own_name(made: Written, name: str) -> str:
    """A name as it is in the document; empty where another of the dictionary's is written alike there."""
    own = xtce_name(name)
    if own in made.names.values() and made.names.get(name) != own:
        made.left_out[name] = "is written as another name of the dictionary is"
        return ""
    made.names[name] = own
    return own


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
        try:
            equal = list(_equalities(packet.where)) if base else []
        except Refused as why:
            made.left_out[packet.name] = str(why)
            continue
        if not (name := _own_name(made, packet.name)):
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
            _type(types, "Parameter", own, flat.type)
            SubElement(parameters, "Parameter", name=own, parameterTypeRef=own)
            _place(SubElement(entries, "ParameterRefEntry", parameterRef=own), flat)
        if base:
            criteria = SubElement(element, "BaseContainer", containerRef=base)
            compared = SubElement(SubElement(criteria, "RestrictionCriteria"), "ComparisonList") if equal else None
            for where in equal:
                row = SubElement(compared, "Comparison", value=where.value)  # type: ignore[arg-type]
                row.set("parameterRef", _of_parents(where.name, packet.base, alone))
                row.set("useCalibratedValue", "false" if where.raw else "true")
        waiting += [(child, name) for child in reversed(packet.children)]


def _of_parents(name: str, packet: Packet | None, alone: bool) -> str:
    """A parameter by the name of the packet that has it; `alone`: there is one head of all."""
    while packet is not None and not (alone and packet.base is None):
        known = () if isinstance(packet.fields, Refused) else packet.fields
        if any(name == each.name for each in known):
            return f"{xtce_name(packet.name)}_{xtce_name(name)}"
        packet = packet.base
    return xtce_name(name)


def _equalities(where: Any) -> Iterator[Where]:
    """Raises Refused for what is not a list of equalities."""
    if isinstance(where, Where) and where.operator == "==":
        yield where
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
    try:
        for each in packet.fields:
            yield from _flat(each)
    except Refused as why:
        made.left_out[packet.name] = f"{why}; what follows is left out"


def _flat(each: Field, prefix: str = "") -> Iterator[Flat]:
    name = prefix + each.name
    if each.when is not None or each.count is not None:
        raise Refused(f"{name} is there at times only")
    if isinstance(each.type, Number | Text):
        _bits(each.type, name)
        yield Flat(name, each.type, each.at, each.gap, each.fixed)
        return
    if each.at is not None:
        raise Refused(f"{name} has several parts at a place of its own")
    parts = each.type.members if isinstance(each.type, Struct) else _elements(each.type, name)
    gap = each.gap
    for part in parts:
        yield from _flat(Field(part.name, part.type, part.at, part.gap + gap, part.when, part.count), f"{name}_")
        gap = 0


def _elements(array: Array, name: str) -> Sequence[Field]:
    count = 1
    for each in array.counts or (0,):
        count *= each if isinstance(each, int) else 0
    if not 0 < count <= _MOST_ELEMENTS:
        raise Refused(f"{name} has a number of elements that is not fixed, or more than {_MOST_ELEMENTS}")
    return [Field(str(place), array.of) for place in range(count)]


def _bits(kind: Number | Text, name: str) -> int:
    if not isinstance(kind.bits, int):
        raise Refused(f"{name} has no fixed size")
    if isinstance(kind, Number) and kind.coding is Coding.MIL:
        raise Refused(f"{name} is a number of MIL-STD-1750A")
    return kind.bits


def _place(entry: Element, flat: Flat) -> None:
    if flat.at is None and not flat.gap:
        return
    where = "previousEntry" if flat.at is None else "containerStart"
    place = SubElement(entry, "LocationInContainerInBits", referenceLocation=where)
    SubElement(place, "FixedValue").text = str(flat.gap if flat.at is None else flat.at)


def _type(types: Element, of: str, name: str, kind: Number | Text) -> None:
    if isinstance(kind, Text):
        tag, size = ("Binary", "SizeInBits") if kind.charset is None else ("String", "SizeInBits")
        element = SubElement(types, f"{tag}{of}Type", name=name)
        encoding = SubElement(element, f"{tag}DataEncoding")
        held = SubElement(encoding, size) if kind.charset is None else SubElement(SubElement(encoding, size), "Fixed")
        SubElement(held, "FixedValue").text = str(kind.bits)
        if kind.charset is not None:
            encoding.set("encoding", kind.charset.upper())
        return
    floats = kind.coding is Coding.IEEE
    tag = "Enumerated" if kind.labels else "Float" if floats or kind.calibration else "Integer"
    element = SubElement(types, f"{tag}{of}Type", name=name)
    encoding = SubElement(element, "FloatDataEncoding" if floats else "IntegerDataEncoding", sizeInBits=str(kind.bits))
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
        try:
            if isinstance(command.fields, Refused):
                raise command.fields
            flat = [each for given in command.fields for each in _flat(given)]
            fixed = {
                each.name: _fixed(each, command, fill) for each in flat if each.name not in _set_by_user(command, flat)
            }
        except Refused as why:
            made.left_out[name] = str(why)
            continue
        if own := _own_name(made, name):
            _command(types, every, own, flat, fixed)


def _set_by_user(command: CommandType, flat: Sequence[Flat]) -> set[str]:
    """The fields that are arguments."""
    names = [name for name in command.arguments if name not in command.assigned]
    return {
        each.name
        for each in flat
        if each.name
        and each.fixed is None
        and any(each.name == name or each.name.startswith(f"{name}_") for name in names)
    }


def _fixed(each: Flat, command: CommandType, fill: Mapping[str, Any]) -> int:
    value = next(
        (given[each.name] for given in (command.assigned, fill, command.defaults) if each.name in given),
        each.fixed or 0,
    )
    if not isinstance(each.type, Number) or each.type.coding is Coding.IEEE:
        raise Refused(f"{each.name} is always the same, and no whole number")
    labels = {label: raw for raw, label in each.type.labels.items()}
    known = labels.get(value, number(value)) if isinstance(value, str) else value
    if not isinstance(known, int | float):
        raise Refused(f"{each.name} is {value!r:.40}, which is no number")
    return int(known) % (1 << _bits(each.type, each.name))


def _command(types: Element, every: Element, name: str, flat: Sequence[Flat], fixed: Mapping[str, int]) -> None:
    element = SubElement(every, "MetaCommand", name=name)
    own = [each for each in flat if each.name not in fixed]
    arguments = SubElement(element, "ArgumentList") if own else None
    entries = SubElement(SubElement(element, "CommandContainer", name=name), "EntryList")
    spare = 0
    for each in flat:
        if each.gap:
            _constant(entries, f"spare{spare}", 0, each.gap, little=False)
            spare += 1
        if each.name in fixed:
            kind = each.type
            assert isinstance(kind, Number) and isinstance(kind.bits, int), each  # noqa: S101
            _constant(entries, xtce_name(each.name) or f"spare{spare}", fixed[each.name], kind.bits, little=kind.little)
            spare += not each.name
            continue
        argument = xtce_name(each.name)
        _type(types, "Argument", f"{name}_{argument}", each.type)
        if arguments is not None:
            SubElement(arguments, "Argument", name=argument, argumentTypeRef=f"{name}_{argument}")
        SubElement(entries, "ArgumentRefEntry", argumentRef=argument)


def _constant(parent: Element, name: str, value: int, bits: int, *, little: bool) -> None:
    octets = value.to_bytes((bits + 7) // 8, "little" if little and bits % 8 == 0 else "big")
    SubElement(parent, "FixedValueEntry", name=name, binaryValue=octets.hex().upper(), sizeInBits=str(bits))
