# SPDX-License-Identifier: MIT
"""Lists of packages as SPDX 2.3 in JSON (spdx.github.io/spdx-spec/v2.3)."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from rtqual import __version__

NOASSERTION, DOCUMENT = "NOASSERTION", "SPDXRef-DOCUMENT"
Relation = tuple[str, str, str]  # of one, what it is to the other, the other


def identifier(kind: str, name: str) -> str:
    """'SPDXRef-package-libc6', with what SPDX does not allow written as its number."""
    return f"SPDXRef-{kind}-{re.sub(r'[^A-Za-z0-9.-]', lambda found: f'-{ord(found[0]):x}-', name)}"


def purl(name: str, version: str, architecture: str) -> str:
    """A package's address (package-url, type deb)."""
    escaped = version.replace(":", "%3A").replace("+", "%2B")
    return f"pkg:deb/debian/{name.replace('+', '%2B')}@{escaped}?arch={architecture}"


def package(
    ident: str, name: str, version: str, *, licence: str = NOASSERTION, sha256: str = "", address: str = ""
) -> dict[str, Any]:
    """An entry of a document; `address`: its purl."""
    reference = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": address}
    return {
        "SPDXID": ident,
        "name": name,
        **({"versionInfo": version} if version else {}),
        "downloadLocation": NOASSERTION,
        "filesAnalyzed": False,
        "licenseConcluded": NOASSERTION,
        "licenseDeclared": licence,
        "copyrightText": NOASSERTION,
        **({"checksums": [{"algorithm": "SHA256", "checksumValue": sha256}]} if sha256 else {}),
        **({"externalRefs": [reference]} if address else {}),
    }


def document(
    name: str,
    packages: Sequence[Mapping[str, Any]],
    relations: Sequence[Relation],
    created: str,
    files: Sequence[Mapping[str, Any]] = (),
    **more: Any,
) -> dict[str, Any]:
    """A whole one, whose namespace is the hash of what it holds. `created`: as SPDX writes times."""
    content = json.dumps([packages, files], sort_keys=True)
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": DOCUMENT,
        "name": name,
        "documentNamespace": f"urn:sha256:{hashlib.sha256(content.encode()).hexdigest()}",
        "creationInfo": {"created": created, "creators": [f"Tool: rtqual-{__version__}"]},
        "packages": list(packages),
        **({"files": list(files)} if files else {}),
        "relationships": [
            {"spdxElementId": name, "relationshipType": kind, "relatedSpdxElement": other}
            for name, kind, other in relations
        ],
        **more,
    }
