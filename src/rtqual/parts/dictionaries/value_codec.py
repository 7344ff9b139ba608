# SPDX-License-Identifier: MIT
"""Values to octets and back, by the model's types. What does not fit is `Refused`, in a line that names the field."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from rtqual.parts.dictionaries.bounded_files import FAULTS
from rtqual.parts.dictionaries.model import (
    MOST_COUNT,
    MOST_DEPTH,
    Array,
    By,
    Coding,
    CommandType,
    Dictionary,
    Field,
    Number,
    Packet,
    Size,
    Struct,
    Text,
    Type,
    Values,
    number,
)
from rtqual.protocols.dictionary import Refused

MOST_OCTETS = 65_542  # of a space packet
MOST_VALUES = 200_000  # read or written in one packet
_ORDERS: Mapping[bool, Literal["big", "little"]] = {False: "big", True: "little"}
_FLOATS = {16: ">e", 32: ">f", 64: ">d"}


def encode(command: CommandType, arguments: Mapping[str, Any], fill: Mapping[str, Any] | None = None) -> bytes:
    """Return the command's octets. `fill`: header fields that no command sets, in place of its defaults. Raises
    Refused."""
    if isinstance(command.fields, Refused):
        raise command.fields
    for name in arguments:
        if name not in command.arguments or name in command.assigned:
            known = ", ".join(name for name in command.arguments if name not in command.assigned)
            raise Refused(f"there is no argument {name}; there is {known or 'none'}")
    for argument in command.arguments.values():
        if isinstance(argument, Refused):
            raise argument
    return written(command.fields, given(command, arguments, fill))


def given(command: CommandType, arguments: Mapping[str, Any], fill: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the values of a command's fields by name."""
    return dict(command.defaults) | dict(fill or {}) | dict(arguments) | dict(command.assigned)


def fillable(command: CommandType) -> set[str]:
    """The names of the header fields that a command leaves to be filled."""
    fields = [] if isinstance(command.fields, Refused) else command.fields
    return {field.name for field in fields if field.fixed is None} - {*command.assigned} - {*command.arguments}


def written(fields: Sequence[Field], values: Mapping[str, Any]) -> bytes:
    """Return the octets of fields with these values. Raises Refused where one lacks or does not fit."""
    out, known = _Bits(bytearray()), Values(dict(values))
    for field in fields:
        if field.when and not field.when.holds(known):
            continue
        with _naming(field.name):
            out.go(field)
            if field.fixed is not None:
                if not isinstance(field.type, Number):
                    raise Refused("a fixed value that is no number")
                out.put(field.fixed, _size(field.type.bits, known))
                continue
            if field.name not in known.shown:
                raise Refused("no value is given")
            value = known.shown[field.name]
            for part in [value] if field.count is None else _listed(value, _size(field.count, known)):
                _write(field.type, part, out, known, 0)
            if isinstance(field.type, Number):
                _note_raw(field, value, known)
    return bytes(out.octets)


def decode(packet: Packet, octets: bytes) -> tuple[Packet, Values]:
    """Return the most special packet below `packet` that fits, with its values. Raises Refused."""
    source, values = _Bits(bytearray(octets)), Values()
    while True:
        if isinstance(packet.fields, Refused):
            raise packet.fields
        for field in packet.fields:
            if field.when and not field.when.holds(values):
                continue
            with _naming(field.name):
                source.go(field)
                _take(field, source, values)
        child = next((child for child in packet.children if child.where.holds(values)), None)
        if child is None:
            values.bits = source.at
            return packet, values
        packet = child


def recognise(dictionary: Dictionary, octets: bytes, roots: Sequence[Packet] | None = None) -> tuple[Packet, Values]:
    """Return the packet of the dictionary that these octets are, with its values; `roots`: in place of its own. Raises
    Refused where none fits."""
    first: Refused | None = None
    for root in dictionary.roots if roots is None else roots:
        try:
            packet, values = decode(root, octets)
        except Refused as why:
            first = first or why
            continue
        if not root.where.holds(values):
            continue
        if not packet.abstract:
            return packet, values
        first = first or Refused(f"no report of the dictionary fits ({_said(packet, values.shown)})")
    raise first or Refused(f"none of {len(dictionary.packets)} packets fits")


def _said(packet: Packet, values: Mapping[str, Any]) -> str:
    """What is known of a packet that is none: the first numbers of its head."""
    numbers = [f"{name} {value}" for name, value in values.items() if isinstance(value, int | str)]
    return f"{packet.name}: {', '.join(numbers[:8])}"[:200]


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Put the field's name before what is refused, as is what cannot be computed."""
    try:
        yield
    except Refused as why:
        raise Refused(f"{name}: {why}") from None
    except FAULTS as error:  # a calibration beyond all numbers, a size that is none
        raise Refused(f"{name}: {' '.join(str(error).split()):.100}") from None


class _Bits:
    """Octets that are written or read at any bit."""

    def __init__(self, octets: bytearray) -> None:
        self.octets, self.size, self.at, self.work = octets, len(octets) * 8, 0, 0

    def go(self, field: Field) -> None:
        self.at = field.at if field.at is not None else self.at + field.gap
        if self.at < 0 or self.at > MOST_OCTETS * 8:
            raise Refused("lies outside of any packet")

    def count(self) -> None:
        self.work += 1
        if self.work > MOST_VALUES:
            raise Refused(f"more than {MOST_VALUES} values")

    def put(self, raw: int, bits: int, *, little: bool = False) -> None:
        end = self.at + bits
        if bits < 0 or end > MOST_OCTETS * 8:
            raise Refused("is larger than any packet")
        first, last, shift = self._place(end, little=little)
        if last > len(self.octets):
            self.octets.extend(bytes(last - len(self.octets)))
        order, mask = _ORDERS[little], (1 << bits) - 1
        whole = int.from_bytes(self.octets[first:last], order) & ~(mask << shift) | (raw & mask) << shift
        self.octets[first:last] = whole.to_bytes(last - first, order)
        self.at = end

    def get(self, bits: int, *, little: bool = False) -> int:
        end = self.at + bits
        if bits < 0 or end > self.size:
            raise Refused("the packet ends before it")
        first, last, shift = self._place(end, little=little)
        whole = int.from_bytes(self.octets[first:last], _ORDERS[little])
        self.at = end
        return whole >> shift & ((1 << bits) - 1)

    def _place(self, end: int, *, little: bool) -> tuple[int, int, int]:
        """The octets from here to `end`, and how far its last bit is from theirs. Little-endian bits are counted from
        each octet's lowest, as the compilers of x86 lay bit-fields and Yamcs reads them."""
        first, last = self.at // 8, (end + 7) // 8
        return first, last, self.at - first * 8 if little else last * 8 - end


def _size(size: Size, values: Values) -> int:
    told: float = size if isinstance(size, int) else _told(size, values)
    if not 0 <= told <= MOST_OCTETS * 8:  # nor is NaN
        by = "" if isinstance(size, int) else f" told by {size.name}"
        raise Refused(f"a size of {told}{by}")
    return int(told)


def _told(size: By, values: Values) -> float:
    base = values.before(size.name)
    if not isinstance(base, int | float):
        raise Refused(f"its size is given by {size.name}, which is not there")
    return base * size.slope + size.intercept


def _counts(array: Array, values: Values) -> int:
    total = 1
    for count in array.counts or ():
        total *= _size(count, values)
    if not 0 <= total <= MOST_COUNT:
        raise Refused(f"{total} values")
    return total


def _listed(value: Any, count: int) -> Sequence[Any]:
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise Refused("is a list of values")
    if len(value) != count:
        raise Refused(f"{len(value)} values, not {count}")
    return value


def _note_raw(field: Field, value: Any, values: Values) -> None:
    """What conditions and sizes after it ask for: a label's number."""
    if isinstance(field.type, Number) and isinstance(value, str):
        raw = next((raw for raw, label in field.type.labels.items() if label == value), number(value))
        if raw is not None:
            values.raw[field.name] = raw


# --- reading -----------------------------------------------------------------------------------------


def _take(field: Field, source: _Bits, values: Values) -> None:
    if field.count is not None:
        count = _size(field.count, values)
        if count > MOST_COUNT:
            raise Refused(f"{count} values")
        values.shown[field.name] = [_read(field.type, source, values, 0)[0] for _ in range(count)]
        return
    shown, raw = _read(field.type, source, values, 0)
    values.shown[field.name], values.raw[field.name] = shown, raw
    if isinstance(field.type, Struct):  # conditions name members
        values.shown |= {f"{field.name}/{member}": value for member, value in shown.items()}
        values.raw |= {f"{field.name}/{member}": value for member, value in raw.items()}


def _read(kind: Type, source: _Bits, values: Values, depth: int) -> tuple[Any, Any]:
    """Return the value as it is shown, and as it was."""
    source.count()
    if depth > MOST_DEPTH:
        raise Refused("is nested too deep")
    match kind:
        case Array():
            if kind.counts is None:
                rest: list[Any] = []
                while source.at < source.size and len(rest) < MOST_COUNT:
                    before = source.at
                    rest.append(_read(kind.of, source, values, depth + 1)[0])
                    if source.at == before:
                        raise Refused("an array of nothing takes the rest")
                return rest, rest
            listed = [_read(kind.of, source, values, depth + 1)[0] for _ in range(_counts(kind, values))]
            return listed, listed
        case Struct():
            inner = Values(dict(values.shown), dict(values.raw))
            shown, raw = {}, {}
            for member in kind.members:
                with _naming(member.name):
                    shown[member.name], raw[member.name] = _read(member.type, source, inner, depth + 1)
                inner.shown[member.name], inner.raw[member.name] = shown[member.name], raw[member.name]
            return shown, raw
        case Text():
            octets = _octets(kind, source, values)
            if kind.charset is None:
                return octets, octets
            text = octets.split(kind.end or b"\0")[0].decode(kind.charset, "replace")
            return text, text
    bits = _number_bits(kind, values)
    return _number_read(kind, source.get(bits, little=kind.little), bits)


def _octets(kind: Text, source: _Bits, values: Values) -> bytes:
    if kind.tag_bits:
        size = source.get(kind.tag_bits) * 8
    elif kind.bits is not None:
        size = _size(kind.bits, values)
    elif kind.end is not None:
        data = bytearray()
        while not data.endswith(kind.end):
            data.append(source.get(8))
        return bytes(data[: -len(kind.end)])
    else:
        size = source.size - source.at
    return source.get(size).to_bytes((size + 7) // 8, "big")


def fixed_bits(kind: Number | Text) -> int:
    """Return the size of a type that has the same in each packet. Raises Refused where it has not, or none can be."""
    if not isinstance(kind.bits, int):
        raise Refused("no fixed size")
    if isinstance(kind, Text):
        return _size(kind.bits, Values())
    bits = _number_bits(kind, Values())
    if kind.coding is Coding.IEEE and bits not in _FLOATS:
        raise Refused(f"an IEEE number of {bits} bits")
    return bits


def _number_bits(kind: Number, values: Values) -> int:
    bits = _size(kind.bits, values)
    if not 1 <= bits <= 1024:
        raise Refused(f"a number of {bits} bits")
    return bits


def _number_read(kind: Number, raw: int, bits: int) -> tuple[Any, Any]:
    value: int | float = raw
    negative, below = raw >> (bits - 1), (1 << (bits - 1)) - 1
    match kind.coding:
        case Coding.TWOS if negative:
            value = raw - (1 << bits)
        case Coding.SIGN if negative:
            value = -(raw & below)
        case Coding.ONES if negative:
            value = -(~raw & below)
        case Coding.IEEE:
            if bits not in _FLOATS:
                raise Refused(f"an IEEE number of {bits} bits")
            value = struct.unpack(_FLOATS[bits], raw.to_bytes(bits // 8, "big"))[0]
        case Coding.MIL:
            value = _from_mil(raw, bits)
    if kind.labels:
        return kind.labels.get(int(value), value) if number(value) is not None else value, value
    if kind.calibration:
        try:
            return kind.calibration.value(value), value
        except OverflowError:
            raise Refused(f"{value} cannot be calibrated") from None
    return value, value


def _from_mil(raw: int, bits: int) -> float:
    """MIL-STD-1750A: a fraction of two's complement, and the power of two after it."""
    if bits != 32:
        raise Refused(f"a MIL-STD-1750A number of {bits} bits")
    fraction, power = raw >> 8, raw & 0xFF
    return (
        (fraction - (1 << 24) if fraction >> 23 else fraction)
        / (1 << 23)
        * 2.0 ** (power - 256 if power > 127 else power)
    )


# --- writing -----------------------------------------------------------------------------------------


def _write(kind: Type, value: Any, out: _Bits, values: Values, depth: int) -> None:
    out.count()
    if depth > MOST_DEPTH:
        raise Refused("is nested too deep")
    match kind:
        case Array():
            count = _counts(kind, values) if kind.counts is not None else len(value) if isinstance(value, list) else 0
            for part in _listed(value, count):
                _write(kind.of, part, out, values, depth + 1)
        case Struct():
            if not isinstance(value, Mapping):
                raise Refused(f"is a table of {', '.join(member.name for member in kind.members)}")
            inner = Values(dict(values.shown) | dict(value), dict(values.raw))
            if unknown := next((name for name in value if name not in {member.name for member in kind.members}), None):
                raise Refused(f"there is no member {unknown}")
            for member in kind.members:
                with _naming(member.name):
                    if member.name not in value:
                        raise Refused("no value is given")
                    _write(member.type, value[member.name], out, inner, depth + 1)
        case Text():
            _write_text(kind, value, out, values)
        case Number():
            bits = _number_bits(kind, values)
            out.put(raw_of(kind, value, bits), bits, little=kind.little)


def _write_text(kind: Text, value: Any, out: _Bits, values: Values) -> None:
    data = octets_of(kind, value)
    if kind.most_octets is not None and len(data) > kind.most_octets:
        raise Refused(f"{len(data)} octets, {kind.most_octets} at most")
    if kind.tag_bits:
        if len(data) >> kind.tag_bits:
            raise Refused(f"{len(data)} octets, which its size of {kind.tag_bits} bits cannot hold")
        out.put(len(data), kind.tag_bits)
    elif kind.bits is not None:
        size = _size(kind.bits, values)
        if len(data) > size // 8:
            raise Refused(f"{len(data)} octets, {size // 8} at most")
        data = data.ljust(size // 8, b"\0")
    elif kind.end is not None:
        if kind.end in data:
            raise Refused(f"holds its own end, {kind.end.hex()}")
        data += kind.end
    out.put(int.from_bytes(data, "big"), len(data) * 8)


def octets_of(kind: Text, value: Any) -> bytes:
    try:
        if isinstance(value, str):
            return value.encode(kind.charset) if kind.charset else bytes.fromhex(value.removeprefix("0x"))
        if isinstance(value, bytes | bytearray):
            return bytes(value)
    except ValueError:
        pass
    what = "octets, written as hexadecimal digits" if kind.charset is None else f"text in {kind.charset}"
    raise Refused(f"{value!r:.60} is no {what}")


def raw_of(kind: Number, value: Any, bits: int) -> int:
    """Return the number's bits. Raises Refused where it does not fit."""
    if kind.labels and isinstance(value, str):
        label = next((raw for raw, label in kind.labels.items() if label == value), number(value))
        if label is None:
            raise Refused(f"{value!r:.60} is none of {', '.join(list(kind.labels.values())[:9])}")
        value = label
    shown = number(value)
    if shown is None:
        raise Refused(f"{value!r:.60} is no number")
    low, high = kind.least, kind.most
    if (low is not None and shown < low) or (high is not None and shown > high):
        raise Refused(f"{shown} is not {'' if low is None else low} to {'' if high is None else high}")
    exact = kind.calibration.turned(shown) if kind.calibration else shown
    if kind.coding == Coding.IEEE:
        if bits not in _FLOATS:
            raise Refused(f"an IEEE number of {bits} bits")
        try:
            return int.from_bytes(struct.pack(_FLOATS[bits], exact), "big")
        except OverflowError:
            raise Refused(f"{shown} in {bits} bits") from None
    if kind.coding == Coding.MIL:
        raise Refused("a MIL-STD-1750A number is read only")
    if kind.calibration is None and exact != int(exact):
        raise Refused(f"{shown} is no whole number")
    whole = round(exact)
    top = 1 << (bits - 1)
    least, most = {
        Coding.UNSIGNED: (0, 2 * top - 1),
        Coding.TWOS: (-top, top - 1),
    }.get(kind.coding, (1 - top, top - 1))
    if not least <= whole <= most:
        raise Refused(f"{shown} is not {least} to {most}, which {bits} bits hold")
    if whole >= 0 or kind.coding == Coding.TWOS:
        return whole & (2 * top - 1)
    return top | -whole if kind.coding == Coding.SIGN else ~-whole & (2 * top - 1)
