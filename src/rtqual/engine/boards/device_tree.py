# SPDX-License-Identifier: MIT
"""A flattened device tree with entropy for the kernel's random generator, as a Raspberry Pi's firmware adds it.

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
