# SPDX-License-Identifier: MIT
"""The file to import: opened, streamed line by line, every line accounted for."""

import hashlib
import io
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from rtqual.base.errors import BadInput
from rtqual.parts.importers.file_account import Above, FileAccount, bad, shown
from rtqual.parts.importers.lines import stamps
from rtqual.parts.importers.mail import coding, head_lines, plain

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # cyclictest moves the cursor up between its screens
_ECHO = re.compile(r"^(?:\^[CZ\\])+(?=\S)", re.MULTILINE)  # the key that ended the program, on the line it then printed
_NOTE = re.compile(r"(?<=\S)(?:[ \t]+<(?:-{2,}|={2,})|[ \t]{2,}-- ).{0,200}$")  # what somebody wrote behind a line
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


def open_file(path: Path) -> BinaryIO:
    """Raises BadInput, also for what is no file: a pipe would be waited for, and is not read twice."""
    try:
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    except OSError as error:
        raise bad(path, None, f"cannot be read ({error.strerror}): give a file that can") from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise bad(path, None, "is a pipe or a device: write what it says into a file first")
    return file


class Source:
    """A file and what became of it. A reader takes it by lines, by blocks or whole, and accounts for all of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.account = FileAccount(path)
        head = _head(path)
        self._mail_head = head_lines(head)
        self._mail = self._mail_head > 0 or coding(head) != ""
        self.stamps = stamps(plain(head))
        self.unfinished: int | None = None  # the last line, when it lacks its end: it may be cut
        self._open = self._used = False

    def lines(self, own: re.Pattern[str] | None = None) -> Iterator[tuple[int, str]]:
        """With their numbers, without line ends and terminal escapes. Holds one line at a time.

        A line of which the reader has said neither `use` nor `skip` when it asks for the next is judged: refused where
        it begins as `own`, which is how lines with the tool's figures begin, else told or taken for prose.
        """
        with self._file() as file:
            number = 0
            while raw := file.readline(_LONGEST_LINE_B):
                number += 1
                if not raw.endswith(b"\n"):
                    self.unfinished = number
                    if len(raw) == _LONGEST_LINE_B:
                        raise _too_long(self.path, number)
                if number <= self._mail_head:
                    self.account.skipped["a mail's head"] += 1
                    continue
                text = cleaned(raw, self.stamps)
                if note := _NOTE.search(text):
                    self.account.remarks.append(f"line {number} has a note: {shown(note[0])}")
                    text = text[: note.start()]
                with self.line(number, text, own):
                    yield number, text
                if number == self.unfinished and self._used and text[-1:].isdigit():
                    self.account.fail(f"line {number}, the last, has no end: its last figure may be cut")
        self.account.settle()

    @contextmanager
    def line(self, number: int, text: str, own: re.Pattern[str] | None = None) -> Iterator[None]:
        """A line that was found otherwise, to be accounted for inside."""
        self._open, self._used = True, False
        yield
        if self._open:
            self._judge(number, text, own)
        self._open = False

    def _judge(self, number: int, text: str, own: re.Pattern[str] | None) -> None:
        try:
            self.account.judge(number, text, own)
        except BadInput:
            if number != self.unfinished:
                raise
            self.account.skipped["a last line without its end"] += 1
            self.account.fail(f"line {number}, the last, has no end: the file is cut at {shown(text)}")

    def use(self) -> None:
        """The line has been read, all of it, and goes on with the run at hand."""
        self._take()
        self._used = True
        self.account.inside()
        self.account.used += 1

    def begin(self) -> Above:
        """The line has been read, all of it, and a run begins with it."""
        self._take()
        self._used = True
        above = self.account.begin()
        self.account.used += 1
        return above

    def command(self, text: str) -> None:
        """The line is a command, which has been read."""
        self._take()
        self.account.note_command(text)
        self.account.used += 1

    def skip(self, reason: str) -> None:
        """The line is known to hold no data, or to say again what another one says."""
        self._take()
        self.account.skipped[reason] += 1

    def _take(self) -> None:
        if not self._open:
            raise AssertionError("a line is accounted for twice")
        self._open = False

    def blocks(self) -> Iterator[bytes]:
        """The file in pieces of some megabytes, each of whole lines. The reader accounts for their lines itself."""
        rest = b""
        with self._file() as file:
            while block := file.read(_BLOCK_B):
                cut = block.rfind(b"\n") + 1
                if cut:
                    yield self._bare(rest + block[:cut])
                    rest = block[cut:]
                else:
                    rest += block
                    if len(rest) > _LONGEST_LINE_B:
                        raise _too_long(self.path, None)
        if rest:
            yield self._bare(rest)

    def _file(self) -> BinaryIO:
        """The file, or the text of a mail."""
        file = open_file(self.path)
        if not self._mail:
            return file
        with file:
            raw = file.read(_WHOLE_TEXT_B + 1)
        if len(raw) > _WHOLE_TEXT_B:
            raise _too_large(self.path)
        return io.BytesIO(plain(raw))

    def _bare(self, block: bytes) -> bytes:
        return self.stamps.sub(b"", block) if self.stamps else block

    def whole_text(self) -> str:
        """All of a file whose format is small by nature, line ends made plain."""
        with self._file() as file:
            raw = file.read(_WHOLE_TEXT_B + 1)
        if len(raw) > _WHOLE_TEXT_B:
            raise _too_large(self.path)
        text = self._bare(raw).decode("utf-8-sig", errors="replace")
        return _ECHO.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def _too_long(path: Path, line: int | None) -> Exception:
    return bad(path, line, "a line is longer than 1 MiB: this is not a tool's text output")


def _too_large(path: Path) -> Exception:
    what = f"is larger than {_WHOLE_TEXT_B >> 20} MiB, too much for its format: split it by runs"
    return bad(path, None, what)


def cleaned(raw: bytes, stamp: re.Pattern[bytes] | None = None) -> str:
    """A line without its end, a terminal's escapes and what a log puts before it."""
    raw = stamp.sub(b"", raw, count=1) if stamp else raw
    return _ECHO.sub("", _ESCAPES.sub("", raw.decode("utf-8-sig", errors="replace").rstrip("\r\n")))


def _head(path: Path) -> bytes:
    with open_file(path) as file:
        try:
            return file.read(_SNIFFED_B)
        except OSError as error:
            raise bad(path, None, f"cannot be read ({error.strerror}): give a regular file") from None


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
    if coding(head) == "base64":
        raise bad(path, None, "is a mail in base64: save its text first")
    text = plain(head + b"\n" + tail)
    stamp = stamps(plain(head))
    return "\n".join(cleaned(line, stamp) for line in text.splitlines())


def state_of(path: Path) -> tuple[int, int, int]:
    """What changes with a file's content; nobody but the kernel sets its last."""
    with open_file(path) as file:
        status = os.fstat(file.fileno())
    return status.st_ino, status.st_size, status.st_ctime_ns


def sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open_file(path) as file:
        while block := file.read(_LONGEST_LINE_B):
            digest.update(block)
    return digest.hexdigest()
