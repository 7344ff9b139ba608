# SPDX-License-Identifier: MIT
"""Text that Markdown prints as it is."""

import re

_SPECIAL = re.compile(r"([\\`*{}\[\]<>#|~!&$]|\b_|_\b|(?<=_)_)")
# What GitHub and GitLab make links of, or notify people of, though no character of it is Markdown's: people and teams,
# issues, mail and web addresses. With a word joiner (U+2060) in it, it looks as it is, and is dead.
_ALIVE = re.compile(r"(?<=@)(?=\w)|(?<=:)(?=//)|(?<=[wW]{3})(?=\.)|(?<=\\#)(?=\d)|(?<=\bGH)(?=-\d)")
_JOINER = "\u2060"
_LIST_START = re.compile(r"^(\d*)([-+.)])(?=\s)")


def literal(text: str) -> str:
    """Text on one line in which no character means anything to Markdown."""
    line = _SPECIAL.sub(r"\\\1", " ".join(text.split()))
    line = line.replace("\\<", "&lt;").replace("\\>", "&gt;").replace("\\&", "&amp;")
    line = _ALIVE.sub(_JOINER, line)
    return _LIST_START.sub(r"\1\\\2", line)
