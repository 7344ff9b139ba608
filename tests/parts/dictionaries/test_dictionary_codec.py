# SPDX-License-Identifier: MIT
"""Values to octets and back, whatever the format."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtqual.engine.dialogue.sealing import sealed
from rtqual.parts.dictionaries.model import (
    All,
    Array,
    By,
    Coding,
    CommandType,
    Dictionary,
    Field,
    Number,
    Packet,
    Polynomial,
    Spline,
    Struct,
    Text,
    Where,
    number,
)
from rtqual.parts.dictionaries.value_codec import MOST_OCTETS, decode, encode, recognise, written
from rtqual.protocols.dictionary import Refused

WHOLE = (Coding.UNSIGNED, Coding.TWOS, Coding.SIGN, Coding.ONES)


def there_and_back(kind: Number | Text | Array | Struct, value: object, gap: int = 0) -> object:
    little = isinstance(kind, Number) and kind.little
    fields = (Field("before", Number(bits=gap or 1, little=little)), Field("it", kind))
    octets = written(fields, {"before": 0, "it": value})
    return decode(Packet("packet", fields=fields), octets)[1].shown["it"]


@given(st.sampled_from(WHOLE), st.integers(1, 64), st.integers(1, 15), st.data())
def test_whole_numbers_of_any_width_come_back_from_any_bit(
    coding: Coding, bits: int, gap: int, data: st.DataObject
) -> None:
    top = 1 << (bits - 1)
    low, high = {Coding.UNSIGNED: (0, 2 * top - 1), Coding.TWOS: (-top, top - 1)}.get(coding, (1 - top, top - 1))
    value = data.draw(st.integers(low, high))
    assert there_and_back(Number(coding, bits), value, gap) == value
    assert there_and_back(Number(coding, bits, little=True), value, gap) == value
    for beyond in (low - 1, high + 1):
        with pytest.raises(Refused):
            there_and_back(Number(coding, bits), beyond)


def test_little_endian_bits_lie_as_a_compiler_of_x86_lays_them() -> None:
    """struct { unsigned a: 3, b: 12, c: 17; }, which is one little-endian number of 32 bits."""
    fields = tuple(Field(name, Number(bits=bits, little=True)) for name, bits in (("a", 3), ("b", 12), ("c", 17)))
    values = {"a": 5, "b": 0xABC, "c": 0x1ABCD}
    octets = written(fields, values)
    assert octets == struct.pack("<I", 5 | 0xABC << 3 | 0x1ABCD << 15)
    assert decode(Packet("packet", fields=fields), octets)[1].shown == values


@pytest.mark.parametrize(
    ("kind", "value", "octets"),
    [
        (Number(bits=16), 258, "0102"),
        (Number(bits=16, little=True), 258, "0201"),
        (Number(Coding.TWOS), -2, "fe"),
        (Number(Coding.SIGN), -2, "82"),
        (Number(Coding.ONES), -2, "fd"),
        (Number(Coding.IEEE, 32), 1.5, struct.pack(">f", 1.5).hex()),
        (Number(Coding.IEEE, 64, little=True), 1.5, struct.pack("<d", 1.5).hex()),
        (Number(labels={7: "ON"}), "ON", "07"),
        (Number(labels={7: "ON"}), "9", "09"),
        (Number(calibration=Polynomial((10.0, 2.0))), 20, "05"),
        (Text(tag_bits=16), "ab", "00026162"),
        (Text(end=b"\0"), "ab", "616200"),
        (Text(32), "ab", "61620000"),
        (Text(None, None), "0xbeef", "beef"),
        (Array(Number(), (2,)), [1, 2], "0102"),
        (Struct((Field("a", Number()), Field("b", Number(bits=16)))), {"a": 1, "b": 2}, "010002"),
    ],
)
def test_a_value_has_these_octets(kind: Number | Text | Array | Struct, value: object, octets: str) -> None:
    assert written((Field("it", kind),), {"it": value}).hex() == octets


def test_mil_1750a_is_read() -> None:
    """Examples of the standard: 0.5 x 2^127, -1 x 2^0, 0."""
    packet = Packet("packet", fields=(Field("it", Number(Coding.MIL, 32)),))
    for octets, value in (("4000007f", 0.5 * 2.0**127), ("80000000", -1.0), ("00000000", 0.0)):
        assert decode(packet, bytes.fromhex(octets))[1].shown["it"] == value


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Number(bits=8), 256),
        (Number(bits=8), 1.5),
        (Number(bits=8), "many"),
        (Number(bits=8), None),
        (Number(least=2, most=3), 4),
        (Number(labels={1: "ON"}), "OFF"),
        (Number(Coding.IEEE, 24), 1),
        (Number(Coding.IEEE, 32), 1e300),
        (Number(bits=0), 0),
        (Number(calibration=Polynomial((0.0, 0.0, 1.0))), 4),
        (Text(8), "ab"),
        (Text(tag_bits=1), "ab"),
        (Text(end=b"a"), "ab"),
        (Text(None, "ascii"), "ä"),
        (Text(None, None), "abc"),
        (Text(tag_bits=16, most_octets=1), "ab"),
        (Array(Number(), (2,)), [1]),
        (Array(Number(), (2,)), "ab"),
        (Array(Number(), (1 << 20,)), [1]),
        (Struct((Field("a", Number()),)), {}),
        (Struct((Field("a", Number()),)), {"a": 1, "b": 1}),
        (Struct((Field("a", Number()),)), 5),
    ],
)
def test_what_does_not_fit_is_refused_with_the_fields_name(kind: Number | Text | Array | Struct, value: object) -> None:
    with pytest.raises(Refused, match=r"^it: "):
        written((Field("it", kind),), {"it": value})


def test_a_spline_goes_both_ways_where_it_rises() -> None:
    spline = Spline(((0.0, 0.0), (10.0, 100.0), (20.0, 400.0)))
    assert [spline.value(raw) for raw in (5, 15)] == [50.0, 250.0]
    assert [spline.turned(value) for value in (50, 250)] == [5.0, 15.0]
    with pytest.raises(Refused):
        Spline(((0.0, 0.0), (1.0, 5.0), (2.0, 0.0))).turned(1)


def test_sizes_and_counts_are_told_by_other_fields() -> None:
    fields = (
        Field("n", Number()),
        Field("data", Text(By("n", 8), None)),
        Field("pairs", Number(), count=By("n", 1, -1)),
    )
    octets = written(fields, {"n": 3, "data": "aabbcc", "pairs": [1, 2]})
    assert octets.hex() == "03aabbcc0102"
    shown = decode(Packet("packet", fields=fields), octets)[1].shown
    assert (shown["data"], shown["pairs"]) == (b"\xaa\xbb\xcc", [1, 2])
    with pytest.raises(Refused, match=r"data: .* no_such"):
        written((Field("data", Text(By("no_such"))),), {"data": ""})


@pytest.mark.parametrize(("n", "slope"), [(255, 1e9), (255, -1.0), (1, float("nan"))])
def test_a_size_that_no_packet_has_is_refused(n: int, slope: float) -> None:
    fields = (Field("n", Number()), Field("data", Text(By("n", slope), None)))
    with pytest.raises(Refused):
        decode(Packet("packet", fields=fields), bytes([n]) * 8)


def test_the_most_special_packet_is_found_by_labels_members_and_numbers() -> None:
    head = Struct((Field("kind", Number(labels={1: "HK", 2: "EVENT"})), Field("id", Number())))
    root = Packet("root", fields=(Field("head", head),))
    hk = Packet("hk", root, Where("head/kind", "==", "HK"), (Field("volts", Number()),))
    event = Packet("event", root, Where("head/kind", "==", "2"))
    late = Packet("late event", event, Where("head/id", ">=", "7"), (Field("late", Number()),))
    root.children, event.children = [hk, event], [late]
    dictionary = Dictionary({}, {packet.name: packet for packet in (root, hk, event, late)}, (root,))
    for octets, name in (("01005a", "hk"), ("0201", "event"), ("020907", "late event"), ("0300", "root")):
        assert recognise(dictionary, bytes.fromhex(octets))[0] is dictionary.packets[name]
    with pytest.raises(Refused, match="volts: the packet ends"):
        recognise(dictionary, bytes.fromhex("0100"))


def test_a_root_whose_own_condition_fails_is_not_it() -> None:
    roots = tuple(Packet(str(n), where=Where("id", "==", str(n)), fields=(Field("id", Number()),)) for n in (1, 2))
    dictionary = Dictionary({}, {root.name: root for root in roots}, roots)
    assert recognise(dictionary, b"\2")[0].name == "2"
    with pytest.raises(Refused, match="none of 2 packets"):
        recognise(dictionary, b"\3")


def test_a_field_may_stand_at_a_bit_or_be_left_out() -> None:
    fields = (
        Field("which", Number()),
        Field("far", Number(), at=32),
        Field("near", Number(), when=Where("which", "==", "1")),
        Field("spare", Number(bits=4), gap=4, fixed=5),
    )
    assert written(fields, {"which": 0, "far": 255}).hex() == "00000000ff05"
    assert written(fields, {"which": 1, "far": 255, "near": 1}).hex() == "01000000ff0105"


def test_arguments_that_are_set_or_unknown_or_lacking_are_refused() -> None:
    command = CommandType(
        "c", (Field("code", Number()), Field("a", Number())), {"code": Number(), "a": Number()}, {"code": 9}, {}
    )
    assert encode(command, {"a": 1}) == b"\x09\x01"
    for arguments in ({}, {"a": 1, "b": 2}, {"a": 1, "code": 2}):
        with pytest.raises(Refused):
            encode(command, arguments)
    with pytest.raises(Refused, match="by a program"):
        encode(CommandType("c", Refused("by a program")), {})


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Text(10**15), "a"),
        (Text(-8), "a"),
        (Text(tag_bits=-8), "a"),
        (Number(bits=64, calibration=Polynomial((1e308, 1e-308))), -1e308),
    ],
)
def test_a_size_or_calibration_that_cannot_be_is_refused_in_a_line(kind: Number | Text, value: object) -> None:
    with pytest.raises(Refused, match=r"^it: "):
        written((Field("it", kind),), {"it": value})


def test_nothing_takes_memory_without_bound() -> None:
    doubled: Struct | Number = Number()
    for _ in range(30):
        doubled = Struct((Field("a", doubled), Field("b", doubled)))
    nested: Struct | Number = Number()
    for _ in range(40):
        nested = Struct((Field("a", nested),))
    many = Array(Struct(()), (65_536,))
    for kind in (doubled, nested, Array(many, (65_536,)), Array(Struct(()), None)):
        with pytest.raises(Refused):
            decode(Packet("packet", fields=(Field("it", kind),)), bytes(64))
    with pytest.raises(Refused, match="larger than any packet"):
        written((Field("it", Text(None, None)),), {"it": bytes(MOST_OCTETS + 1)})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("0x1F", 31),
        ("012", 12),
        ("1e3", 1000.0),
        ("inf", None),
        ("nan", None),
        ("", None),
        (True, 1),
        (None, None),
    ],
)
def test_numbers_are_read_as_dictionaries_write_them(text: object, value: object) -> None:
    assert number(text) == value


def test_conditions_know_what_must_hold() -> None:
    condition = All((Where("a", "==", "1"), All((Where("b", "==", "2"),)), All((Where("c", "==", "3"),), some=True)))
    assert condition.equalities() == {"a": "1", "b": "2"}


def test_seals_are_put_in_their_order() -> None:
    """By hand: cFE's no-operation, APID 0x06, function code 0: all octets and 0xFF together come to nothing."""
    packet = sealed(bytes.fromhex("1806000000000000"), ["ccsds-sequence", "ccsds-length", "cfe-checksum"], 5)
    assert packet.hex() == "1806c00500010025"
    assert sealed(bytes(8), ["crc16-ccitt"], 0)[4:6] == b"\0\3"
    for octets, seals in ((bytes(8), ["md5"]), (bytes(3), ["ccsds-length"])):
        with pytest.raises(Refused):
            sealed(octets, seals, 0)


def test_the_smallest_space_packet_is_sealed() -> None:
    """A header and an octet; cFE's checksum has its own place behind a function code."""
    assert sealed(bytes(7), ["ccsds-sequence", "ccsds-length"], 5).hex() == "0000" + "c005" + "0000" + "00"
    for octets, name in ((6, "ccsds-length"), (7, "cfe-checksum")):
        with pytest.raises(Refused, match=f"{octets} octets are no packet that could have {name}"):
            sealed(bytes(octets), [name], 0)
