# SPDX-License-Identifier: MIT
"""The file to import: opened, streamed line by line, and complained about in one line."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from rtqual.base.errors import BadInput

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # cyclictest moves the cursor up between its screens
_LONGEST_LINE_B = 1 << 20
_WHOLE_TEXT_B = 64 << 20
_SNIFFED_B = 256 << 10
_BLOCK_B = 4 << 20
# Seen in the wild: histograms kept gzipped, and outputs redirected by PowerShell.
_UNREADABLE = {
    b"\x1f\x8b": "compressed with gzip: unpack it first",
    b"\xfd7zXZ": "compressed with xz: unpack it first",
    b"BZh": "compressed with bzip2: unpack it first",
    b"(\xb5/\xfd": "compressed with zstd: unpack it first",
    b"PK\x03\x04": "a zip archive: unpack it first",
    b"\xff\xfe": "UTF-16 text: convert it with iconv -f UTF-16 -t UTF-8",
    b"\xfe\xff": "UTF-16 text: convert it with iconv -f UTF-16 -t UTF-8",
}


def bad(path: Path, line: int | None, what: str) -> BadInput:
    """The complaint to raise; `what` ends with what to do."""
    return BadInput(f"{path}{'' if line is None else f':{line}'}: {what}")


def open_file(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise bad(path, None, f"cannot be read ({error.strerror}): give a file that can") from None


class Lines:
    """The lines of a file with their numbers, without line ends and terminal escapes. Holds one line at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unfinished: int | None = None  # the last line, when it lacks its end: it may be cut

    def __iter__(self) -> Iterator[tuple[int, str]]:
        with open_file(self.path) as file:
            number = 0
            while raw := file.readline(_LONGEST_LINE_B):
                number += 1
                if not raw.endswith(b"\n"):
                    self.unfinished = number
                yield number, cleaned(raw)


def cleaned(raw: bytes) -> str:
    return _ESCAPES.sub("", raw.decode("utf-8-sig", errors="replace").rstrip("\r\n"))


def blocks(path: Path) -> Iterator[bytes]:
    """The file in pieces of some megabytes, each of whole lines."""
    rest = b""
    with open_file(path) as file:
        while block := file.read(_BLOCK_B):
            cut = block.rfind(b"\n") + 1
            if cut:
                yield rest + block[:cut]
                rest = block[cut:]
            else:
                rest += block
                if len(rest) > _LONGEST_LINE_B:
                    raise bad(path, None, "a line is longer than 1 MiB: this is not a tool's text output")
    if rest:
        yield rest


def whole_text(path: Path) -> str:
    """All of a file whose format is small by nature, line ends made plain."""
    with open_file(path) as file:
        raw = file.read(_WHOLE_TEXT_B + 1)
    if len(raw) > _WHOLE_TEXT_B:
        raise bad(path, None, f"is larger than {_WHOLE_TEXT_B >> 20} MiB, too much for its format: split it by runs")
    return _ESCAPES.sub("", raw.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n"))


def sniffed(path: Path) -> str:
    """The beginning and the end of a file, enough to know its format."""
    with open_file(path) as file:
        try:
            head = file.read(_SNIFFED_B)
            size = file.seek(0, 2)
            file.seek(max(len(head), size - _SNIFFED_B))
            tail = file.read(_SNIFFED_B)
        except OSError as error:
            raise bad(path, None, f"cannot be read ({error.strerror}): give a regular file") from None
    if not head.strip():
        raise bad(path, None, "is empty: give a file with a tool's output")
    for magic, what in _UNREADABLE.items():
        if head.startswith(magic):
            raise bad(path, None, f"is {what}")
    return "\n".join(cleaned(line) for line in (head + b"\n" + tail).splitlines())


def sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open_file(path) as file:
        while block := file.read(_LONGEST_LINE_B):
            digest.update(block)
    return digest.hexdigest()


def line_of(text: str, position: int) -> int:
    """The number of the line in which a position of a text lies."""
    return text.count("\n", 0, position) + 1


def embedded_json(path: Path) -> str:
    """The JSON object in a file that may hold other lines before and after it; its lines keep their numbers."""
    lines = whole_text(path).split("\n")
    starts = [number for number, line in enumerate(lines) if line.lstrip().startswith("{")]
    ends = [number for number, line in enumerate(lines) if line.rstrip().endswith("}")]
    if not starts:
        raise bad(path, None, "no JSON object in it: give the file the tool wrote")
    end = ends[-1] + 1 if ends and ends[-1] >= starts[0] else len(lines)
    return "\n" * starts[0] + "\n".join(lines[starts[0] : end])


def json_line(message: str) -> int | None:
    """The line that a JSON parser's complaint names."""
    match = re.search(r"at line (\d+)", message)
    return int(match[1]) if match else None
