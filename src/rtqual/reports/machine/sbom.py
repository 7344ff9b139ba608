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

_SYSTEM = "OPERATING-SYSTEM"
_NO_TIME = "1970-01-01T00:00:00Z"


def to_sbom(mission: Mission, records: Sequence[Manifest], annexes: Annexes) -> str:
    """Dated by the last run, so that equal records give an equal list."""
    run = [one for one in records if one.inputs.board != PUBLISHED]
    guests = (GUESTS.of(annexes) or Guests()).guests
    known = [*guests, *_of_records(run, {one.candidate for one in guests})]
    packages, relations = {}, []
    for one in known:
        system = spdx.identifier("system", one.candidate)
        packages[system] = spdx.package(system, clean(one.candidate), "") | {
            "primaryPackagePurpose": "OPERATING-SYSTEM"
        }
        relations.append((spdx.DOCUMENT, "DESCRIBES", system))
        for part in one.software:
            ident = spdx.identifier("software", f"{part.name} {part.version} {part.architecture} {part.sha256[:16]}")
            address = spdx.purl(part.name, part.version, part.architecture) if part.architecture else ""
            packages[ident] = spdx.package(
                ident, clean(part.name), clean(part.version), sha256=part.sha256, address=address
            )
            relations.append((system, "CONTAINS", ident))
    last = max((one.provenance.started for one in run if one.provenance.started), default="")
    created = f"{last[:19]}Z" if last else _NO_TIME
    return json.dumps(spdx.document(mission.mission.name, list(packages.values()), relations, created), indent=1) + "\n"


def _of_records(records: Sequence[Manifest], prepared: set[str]) -> Iterator[Guest]:
    """Its kernel and the programs that measured."""
    for candidate in dict.fromkeys(one.inputs.candidate for one in records if one.inputs.candidate not in prepared):
        own = [one for one in records if one.inputs.candidate == candidate]
        kernels = dict.fromkeys(one.provenance.kernel for one in own if one.provenance.kernel)
        tools = dict.fromkeys(item for one in own for item in sorted(one.provenance.tools.items()))
        software = [Software(name="kernel", version=one) for one in kernels]
        software += [Software(name=name, version=version) for name, version in tools]
        yield Guest(candidate=candidate, software=tuple(software))
