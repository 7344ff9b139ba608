# SPDX-License-Identifier: MIT
"""Mutations of inputs: of text and bytes line by line, of JSON value by value."""

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

ODD = (
    *("10000000000000000000000", "-5", "1.5", "1e9", "NaN", "Infinity", "0x10", "", "\u0663"),
    "18446744073709551615",
    *("9007199254740993", "\x00", "\x1b[2J", "\u202e", "\ufeff", "\r", "}", "{", "<a>", "&lt;", ": ", "- ", "#"),
    *("*a", "&a"),
)  # fmt: skip
Mutation = Callable[[random.Random, list[bytes], list[bytes]], None]


def _number(rng: random.Random, lines: list[bytes], _: list[bytes]) -> None:
    """Another number in the place of one."""
    at = rng.randrange(len(lines))
    found = list(re.finditer(rb"\d+", lines[at]))
    if found:
        one = rng.choice(found)
        new = rng.choice((rng.choice(ODD).encode(), str(rng.randrange(10 ** rng.randrange(1, 12))).encode()))
        lines[at] = lines[at][: one.start()] + new + lines[at][one.end() :]


def _digit(rng: random.Random, lines: list[bytes], _: list[bytes]) -> None:
    at = rng.randrange(len(lines))
    found = [place for place, byte in enumerate(lines[at]) if chr(byte).isdigit()]
    if found:
        place = rng.choice(found)
        lines[at] = lines[at][:place] + str(rng.randrange(10)).encode() + lines[at][place + 1 :]


def _trailing(rng: random.Random, lines: list[bytes], _: list[bytes]) -> None:
    at = rng.randrange(len(lines))
    body = lines[at].rstrip(b"\r\n")
    lines[at] = body + rng.choice((b" 17", b" junk", b"x", b"\t000001", b" # 5", b",")) + lines[at][len(body) :]


def _insert(rng: random.Random, lines: list[bytes], _: list[bytes]) -> None:
    at = rng.randrange(len(lines))
    place = rng.randrange(len(lines[at]) + 1)
    new = rng.choice((rng.choice(ODD).encode(), rng.randbytes(rng.randrange(1, 6))))
    lines[at] = lines[at][:place] + new + lines[at][place:]


def _delete(rng: random.Random, lines: list[bytes], _: list[bytes]) -> None:
    at = rng.randrange(len(lines))
    start = rng.randrange(len(lines[at]) + 1)
    lines[at] = lines[at][:start] + lines[at][start + rng.randrange(1, 12) :]


def _drop_line(rng: random.Random, lines: list[bytes], _: list[bytes]) -> None:
    del lines[rng.randrange(len(lines))]


def _repeat_line(rng: random.Random, lines: list[bytes], _: list[bytes]) -> None:
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))


def _swap(rng: random.Random, lines: list[bytes], _: list[bytes]) -> None:
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]


def _cut(rng: random.Random, lines: list[bytes], _: list[bytes]) -> None:
    at = rng.randrange(len(lines))
    lines[at:] = [lines[at][: rng.randrange(len(lines[at]) + 1)]]


def _splice(rng: random.Random, lines: list[bytes], other: list[bytes]) -> None:
    """Lines of another tool's output, or of another version's."""
    start = rng.randrange(max(1, len(other)))
    at = rng.randrange(len(lines) + 1)
    lines[at:at] = other[start : start + rng.randrange(1, 20)]


MUTATIONS: tuple[Mutation, ...] = (
    *(_number, _digit, _digit, _trailing, _insert, _delete, _drop_line, _repeat_line, _swap, _cut, _splice),
)


def mutated(rng: random.Random, seeds: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """One of the seeds after one to three mutations: few, so that most come past the first line."""
    lines = rng.choice(seeds).splitlines(keepends=True)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if lines:
            rng.choice(MUTATIONS)(rng, lines, rng.choice(others).splitlines(keepends=True))
    return b"".join(lines)


VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 10**400, 0.5, -0.0, 1e308, "", "x", "..", "/"),
    *("\x00", "\x1b[2J", "\u202e"),
    *("9" * 5000, "a\nb", "\ud800", [], {}, [[]], [None], {"": None}, {"schema_version": 99}),
)  # fmt: skip


def mutated_value(rng: random.Random, value: Any) -> Any:
    """JSON of the same shape but for a value, a key or a place; `value` stays as it is."""
    found = json.loads(json.dumps(value))
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = list(_places(found))
        if not places:
            break
        holder, key = rng.choice(places)
        change = rng.randrange(6)
        if change == 0:
            del holder[key]
        elif change == 1:
            holder[key] = rng.choice(VALUES)
        elif change == 2:
            other, at = rng.choice(places)
            holder[key] = json.loads(json.dumps(other[at]))
        elif change == 3 and isinstance(holder, dict):
            holder[rng.choice(("", "x", "name", str(key) + "_", "\x1b]0;x\x07", "unit"))] = holder.pop(key)
        elif change == 4 and isinstance(holder, list):
            holder.insert(rng.randrange(len(holder) + 1), holder[key])
        elif isinstance(holder[key], int | float):
            holder[key] = rng.choice((-holder[key], holder[key] + 1, holder[key] * 1000, rng.randrange(2**40)))
        elif isinstance(holder[key], str):
            text = holder[key].encode(errors="surrogatepass")
            lines = mutated(rng, [text], [text]).decode(errors="replace")
            holder[key] = lines
    return found


def _places(value: Any) -> Any:
    """Every holder and key or number in it."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(pairs):
        yield value, key
        yield from _places(inner)
