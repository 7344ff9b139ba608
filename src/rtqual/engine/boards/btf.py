# SPDX-License-Identifier: MIT
"""Where the members of a kernel's structures lie, from the kernel's own BTF: no debug package, no guess.

BTF is a part of the unpacked image of a kernel built with CONFIG_DEBUG_INFO_BTF
(Documentation/bpf/btf.rst of Linux).
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_MAGIC = b"\x9f\xeb\x01\x00\x18\x00\x00\x00"  # version 1, a header of 24 bytes
_STRUCT, _UNION = 4, 5
_NAMING = {8, 9, 10, 11, 18}  # typedef, volatile, const, restrict, type tag: they stand for another type
# Bytes behind a type's own twelve: the same for all of a kind, and so many for each member.
_FIXED = {1: 4, 3: 12, 14: 4, 17: 4}
_EACH = {4: 12, 5: 12, 6: 8, 13: 8, 15: 12, 19: 12}
_KINDS = 20
_HEADER = struct.Struct("<HBBIIIII")
_TYPE = struct.Struct("<III")


@dataclass(frozen=True)
class _Type:
    kind: int
    name_at: int
    members: int
    has_bitfields: bool
    size: int  # or another type's number
    begin: int


class Btf:
    """The structures of a kernel."""

    def __init__(self, image: bytes) -> None:
        """Raises ValueError where the image holds no BTF."""
        at = image.find(_MAGIC)
        while at >= 0:
            if self._read(image[at:]):
                return
            at = image.find(_MAGIC, at + 1)
        raise ValueError("its kernel holds no BTF: build it with CONFIG_DEBUG_INFO_BTF")

    def _read(self, data: bytes) -> bool:
        if len(data) < _HEADER.size:
            return False
        *_, header, type_at, type_bytes, text_at, text_bytes = _HEADER.unpack_from(data)
        begin, end = header + type_at, header + type_at + type_bytes
        text = header + text_at
        if max(end, text + text_bytes) > len(data) or not type_bytes or data[text : text + 1] != b"\0":
            return False
        self._data, self._text = data, data[text : text + text_bytes]
        self._types = [_Type(0, 0, 0, False, 0, 0)]
        at = begin
        while at + _TYPE.size <= end:
            name_at, info, size = _TYPE.unpack_from(data, at)
            kind, members = info >> 24 & 31, info & 0xFFFF
            if kind >= _KINDS:
                return False
            at += _TYPE.size
            self._types.append(_Type(kind, name_at, members, bool(info >> 31), size, at))
            at += _FIXED.get(kind, 0) + _EACH.get(kind, 0) * members
        self._named = {self._name(kind.name_at): kind for kind in reversed(self._types) if kind.kind == _STRUCT}
        return bool(at == end)

    def size(self, structure: str) -> int:
        """Of a structure, in bytes. Raises ValueError where there is none of that name."""
        return self._structure(structure).size

    def offset(self, structure: str, member: str) -> int:
        """Of a member, in bytes; 'a.b' goes into members that are structures. Raises ValueError where there is none."""
        found = self._find(self._structure(structure), member.split("."))
        if found is None:
            raise ValueError(f"its kernel's {structure} has no {member}")
        return found

    def _structure(self, name: str) -> _Type:
        if name not in self._named:
            raise ValueError(f"its kernel has no structure {name}")
        return self._named[name]

    def _find(self, within: _Type, path: list[str]) -> int | None:
        for name, number, offset in self._members(within):
            inner = self._real(number)
            if name == path[0]:
                further = self._find(inner, path[1:]) if path[1:] else 0
                return None if further is None else offset + further
            if not name and inner.kind in (_STRUCT, _UNION):
                further = self._find(inner, path)
                if further is not None:
                    return offset + further
        return None

    def _members(self, of: _Type) -> Iterator[tuple[str, int, int]]:
        """Name, type and offset in bytes."""
        for number in range(of.members):
            name_at, kind, bits = _TYPE.unpack_from(self._data, of.begin + 12 * number)
            yield self._name(name_at), kind, (bits & 0xFFFFFF if of.has_bitfields else bits) // 8

    def _real(self, number: int) -> _Type:
        for _ in range(64):  # a damaged one may go round
            if not 0 <= number < len(self._types):
                raise ValueError("its kernel's BTF is damaged")
            if self._types[number].kind not in _NAMING:
                return self._types[number]
            number = self._types[number].size
        raise ValueError("its kernel's BTF is damaged")

    def _name(self, at: int) -> str:
        end = self._text.find(b"\0", at)
        return self._text[at:end].decode("ascii", "replace")
