# SPDX-License-Identifier: MIT
"""Licences as Debian's copyright files name them, in SPDX's words.

Machine-readable files only (debian.org/doc/packaging-manuals/copyright-format/1.0): nothing is claimed about others.
"""

import re
from dataclasses import dataclass

from rtqual.base.spdx import NOASSERTION

_FORMAT = re.compile(r"^Format(?:-Specification)?:\s*\S*(?:copyright-format|dep5|DEP-5)", re.IGNORECASE | re.MULTILINE)
_LICENCE = re.compile(r"^License:[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
# Debian's short name -> SPDX's identifier, where it is not the same but for the letters' case.
_NAMES = {
    "expat": "MIT", "mit": "MIT", "isc": "ISC", "zlib": "Zlib", "artistic": "Artistic-1.0-Perl", "bsd-2-clause":
    "BSD-2-Clause", "bsd-3-clause": "BSD-3-Clause", "bsd-4-clause": "BSD-4-Clause", "bsd-4-clause-uc":
    "BSD-4-Clause-UC", "apache-2.0": "Apache-2.0", "apache-2": "Apache-2.0", "cc0-1.0": "CC0-1.0", "cc0": "CC0-1.0",
    "mpl-1.1": "MPL-1.1", "mpl-2.0": "MPL-2.0", "bsl-1.0": "BSL-1.0", "psf-2": "PSF-2.0", "openssl": "OpenSSL",
    "curl": "curl", "unlicense": "Unlicense", "artistic-2.0": "Artistic-2.0", "fsfap": "FSFAP", "fsful": "FSFUL",
    "fsfullr": "FSFULLR", "x11": "X11", "0bsd": "0BSD", "unicode": "Unicode-DFS-2016",
}  # fmt: skip
_GNU = re.compile(r"(A?GPL|LGPL|GFDL)-?v?(\d)(?:\.(\d))?(\+)?", re.IGNORECASE)
_JOINED = re.compile(r",?\s+(?:and|or)\s+|,\s*", re.IGNORECASE)
_REFERENCE = "LicenseRef-Debian-"


@dataclass(frozen=True)
class Declared:
    """A package's licences as one SPDX expression; `own` are those SPDX has no identifier for, by their reference."""

    expression: str
    own: dict[str, str]


def declared(copyright_text: str) -> Declared:
    """All licences that a copyright file names, joined: each holds for some of the package's files."""
    if not _FORMAT.search(copyright_text[:2000]):
        return Declared(NOASSERTION, {})
    own: dict[str, str] = {}
    found = sorted({_expression(name, own) for name in _LICENCE.findall(copyright_text)})
    if not found:
        return Declared(NOASSERTION, {})
    return Declared(" AND ".join(f"({name})" if " OR " in name and len(found) > 1 else name for name in found), own)


def _expression(text: str, own: dict[str, str]) -> str:
    """One License: field, "GPL-2+ or Artistic". A nested one, or "and" mixed with "or", is a licence of its own."""
    names = [name.strip() for name in _JOINED.split(text)]
    joints = {"OR" if "or" in joint.lower() else "AND" for joint in _JOINED.findall(text)}
    if not all(names) or len(joints) > 1 or {*"()"} & {*text}:
        return _reference(text, own)
    return f" {''.join(joints)} ".join(_identifier(name, own) for name in names)


def _identifier(name: str, own: dict[str, str]) -> str:
    if found := _GNU.fullmatch(name):
        family, major, minor, later = found.groups()
        return f"{family.upper()}-{major}.{minor or 0}-{'or-later' if later else 'only'}"
    return _NAMES.get(name.lower()) or _reference(name, own)


def _reference(name: str, own: dict[str, str]) -> str:
    reference = _REFERENCE + (re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-") or "unnamed")
    own[reference] = name
    return reference
