# SPDX-License-Identifier: MIT
"""XTCE 1.1, 1.2 and 1.3: containers as packets, and commands with all that they inherit laid in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from rtqual.parts.dictionaries.bounded_files import attempt
from rtqual.parts.dictionaries.model import (
    MOST_DEPTH,
    MOST_FIELDS,
    MOST_PACKET_FIELDS,
    All,
    Array,
    CommandType,
    Condition,
    Dictionary,
    Field,
    Number,
    Packet,
    Type,
    Where,
)
from rtqual.parts.dictionaries.xtce_names import Space, space, tree
from rtqual.parts.dictionaries.xtce_types import Types, dimensions, size
from rtqual.protocols.dictionary import Refused


def read(paths: Sequence[Path]) -> Dictionary:
    """Return what the files of one database hold together. Raises BadInput where one is no XTCE."""
    return _Reader(space([tree(path) for path in paths])).dictionary()


class _Reader:
    def __init__(self, top: Space) -> None:
        self.top, self.types = top, Types()
        self.made: dict[int, Packet] = {}
        self.packets: dict[str, Packet] = {}
        self.held: set[int] = set()  # containers that are parts of others, and no packets
        self.laid_out: dict[int, tuple[Field, ...] | Refused] = {}  # of containers within others
        self.fields = 0

    def dictionary(self) -> Dictionary:
        for home, element in self.top.all("container"):
            if element.tag == "SequenceContainer":
                self._packet(home, element, 0)
        commands: dict[str, CommandType] = {}
        for home, element in self.top.all("command"):
            if element.get("abstract") != "true":
                name = f"{home.path}/{element.get('name')}"
                command = attempt(name, self._command, home, element)
                commands[name] = CommandType(name, command) if isinstance(command, Refused) else command
        tops = {key: p for key, p in self.made.items() if p.base is None and p.name in self.packets}
        whole = [packet for key, packet in tops.items() if key not in self.held]
        roots = sorted(whole or tops.values(), key=lambda packet: -_descendants(packet))
        return Dictionary(commands, self.packets, tuple(roots))

    # --- packets -------------------------------------------------------------------------------------

    def _packet(self, home: Space, element: Element, depth: int) -> Packet:
        key = id(element)
        if key in self.made:
            return self.made[key]
        packet = self.made[key] = Packet(f"{home.path}/{element.get('name')}")
        packet.abstract = element.get("abstract") == "true"
        if element.tag == "SequenceContainer":
            self.packets[packet.name] = packet
        read = attempt(packet.name, self._fill, packet, home, element, depth)
        if isinstance(read, Refused):
            packet.fields = read
        return packet

    def _fill(self, packet: Packet, home: Space, element: Element, depth: int) -> None:
        base = element.find("BaseContainer")
        if base is not None:
            if depth > MOST_DEPTH:
                raise Refused("inherits from too many")
            above = self._packet(*home.find("container", base.get("containerRef")), depth + 1)
            up: Packet | None = above
            while up is not None:
                if up is packet:
                    raise Refused("inherits itself")
                up = up.base
            packet.where = _criteria(base.find("RestrictionCriteria"))
            packet.base = above
            above.children.append(packet)
        packet.fields = tuple(self._fields(home, element, {}, inner=False))

    def _fields(
        self, home: Space, element: Element, arguments: Mapping[str, Type | Refused], *, inner: bool
    ) -> Iterator[Field]:
        """Fields of the entries, at most as many as a packet can have. `inner`: of a container within another."""
        count = 0
        for n, entry in enumerate(element.iterfind("EntryList/*")):
            for field in self._entry(home, entry, n, arguments, inner=inner):
                count += 1
                self.fields += 1
                if count > MOST_PACKET_FIELDS or self.fields > MOST_FIELDS:
                    raise Refused(f"more than {MOST_PACKET_FIELDS} fields, or {MOST_FIELDS} in the whole file")
                yield field

    def _entry(
        self, home: Space, entry: Element, n: int, arguments: Mapping[str, Type | Refused], *, inner: bool
    ) -> Iterator[Field]:
        at, gap = _place(entry, inner=inner)
        included = entry.find("IncludeCondition")
        when = _criteria(included) if included is not None else None
        repeat = entry.find("RepeatEntry")
        count = size(repeat.find("Count")) if repeat is not None else None
        match entry.tag:
            case "ParameterRefEntry" | "ArrayParameterRefEntry":
                owner, parameter = home.find("parameter", entry.get("parameterRef"))
                kind = self.types.get(owner, "type", parameter.get("parameterTypeRef"))
                if isinstance(kind, Array) and entry.find("DimensionList") is not None:
                    kind = Array(kind.of, dimensions(entry))
                yield Field(parameter.get("name", "?"), kind, at, gap, when, count)
            case "ArgumentRefEntry" | "ArrayArgumentRefEntry":
                name = entry.get("argumentRef", "?")
                argument = arguments.get(name, Refused(f"there is no argument {name!r:.80}"))
                if isinstance(argument, Refused):
                    raise argument
                if isinstance(argument, Array) and entry.find("DimensionList") is not None:
                    argument = Array(argument.of, dimensions(entry))
                yield Field(name, argument, at, gap, when, count)
            case "FixedValueEntry":
                digits = entry.get("binaryValue", "")
                bits = Number(bits=int(entry.get("sizeInBits", len(digits) * 4)))
                yield Field(entry.get("name") or f"fixed {n}", bits, at, gap, when, count, int(digits, 16))
            case "ContainerRefEntry":
                if repeat is not None:
                    raise Refused("a container that repeats")
                owner, part = home.find("container", entry.get("containerRef"))
                self.held.add(id(part))
                held = self._chain(owner, part)
                for number, field in enumerate(held):
                    both = All((when, field.when)) if when and field.when else when or field.when
                    first = number == 0
                    yield Field(
                        field.name,
                        field.type,
                        at if first else None,
                        gap * first + field.gap,
                        both,
                        field.count,
                        field.fixed,
                    )
            case _:
                raise Refused(f"an entry of kind {entry.tag!r:.40}")

    def _chain(self, home: Space, element: Element) -> tuple[Field, ...]:
        """Fields of a container within another and of those it is made of, the base's first. Raises Refused."""
        key = id(element)
        if key not in self.laid_out:
            name = f"container {element.get('name', '?'):.80}"
            self.laid_out[key] = Refused(f"{name} contains itself")  # while it is laid out
            self.laid_out[key] = attempt(name, self._laid_out, home, element)
        fields = self.laid_out[key]
        if isinstance(fields, Refused):
            raise fields
        return fields

    def _laid_out(self, home: Space, element: Element) -> tuple[Field, ...]:
        base = element.find("BaseContainer")
        above = self._chain(*home.find("container", base.get("containerRef"))) if base is not None else ()
        return (*above, *self._fields(home, element, {}, inner=True))

    # --- commands ------------------------------------------------------------------------------------

    def _lineage(self, home: Space, element: Element) -> list[tuple[Space, Element]]:
        """The commands that it inherits from and itself, the most general first."""
        chain = [(home, element)]
        while (base := chain[0][1].find("BaseMetaCommand")) is not None:
            if len(chain) > MOST_DEPTH:
                raise Refused("inherits itself")
            chain.insert(0, chain[0][0].find("command", base.get("metaCommandRef")))
        return chain

    def _command(self, home: Space, element: Element) -> CommandType:
        arguments: dict[str, Type | Refused] = {}
        assigned: dict[str, Any] = {}
        defaults: dict[str, Any] = {}
        stages: list[str] = []
        fields: list[Field] = []
        for owner, command in self._lineage(home, element):
            for assignment in command.iterfind("BaseMetaCommand/ArgumentAssignmentList/ArgumentAssignment"):
                assigned[assignment.get("argumentName", "?")] = assignment.get("argumentValue")
            for argument in command.iterfind("ArgumentList/Argument"):
                name = argument.get("name", "?")
                kind = attempt(name, self.types.get, owner, "argument type", argument.get("argumentTypeRef"))
                arguments[name] = kind
                initial = argument.get("initialValue", None if isinstance(kind, Refused) else kind.default)
                if initial is not None:
                    defaults[name] = initial
            stages += [verifier.tag.removesuffix("Verifier") for verifier in command.iterfind("VerifierSet/*")]
            container = command.find("CommandContainer")
            if container is None:
                continue
            base = container.find("BaseContainer")
            if base is not None:
                if not fields:
                    above = owner.find("container", base.get("containerRef"))
                    fields += self._chain(*above)
                    assigned |= self._equalities(*above)
                # The values of header fields are written as what tells this command from others.
                assigned |= _criteria(base.find("RestrictionCriteria")).equalities()
            fields += self._fields(owner, container, arguments, inner=False)
        arguments |= {field.name: field.type for field in fields if field.name in arguments}  # sized by their entry
        for field in fields:
            if field.fixed is None and field.name not in arguments and field.type.default is not None:
                defaults.setdefault(field.name, field.type.default)
        return CommandType(
            f"{home.path}/{element.get('name')}", tuple(fields), arguments, assigned, defaults, tuple(stages)
        )

    def _equalities(self, home: Space, element: Element) -> dict[str, str]:
        """What the containers that this one is made of tell it by; they do not hold one another."""
        base = element.find("BaseContainer")
        if base is None:
            return {}
        above = self._equalities(*home.find("container", base.get("containerRef")))
        return above | _criteria(base.find("RestrictionCriteria")).equalities()


def _descendants(packet: Packet) -> int:
    """How many packets are below it, its size as a header."""
    total, below = 0, list(packet.children)
    while below:
        total += 1
        below += below.pop().children
    return total


def _place(entry: Element, *, inner: bool) -> tuple[int | None, int]:
    """The bit from the container's start, or the gap after the entry before it."""
    place = entry.find("LocationInContainerInBits")
    if place is None:
        return None, 0
    bit, reference = size(place), place.get("referenceLocation", "previousEntry")
    if not isinstance(bit, int):
        raise Refused("a place that another field gives")
    if reference in ("containerEnd", "nextEntry"):
        raise Refused("a place from the end")
    if reference == "containerStart":
        if inner:
            raise Refused("a place in a container within another")
        return bit, 0
    return None, bit


def _criteria(element: Element | None, some: bool = False) -> All:
    """Conditions as the model's. Raises Refused for a program, an older value, the packet that follows."""
    if element is None:
        return All()
    parts: list[Condition] = []
    for part in element:
        match part.tag:
            case "Comparison":
                if part.get("instance", "0") != "0":
                    raise Refused("a comparison with an older value")
                raw = part.get("useCalibratedValue") == "false"
                operator = part.get("comparisonOperator", "==")
                parts.append(Where(_named(part), operator, part.get("value", ""), raw))
            case "ComparisonList" | "BooleanExpression" | "ANDedConditions":
                parts.append(_criteria(part))
            case "ORedConditions":
                parts.append(_criteria(part, some=True))
            case "Condition":
                references = [child for child in part if child.tag in ("ParameterInstanceRef", "ArgumentInstanceRef")]
                if len(references) != 1 or part.find("Value") is None:
                    raise Refused("a comparison of two fields")
                raw = references[0].get("useCalibratedValue") == "false"
                operator = (part.findtext("ComparisonOperator") or "==").strip()
                parts.append(Where(_named(references[0]), operator, part.findtext("Value") or "", raw))
            case "NextContainer":
                raise Refused("told apart by the packet that follows")
            case "CustomAlgorithm" | "InputAlgorithm":
                raise Refused("told apart by a program")
            case _:
                raise Refused(f"told apart by {part.tag!r:.40}")
    return All(tuple(parts), some)


def _named(element: Element) -> str:
    """A parameter, or PARAMETER/MEMBER of a structure; a path before it is left off."""
    reference = (element.get("parameterRef") or element.get("argumentRef") or "").replace(".", "/")
    return "/".join(reference.split("/")[-2:])
