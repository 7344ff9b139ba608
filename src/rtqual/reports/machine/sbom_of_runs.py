# SPDX-License-Identifier: MIT
"""What ran in a campaign's guests, by package and version, as SPDX 2.3: a system under test for each candidate, which
contains packages and files. What rtqual did not prepare (this machine, boards, imports) is told as its records name it.
"""

import json
from collections.abc import Iterator, Sequence

from rtqual.base import spdx
from rtqual.engine.campaign.annex import Annexes
from rtqual.engine.campaign.guests import GUESTS, Guest, Guests, Software
from rtqual.engine.mission import PUBLISHED, Mission
from rtqual.protocols.record.schema import Manifest
from rtqual.reports.page.text import clean

_NO_TIME = "1970-01-01T00:00:00Z"


def to_sbom(mission: Mission, records: Sequence[Manifest], annexes: Annexes) -> str:
    """Dated by the last run, so that equal records give an equal list."""
    run = [manifest for manifest in records if manifest.inputs.board != PUBLISHED]
    guests = (GUESTS.of(annexes) or Guests()).guests
    known = [*guests, *_of_records(run, {guest.candidate for guest in guests})]
    packages, relations = {}, []
    for guest in known:
        system = spdx.identifier("system", guest.candidate)
        packages[system] = spdx.package(system, clean(guest.candidate), "") | {
            "primaryPackagePurpose": "OPERATING-SYSTEM"
        }
        relations.append((spdx.DOCUMENT, "DESCRIBES", system))
        for part in guest.software:
            ident = spdx.identifier("software", f"{part.name} {part.version} {part.architecture} {part.sha256[:16]}")
            address = spdx.purl(part.name, part.version, part.architecture) if part.architecture else ""
            packages[ident] = spdx.package(
                ident, clean(part.name), clean(part.version), sha256=part.sha256, address=address
            )
            relations.append((system, "CONTAINS", ident))
    last = max((manifest.provenance.started for manifest in run if manifest.provenance.started), default="")
    created = f"{last[:19]}Z" if last else _NO_TIME
    return json.dumps(spdx.document(mission.mission.name, list(packages.values()), relations, created), indent=1) + "\n"


def _of_records(records: Sequence[Manifest], prepared: set[str]) -> Iterator[Guest]:
    """Its kernel and the programs that measured."""
    for candidate in dict.fromkeys(
        manifest.inputs.candidate for manifest in records if manifest.inputs.candidate not in prepared
    ):
        own = [manifest for manifest in records if manifest.inputs.candidate == candidate]
        kernels = dict.fromkeys(manifest.provenance.kernel for manifest in own if manifest.provenance.kernel)
        tools = dict.fromkeys(item for manifest in own for item in sorted(manifest.provenance.tools.items()))
        software = [Software(name="kernel", version=kernel) for kernel in kernels]
        software += [Software(name=name, version=version) for name, version in tools]
        yield Guest(candidate=candidate, software=tuple(software))
