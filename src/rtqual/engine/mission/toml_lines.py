# SPDX-License-Identifier: MIT
"""On which line every key of a TOML document stands.

tomllib gives no positions (tomlkit neither), and an error that does not point at its line is hard to act on.
This walks text which tomllib has already accepted, so it need not judge it.
"""

import re
import tomllib
from collections import Counter
from dataclasses import dataclass, field

KeyPath = tuple[str | int, ...]

_TOKEN = re.compile(
    r'''(?P<string> """(?:[^\\]|\\.)*?"{3,5} | \'\'\'.*?'{3,5} | "(?:[^"\\]|\\.)*" | '[^']*' )
    | (?P<newline> \n )
    | (?P<blank> [ \t\r]+ | \#[^\n]* )
    | (?P<mark> [][{}=,.] )
    | (?P<bare> [^][{}=,.\s"'\#]+ )''',
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int


_END = _Token("end", "", 0)


def key_lines(text: str) -> dict[KeyPath, int]:
    """Key path -> line, from 1; elements of lists and of arrays of tables are numbered from 0.

    The text must be valid TOML.
    """
    walk = _Walk(_tokens(text))
    walk.document()
    return walk.lines


def line_of(lines: dict[KeyPath, int], path: KeyPath) -> int:
    """The line of a key, or of the nearest table above it that is written down; 1 for the document."""
    return next((lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in lines), 1)


def _tokens(text: str) -> list[_Token]:
    tokens, line = [], 1
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind != "blank":
            tokens.append(_Token(kind, match[0], line))
        line += match[0].count("\n")
    return tokens


@dataclass
class _Walk:
    tokens: list[_Token]
    at: int = 0
    lines: dict[KeyPath, int] = field(default_factory=dict)
    elements: Counter[KeyPath] = field(default_factory=Counter)  # of each array of tables

    def peek(self) -> _Token:
        return self.tokens[self.at] if self.at < len(self.tokens) else _END

    def take(self) -> _Token:
        token = self.peek()
        self.at += 1
        return token

    def skip(self, *texts: str) -> None:
        while self.peek().text in texts:
            self.at += 1

    def document(self) -> None:
        table: KeyPath = ()
        while self.peek() is not _END:
            if self.peek().kind == "newline":
                self.take()
            elif self.peek().text == "[":
                table = self.header()
            else:
                self.key_value(table)

    def header(self) -> KeyPath:
        """`[a.b]` or `[[a.b]]`: the path of the table it opens."""
        line = self.take().line
        is_array = self.peek().text == "["
        self.skip("[")
        keys = self.key()
        self.skip("]")
        path: KeyPath = ()
        for key in keys[:-1]:
            path = self.newest((*path, key))
            self.lines.setdefault(path, line)
        path = (*path, keys[-1])
        self.lines.setdefault(path, line)
        if is_array:
            self.elements[path] += 1
        path = self.newest(path)
        self.lines[path] = line
        return path

    def newest(self, path: KeyPath) -> KeyPath:
        """A name of an array of tables stands for its last element."""
        return (*path, self.elements[path] - 1) if path in self.elements else path

    def key(self) -> list[str]:
        keys = [self.name()]
        while self.peek().text == ".":
            self.take()
            keys.append(self.name())
        return keys

    def name(self) -> str:
        token = self.take()
        if token.kind == "string":
            return str(tomllib.loads(f"name = {token.text}")["name"])
        return token.text

    def key_value(self, table: KeyPath) -> None:
        line, path = self.peek().line, table
        for key in self.key():
            path = (*path, key)
            self.lines.setdefault(path, line)
        self.skip("=")
        self.value(path)

    def value(self, path: KeyPath) -> None:
        token = self.take()
        if token.text == "[":
            self.array(path)
        elif token.text == "{":
            self.inline_table(path)
        else:  # one of several tokens for a number or a date
            while self.peek().kind == "bare" or self.peek().text == ".":
                self.take()

    def array(self, path: KeyPath) -> None:
        index = 0
        self.skip("\n", ",")
        while self.peek().text not in ("]", ""):
            self.lines[(*path, index)] = self.peek().line
            self.value((*path, index))
            self.skip("\n", ",")
            index += 1
        self.take()

    def inline_table(self, path: KeyPath) -> None:
        self.skip("\n", ",")
        while self.peek().text not in ("}", ""):
            self.key_value(path)
            self.skip("\n", ",")
        self.take()
