# SPDX-License-Identifier: MIT
"""A verification's folder of which somebody changed something and made all hashes anew: judged and reported, or refused
in one line."""

import json
import os
import random
from pathlib import Path

import pytest

from rtqual.base.cache import sha256_of
from rtqual.base.errors import BadInput
from rtqual.engine.campaign import folder as kept
from rtqual.protocols.record.schema import digest
from rtqual.protocols.record.store import MANIFEST
from rtqual.reports.control import build
from rtqual.reports.page.render import to_html, to_markdown
from rtqual.reports.verification import as_dict, to_junit
from rtqual.stages.verify import verified_in
from support.made_verification import made
from support.mutated import mutated_value

INPUTS = int(os.environ.get("RTQUAL_MUTATIONS", "40"))


@pytest.mark.guest
def test_what_a_stranger_changed_is_judged_or_refused_in_one_line(tmp_path: Path) -> None:
    folder = made(tmp_path / "verified")
    campaign = json.loads((folder / kept.CAMPAIGN).read_text())
    procedures = json.loads((folder / kept.PROCEDURES).read_text())
    (name,) = campaign["records"]
    place = folder / kept.RECORDS / name / MANIFEST
    manifest = json.loads(place.read_text())
    taken = 0
    for seed in range(INPUTS):
        rng = random.Random(seed)  # noqa: S311 - not for secrets
        what = rng.choice(("procedures", "procedures", "manifest"))
        changed = mutated_value(rng, procedures) if what == "procedures" else procedures
        (folder / kept.PROCEDURES).write_text(json.dumps(changed))
        one = mutated_value(rng, manifest) if what == "manifest" else dict(manifest)
        one["hash"] = digest([one.get("inputs"), one.get("samples_sha256")])
        one["manifest_sha256"] = digest({key: value for key, value in one.items() if key != "manifest_sha256"})
        place.write_text(json.dumps(one))
        index = json.loads(json.dumps(campaign))
        index["files"][kept.PROCEDURES] = sha256_of((folder / kept.PROCEDURES).read_bytes())
        index["manifests"][name] = sha256_of(place.read_bytes())
        index["sha256"] = digest({key: value for key, value in index.items() if key != "sha256"})
        (folder / kept.CAMPAIGN).write_text(json.dumps(index))
        try:
            verified = verified_in(folder)
        except BadInput as error:
            assert len(str(error).splitlines()) == 1 and len(str(error)) < 3000, (seed, str(error))
            continue
        taken += 1
        json.dumps(as_dict(verified))
        to_junit(verified)
        if taken % 5 == 1:
            document = build(verified)
            assert "<b>mark</b>" not in to_html(document)
            to_markdown(document)
    assert 0 < taken < INPUTS, "some are refused, some are none the worse"
