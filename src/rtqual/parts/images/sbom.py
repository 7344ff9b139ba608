# SPDX-License-Identifier: MIT
"""What is inside an image, as SPDX 2.3 in JSON (spdx.github.io/spdx-spec/v2.3): packages, licences, files' hashes."""

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rtqual.base import spdx
from rtqual.base.apt import Package
from rtqual.base.architecture import Architecture
from rtqual.base.errors import BadInput
from rtqual.base.spdx import NOASSERTION
from rtqual.parts.images.licences import declared
from rtqual.parts.images.root import Root, epoch_s

_IMAGE = "SPDXRef-image"


@dataclass(frozen=True)
class ImagePackage:
    """A package in an image. `sha256` of its archive where there was one; `places`: its files, where known."""

    name: str
    version: str
    copyright_text: str = ""
    licence: str = ""  # where it is known otherwise
    sha256: str = ""
    purl: str = ""
    places: tuple[str, ...] = ()


def installed(root: Root) -> list[ImagePackage]:
    """The packages that dpkg's records in a Debian root name."""
    status = root.inside.read("var/lib/dpkg/status")
    if status is None:
        raise BadInput("the root has no var/lib/dpkg/status, which names its packages: the overlay must leave it there")
    parts = []
    for paragraph in status.decode(errors="replace").split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z-]+): (.+)$", paragraph, re.MULTILINE))
        if fields.get("Status", "").endswith(" installed"):
            parts.append(_of_dpkg(root, fields))
    return sorted(parts, key=lambda part: part.name)


def _of_dpkg(root: Root, fields: Mapping[str, str]) -> ImagePackage:
    name, version, architecture = fields["Package"], fields["Version"], fields["Architecture"]
    lists = [root.inside.read(f"var/lib/dpkg/info/{which}.list") for which in (name, f"{name}:{architecture}")]
    places = tuple(line.lstrip("/") for octets in lists if octets for line in os.fsdecode(octets).splitlines())
    return ImagePackage(
        name, version, copyright_of(root.folder, name), purl=spdx.purl(name, version, architecture), places=places
    )


def of_package(
    package: Package, architecture: Architecture, licence: str = "", places: tuple[str, ...] = ()
) -> ImagePackage:
    """`licence`: where its own files do not declare one; then it is not Debian's either."""
    text = copyright_of(package.tree, package.name)
    address = spdx.purl(package.name, package.version, architecture.name) if text else ""
    return ImagePackage(package.name, package.version, text, "" if text else licence, package.sha256, address, places)


def of_kernel(package: Package, architecture: Architecture, places: tuple[str, ...] = ()) -> ImagePackage:
    return of_package(package, architecture, "GPL-2.0-only WITH Linux-syscall-note", places)


def copyright_of(tree: Path, name: str) -> str:
    path = tree / "usr/share/doc" / name / "copyright"
    inside = path.resolve().is_relative_to(tree.resolve())  # some are links to another package's
    return path.read_text(errors="replace") if inside and path.is_file() else ""


def document(name: str, parts: Sequence[ImagePackage], trees: Mapping[str, Root]) -> dict[str, Any]:
    """`trees`: the file systems of the image by the place their files are listed under, "" for the root."""
    own: dict[str, str] = {}
    packages = [_package(part, own) for part in parts]
    files = [file for prefix, root in trees.items() for file in _files(prefix, root)]
    owner = {place: _of(part) for part in parts for place in part.places}
    image = {**spdx.package(_IMAGE, name, ""), "primaryPackagePurpose": "OPERATING-SYSTEM"}
    relations = [(spdx.DOCUMENT, "DESCRIBES", _IMAGE), *((_IMAGE, "CONTAINS", p["SPDXID"]) for p in packages)]
    contained: dict[str, list[dict[str, Any]]] = {}
    for file in files:
        contained.setdefault(owner.get(file["fileName"].removeprefix("./"), _IMAGE), []).append(file)
    relations += [(name, "CONTAINS", file["SPDXID"]) for name, held in contained.items() for file in held]
    for package in (image, *packages):
        if held := contained.get(package["SPDXID"]):
            package |= {"filesAnalyzed": True, "packageVerificationCode": _verification(held)}
    created = datetime.fromtimestamp(epoch_s(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    texts = {"hasExtractedLicensingInfos": list(_texts(own))} if own else {}
    return spdx.document(name, [image, *packages], relations, created, files, **texts)


def _of(part: ImagePackage) -> str:
    return spdx.identifier("package", part.name)


def write(path: Path, content: Mapping[str, Any]) -> Path:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=True) + "\n")
    return path


def _package(part: ImagePackage, own: dict[str, str]) -> dict[str, Any]:
    licence = declared(part.copyright_text)
    own |= licence.own
    named = part.licence or licence.expression
    return spdx.package(_of(part), part.name, part.version, licence=named, sha256=part.sha256, address=part.purl)


def _verification(files: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """SPDX 2.3, 7.9: one hash of the files' SHA-1s."""
    hashes = sorted(file["checksums"][0]["checksumValue"] for file in files)
    return {"packageVerificationCodeValue": hashlib.sha1("".join(hashes).encode(), usedforsecurity=False).hexdigest()}


def _files(prefix: str, root: Root) -> Iterator[dict[str, Any]]:
    for number, place in enumerate(root.paths()):
        path = root.folder / place
        if not stat.S_ISREG(path.lstat().st_mode):
            continue
        content = path.read_bytes()
        # SPDX 2.3 demands a SHA-1 of every file; it is there for that, the SHA-256 to be relied on.
        sha1 = hashlib.sha1(content, usedforsecurity=False).hexdigest()
        yield {
            "SPDXID": spdx.identifier("file", f"{prefix}{number}"),
            "fileName": f"./{prefix}{place}",
            "checksums": [
                {"algorithm": "SHA1", "checksumValue": sha1},
                {"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()},
            ],
            "licenseConcluded": NOASSERTION,
            "copyrightText": NOASSERTION,
        }


def _texts(own: Mapping[str, str]) -> Iterable[dict[str, str]]:
    for reference, name in sorted(own.items()):
        text = f"Debian's copyright files call it {name!r}; the text is in the package's."
        yield {"licenseId": reference, "name": name, "extractedText": text}
