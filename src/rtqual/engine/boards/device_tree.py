# SPDX-License-Identifier: MIT
"""A flattened device tree: what it has off; and with entropy for the kernel's random generator, as a Raspberry Pi's
firmware adds it.

Without it a kernel on QEMU's Raspberry Pi has none, and makes each random number anew. The format:
devicetree.org, "Flattened Devicetree (DTB) Format".
"""

import hashlib
import struct
from collections.abc import Iterator

from rtqual.base.errors import BadInput

_MAGIC, _HEADER, _VERSION = 0xD00DFEED, struct.Struct(">10I"), 17
_BEGIN, _END, _PROPERTY, _NOTHING, _LAST = 1, 2, 3, 4, 9
_WORD = struct.Struct(">I")
_NAME = "rng-seed"
_SEED = hashlib.sha512(b"rtqual").digest()  # the same in each run: in a guest nothing is secret


def with_seed(tree: bytes) -> bytes:
    """The tree with `rng-seed` in its node /chosen. Raises BadInput where it is no device tree, or has no such node."""
    try:
        fields = _HEADER.unpack_from(tree)
        if fields[0] != _MAGIC or fields[5] < _VERSION:
            raise BadInput("it is no device tree of version 17")
        size, structure, strings, reserved = fields[1:5]
        strings_b, structure_b = fields[8:10]
        nodes, names = tree[structure : structure + structure_b], tree[strings : strings + strings_b]
        at = next((at for at, path in _nodes(nodes) if path == ["", "chosen"]), None)
        kept = tree[reserved : min(place for place in (structure, strings, size) if place > reserved)]
    except (struct.error, ValueError, IndexError):
        raise BadInput("it is a damaged device tree") from None
    if at is None:
        raise BadInput("its device tree has no node /chosen")
    added = struct.pack(">3I", _PROPERTY, len(_SEED), len(names)) + _SEED
    nodes = nodes[:at] + added + nodes[at:]
    names += _NAME.encode() + b"\0"
    first = _HEADER.size + len(kept)
    header = (_MAGIC, first + len(nodes) + len(names), first, first + len(nodes), _HEADER.size, *fields[5:8])
    return _HEADER.pack(*header, len(names), len(nodes)) + kept + nodes + names


def has_off(tree: bytes, kind: str) -> bool:
    """Whether all of the chip's controllers of a kind ("spi") are disabled. False where there are none, or it is no
    device tree."""
    try:
        fields = _HEADER.unpack_from(tree)
        structure, strings = fields[2:4]
        nodes = tree[structure : structure + fields[9]]
        found = [
            dict(_properties(nodes, tree[strings : strings + fields[8]], at)).get("status", b"okay\0")
            for at, path in _nodes(nodes)
            if path[:2] == ["", "soc"] and len(path) == 3 and path[2].startswith(f"{kind}@")
        ]
    except (struct.error, ValueError, IndexError):
        return False
    return bool(found) and all(status == b"disabled\0" for status in found)


def _properties(nodes: bytes, names: bytes, at: int) -> Iterator[tuple[str, bytes]]:
    """Of the node whose properties begin there."""
    while (word := _WORD.unpack_from(nodes, at)[0]) in (_PROPERTY, _NOTHING):
        at += _WORD.size
        if word == _PROPERTY:
            size, name = struct.unpack_from(">2I", nodes, at)
            at += 2 * _WORD.size
            yield names[name : names.index(b"\0", name)].decode("ascii"), nodes[at : at + size]
            at = _aligned(at + size)


def _nodes(nodes: bytes) -> Iterator[tuple[int, list[str]]]:
    """Where the properties of each begin, and its path."""
    at, path = 0, []
    while at < len(nodes):
        (word,) = _WORD.unpack_from(nodes, at)
        at += _WORD.size
        if word == _BEGIN:
            end = nodes.index(b"\0", at)
            path.append(nodes[at:end].decode("ascii"))
            at = _aligned(end + 1)
            yield at, path
        elif word == _END:
            path.pop()
        elif word == _PROPERTY:
            (size,) = _WORD.unpack_from(nodes, at)
            at = _aligned(at + 2 * _WORD.size + size)
        elif word == _LAST:
            return
        elif word != _NOTHING:
            raise ValueError(word)


def _aligned(at: int) -> int:
    return -(-at // _WORD.size) * _WORD.size
