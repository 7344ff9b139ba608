# SPDX-License-Identifier: MIT
"""Device trees as the format's specification has them: a small one written, and one read by its tokens."""

import struct

Node = dict[str, "bytes | Node"]  # properties and nodes by their names


def write(root: Node) -> bytes:
    """Version 17, with one reserved region."""
    names: list[str] = []
    structure = _node("", root, names) + struct.pack(">I", 9)
    strings = b"".join(name.encode() + b"\0" for name in names)
    reserved = struct.pack(">4Q", 0x1000, 0x2000, 0, 0)
    at = 40 + len(reserved)
    size = at + len(structure) + len(strings)
    head = (0xD00DFEED, size, at, at + len(structure), 40, 17, 16, 0, len(strings), len(structure))
    return struct.pack(">10I", *head) + reserved + structure + strings


def _node(name: str, node: Node, names: list[str]) -> bytes:
    made = struct.pack(">I", 1) + _padded(name.encode() + b"\0")
    for key, value in node.items():
        if isinstance(value, bytes):
            at = sum(len(known) + 1 for known in names)
            names.append(key)
            made += struct.pack(">3I", 3, len(value), at) + _padded(value)
    for key, value in node.items():
        if not isinstance(value, bytes):
            made += _node(key, value, names)
    return made + struct.pack(">I", 2)


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 4)


def read(tree: bytes) -> Node:
    """Its root; what is behind the end of a block is not looked at."""
    magic, size, structure, strings, _, version, _, _, strings_b, structure_b = struct.unpack_from(">10I", tree)
    assert (magic, version, size) == (0xD00DFEED, 17, len(tree))
    names, stack, at = tree[strings : strings + strings_b], [Node()], structure
    while at < structure + structure_b:
        (word,) = struct.unpack_from(">I", tree, at)
        at += 4
        if word == 1:
            end = tree.index(b"\0", at)
            node = Node()
            stack[-1][tree[at:end].decode()] = node
            stack.append(node)
            at = -(-(end + 1) // 4) * 4
        elif word == 2:
            stack.pop()
        elif word == 3:
            length, name = struct.unpack_from(">2I", tree, at)
            stack[-1][names[name : names.index(b"\0", name)].decode()] = tree[at + 8 : at + 8 + length]
            at = -(-(at + 8 + length) // 4) * 4
        else:
            break
    (root,) = stack[0].values()
    assert word == 9 and len(stack) == 1 and isinstance(root, dict)
    return root
