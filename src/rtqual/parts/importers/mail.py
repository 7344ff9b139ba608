# SPDX-License-Identifier: MIT
"""A mail as it was sent, made plain: results are often kept from a list's archive.

Its head is left empty. A line that the sender's program broke (RFC 2045, quoted-printable) is whole again where it
ended, and empty where it began: each line keeps its number.
"""

import re

_FIELD = re.compile(rb"[A-Za-z][A-Za-z0-9-]{0,60}:|[ \t]+\S|From \S")
_OF_MAILS = re.compile(rb"^(?:message-id|received|return-path|content-transfer-encoding|mime-version):", re.I | re.M)
_CODED = re.compile(rb"^content-transfer-encoding:[ \t]*(quoted-printable|base64)", re.I | re.M)
_BROKEN = re.compile(rb"^.{60,74}[^=\n]=\r?$", re.MULTILINE)  # at the 76th octet, or a word before
_OCTET = re.compile(rb"=([0-9A-F]{2})")
_FEWEST = 2


def head_lines(data: bytes) -> int:
    """The number of lines of a mail's head; 0 where the data is no mail."""
    head, *text = re.split(rb"\r?\n\r?\n", data, maxsplit=1)
    lines = head.split(b"\n")
    return len(lines) if text and _OF_MAILS.search(head) and all(_FIELD.match(line) for line in lines) else 0


def coding(data: bytes) -> str:
    """What a mail's text is coded in, by its head or by how its lines are broken; empty: nothing."""
    if head_lines(data) and (match := _CODED.search(data)):
        return match[1].decode().lower()
    broken = len(_BROKEN.findall(data))
    return "quoted-printable" if broken >= _FEWEST or (broken and b"=3D" in data) else ""


def plain(data: bytes) -> bytes:
    """The text, with as many lines. What is no mail comes back as it is."""
    head = head_lines(data)
    coded = coding(data) == "quoted-printable"
    if not head and not coded:
        return data
    lines = data.split(b"\n")
    return b"\n".join([*(b"" for _ in range(head)), *(_whole(lines[head:]) if coded else lines[head:])])


def _whole(lines: list[bytes]) -> list[bytes]:
    """The last line, which has no end, stays as it is."""
    found: list[bytes] = []
    begun: list[bytes] = []
    *ended, rest = lines
    for number, line in enumerate(ended, 1):
        text = line.rstrip(b" \t\r")
        begun.append(text[:-1] if text.endswith(b"=") else line)
        if not text.endswith(b"=") or (number == len(ended) and not rest):
            found += [*(b"" for _ in begun[1:]), _octets(b"".join(begun))]
            begun = []
    return [*found, *(b"" for _ in begun), _octets(b"".join([*begun, rest]))]


def _octets(line: bytes) -> bytes:
    return _OCTET.sub(lambda match: bytes([int(match[1], 16)]), line).replace(b"\n", b" ")
