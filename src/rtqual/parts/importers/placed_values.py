# SPDX-License-Identifier: MIT
"""Every value in JSON, YAML and XML with its place and line, and whether the reader knows that place.

The parsers of the standard library and of YAML keep the last of two equal keys and lose the first without a word, so
equal places are refused. Lines before and after a JSON object are accounted for like those of a text.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar
from xml.parsers import expat

import yaml
from pydantic import BaseModel, ValidationError

from rtqual.parts.importers.file_account import bad, shown
from rtqual.parts.importers.source import Source

ModelT = TypeVar("ModelT", bound=BaseModel)
Value = tuple[tuple[str, ...], int]  # its place, and the line
LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_DEEPEST = 64
_MOST_YAML = 4 << 20
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]|[^\s{}\[\],:"]+|\n')


class KnownPlaces:
    """The places of a format: those that its reader uses, and those known to hold no data, with the reason.

    A place is written "thread/*/cycles": * for any one key, ** at the end for all that is below.
    """

    def __init__(self, used: tuple[str, ...], without_data: Mapping[str, str]) -> None:
        self._used = _pattern(used)
        self._skipped = {reason: _pattern(tuple(p for p, r in without_data.items() if r == reason))
                         for reason in dict.fromkeys(without_data.values())}  # fmt: skip

    def account(self, source: Source, values: Iterator[Value]) -> None:
        """Raises BadInput for a place that is not known, or there twice."""
        seen: set[tuple[str, ...]] = set()
        source.account.of = "values"
        for place, line in values:
            where = "/".join(place)
            if place in seen:
                raise bad(source.path, line, f"{shown(where)} a second time: the file is damaged; give the whole file")
            seen.add(place)
            if self._used.fullmatch(where):
                source.account.used += 1
                continue
            reason = next((reason for reason, known in self._skipped.items() if known.fullmatch(where)), None)
            if reason is None:
                what = "is damaged, or of a version that is not known here: take it out if it has nothing to say"
                raise bad(source.path, line, f"{shown(where)} {what}")
            source.account.skipped[reason] += 1


def _pattern(places: tuple[str, ...]) -> re.Pattern[str]:
    written = (re.escape(place).replace(r"\*\*", r".*").replace(r"\*", r"[^/]*") for place in places)
    return re.compile("|".join(written) or r"(?!)", re.DOTALL)


def json_object(source: Source) -> tuple[str, list[tuple[int, str]]]:
    """The JSON object in a file, its lines numbered as in the file, and the lines before and after it."""
    lines = source.whole_text().split("\n")
    starts = [number for number, line in enumerate(lines) if line.lstrip().startswith("{")]
    ends = [number for number, line in enumerate(lines) if line.rstrip().endswith("}")]
    if not starts:
        raise bad(source.path, None, "no JSON object in it: give the file the tool wrote")
    end = ends[-1] + 1 if ends and ends[-1] >= starts[0] else len(lines)
    around = [(n + 1, line) for n, line in enumerate(lines) if not starts[0] <= n < end]
    return "\n" * starts[0] + "\n".join(lines[starts[0] : end]), around


def read_json(
    source: Source, model: type[ModelT], known: KnownPlaces, what: str, mended: Callable[[str], str] = str
) -> tuple[ModelT, list[tuple[int, str]]]:
    """The file's object, all its places accounted for, and the lines around it, which the caller accounts for.

    `what` the file is to be; `mended`: its text as the model reads it. Raises BadInput with the first thing wrong.
    """
    text, around = json_object(source)
    try:
        result = model.model_validate_json(mended(text))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))[:80]
        message = f"not {what}: {where}: {first['msg']}" if where else first["msg"]
        raise bad(source.path, json_line(first["msg"]), f"{message}; give the whole file it wrote") from None
    known.account(source, json_values(source, text))
    return result, around


def json_values(source: Source, text: str) -> Iterator[Value]:
    """Of an object that has been read without complaint."""
    line, place, counters = 1, [""], [-1]  # a counter for each level: -1 in an object
    key: str | None = None
    held = True  # whether the innermost level has had anything: an empty one is a value itself
    for piece in _TOKEN.findall(text):
        if piece == "\n":
            line += 1
        elif piece in "{[":
            if counters[-1] >= 0:
                place[-1] = str(counters[-1])
            elif key is not None:
                place[-1] = key
            key = None
            place.append("")
            counters.append(-1 if piece == "{" else 0)
            held = False
            if len(place) > _DEEPEST:
                raise bad(source.path, line, "nested too deep: give the file the tool wrote")
        elif piece in "}]":
            place.pop()
            counters.pop()
            if not held and len(place) > 1:
                yield tuple(place[1:]), line
            held, key = True, None
        elif piece == ",":
            key = None
            counters[-1] += counters[-1] >= 0
        elif counters[-1] < 0 and key is None:
            key = _unquoted(piece)
        else:
            place[-1] = str(counters[-1]) if counters[-1] >= 0 else str(key)
            held = True
            yield tuple(place[1:]), line


def _unquoted(token: str) -> str:
    """A key as it is compared with others: two ways to write it are one key."""
    return re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), token[1:-1])


def json_line(message: str) -> int | None:
    """The line that a JSON parser's complaint names."""
    match = re.search(r"at line (\d+)", message)
    return int(match[1]) if match else None


def yaml_values(source: Source, text: str) -> Iterator[Value]:
    """Of all documents, by their number. Raises yaml.YAMLError for what is none."""
    if len(text) > _MOST_YAML:
        raise bad(source.path, None, f"is larger than {_MOST_YAML >> 20} MiB, too much for its format: split it")
    document = -1
    levels: list[list[Any]] = []  # a place's last part, and the number of the next in a list, else None
    for event in yaml.parse(text, Loader=LOADER):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent):
            raise bad(source.path, line, "a reference to another part, which the tool never writes: write it out")
        if isinstance(event, yaml.DocumentStartEvent):
            document, levels = document + 1, []
        elif isinstance(event, yaml.ScalarEvent):
            if _wants_key(levels):
                levels[-1][0] = event.value
                continue
            yield (str(document), *_place(levels)), line
            if levels and levels[-1][1] is None:
                levels[-1][0] = None
        elif isinstance(event, yaml.CollectionStartEvent):
            if _wants_key(levels):
                raise bad(source.path, line, "a key that is no word, which the tool never writes: write it again")
            _place(levels)
            levels.append([None, 0 if isinstance(event, yaml.SequenceStartEvent) else None])
            if len(levels) > _DEEPEST:
                raise bad(source.path, line, "nested too deep: give the file the tool wrote")
        elif isinstance(event, yaml.CollectionEndEvent):
            levels.pop()
            if levels and levels[-1][1] is None:
                levels[-1][0] = None


def _wants_key(levels: list[list[Any]]) -> bool:
    return bool(levels) and levels[-1] == [None, None]


def _place(levels: list[list[Any]]) -> tuple[str, ...]:
    """Of the value that comes next."""
    if levels and levels[-1][1] is not None:
        levels[-1][0] = str(levels[-1][1])
        levels[-1][1] += 1
    return tuple(str(level[0]) for level in levels)


def xml_values(source: Source, text: str) -> Iterator[Value]:
    """Attributes ("@name") and texts, each element with its number. Raises expat.ExpatError for what is no XML."""
    found: list[Value] = []
    names: list[str] = []
    numbers: list[int] = [0]
    parser = expat.ParserCreate("utf-8")  # as the text is handed over, whatever its first line says
    parser.buffer_text = True

    def refuse(*_: object) -> None:
        what = "it declares a document type, which rteval never does: give rteval's summary.xml"
        raise bad(source.path, parser.CurrentLineNumber, what)

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(names) > _DEEPEST:
            raise bad(source.path, parser.CurrentLineNumber, "nested too deep: give the file the tool wrote")
        names.append(name)
        numbers[-1] += 1
        numbers.append(0)
        found.extend(((*names, f"@{attribute}", *_numbered()), parser.CurrentLineNumber) for attribute in attributes)

    def end(_: str) -> None:
        names.pop()
        numbers.pop()

    def _numbered() -> tuple[str, ...]:
        return (".".join(map(str, numbers[:-1])),)

    def data(text: str) -> None:
        if text.strip():
            found.append(((*names, *_numbered(), str(len(found))), parser.CurrentLineNumber))

    handlers: dict[str, Callable[..., None]] = {
        "StartDoctypeDeclHandler": refuse,
        "StartElementHandler": start,
        "EndElementHandler": end,
        "CharacterDataHandler": data,
    }
    for name, handler in handlers.items():
        setattr(parser, name, handler)
    parser.Parse(text.encode(), True)
    return iter(found)
