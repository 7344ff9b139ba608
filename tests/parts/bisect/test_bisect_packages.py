# SPDX-License-Identifier: MIT
"""`rtqual bisect` over packages: the first late one is found by halving. No guest: a step gives what its name says."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.campaign.folder import KeptCampaign, Result
from rtqual.engine.campaign.plan import plan
from rtqual.engine.campaign.run import Watcher
from rtqual.engine.mission import Candidate, load_mission
from rtqual.parts.bisect import bisect as stage
from rtqual.parts.bisect.ends import End, Ends, EndsAsked
from rtqual.parts.bisect.words import sentence
from rtqual.protocols.record.schema import Measurement, Record, Series
from rtqual.protocols.record.store import Store
from support.command import mission_text
from support.store_records import INPUTS, record

THROUGH = tuple(f"linux-image-{number}" for number in range(1, 8))


def late_by(ns: int, candidate: str = "an end") -> list[Record]:
    inputs = [INPUTS.model_copy(update={"seed": seed, "load": "none", "candidate": candidate}) for seed in (1, 2)]
    return [record(Measurement((Series.counted({8_000: 90, ns: 1}, name="latency"),)), one) for one in inputs]


def kept(found: list[Record], bisecting: object) -> list[Record]:
    """As those of a run that measured them."""
    for one in found:
        Store(bisecting.folder / "records").write(one)  # type: ignore[attr-defined]
    return found


@pytest.fixture
def ends(tmp_path: Path) -> Ends:
    (tmp_path / "tiny.toml").write_text(mission_text("debian-rt", "debian", loads=("none",)))
    mission = load_mission(tmp_path / "tiny.toml")
    campaign = KeptCampaign(mission, "demo", Result((), {}, {}))
    good, bad = (End(campaign, one, tuple(late_by(10_000))) for one in mission.candidates)
    cells = tuple(one for one in plan(mission, "demo") if one.candidate == good.candidate and not one.repeat)
    return Ends(good, bad, cells, EndsAsked(through=THROUGH))


@pytest.mark.parametrize("broken", [(), ("linux-image-4",)])
def test_the_first_late_package_is_found(
    ends: Ends, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: tuple[str, ...]
) -> None:
    packages = ["linux-image-rt-amd64", *THROUGH, "linux-image-amd64"]
    seen: list[str] = []

    def measured(self: object, candidate: Candidate) -> list[Record]:
        assert candidate.package is not None
        seen.append(candidate.package)
        if candidate.package in broken:
            raise RunFailed("it does not boot")
        return kept(late_by(30_000 if packages.index(candidate.package) >= 6 else 10_000, candidate.name), self)

    monkeypatch.setattr(stage._Bisecting, "_measured", measured)
    assert stage.foresee(ends, tmp_path / "out", Watcher()).kernels == 5
    told: list[str] = []
    watcher = Watcher()
    monkeypatch.setattr(watcher, "preparing", told.append)
    found = stage.bisect(ends, tmp_path / "out", watcher)
    assert told[0] == "step 1 of at most 5: linux-image-rt-amd64"
    assert told[1].startswith("step 2 of at most 5, at most ") and told[1].endswith(" left: linux-image-amd64")
    assert found.acting == (("linux-image-6",),)
    assert found.rest is not None and found.rest.changes[-1] == "linux-image-5"
    assert "With 2 runs an end this is weak: chance sets two" in sentence(found) and "up to 1 of 6 cases" in sentence(
        found
    )
    ends_of_three = tuple(replace(one, values=(*one.values, one.values[0])) for one in found.steps[:2])
    assert "weak" not in sentence(replace(found, steps=(*ends_of_three, *found.steps[2:])))
    assert len(seen) == len({*seen}) <= 5 + len(broken)


def test_what_a_bisection_kept_is_read_from_its_records_alone(
    ends: Ends, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figures that were written into bisect.json, or taken over from other steps, would turn the answer."""
    packages, seen = ["linux-image-rt-amd64", *THROUGH, "linux-image-amd64"], []

    def measured(self: object, candidate: Candidate) -> list[Record]:
        seen.append(candidate.package)
        late = packages.index(str(candidate.package)) >= 6
        return kept(late_by(30_000 if late else 10_000, candidate.name), self)

    monkeypatch.setattr(stage._Bisecting, "_measured", measured)
    found = stage.bisect(ends, tmp_path / "out", Watcher())
    number, file = len(seen), tmp_path / "out/bisect.json"
    assert stage.bisect(ends, tmp_path / "out", Watcher()) == found and len(seen) == number

    told = json.loads(file.read_text())
    steps = {len(one["changes"]): one for one in told["steps"]}
    steps[0]["records"], steps[8]["records"] = steps[8]["records"], steps[0]["records"]
    file.write_text(json.dumps(told))
    with pytest.raises(BadInput, match=r"bisect\.json: was changed by hand .*: delete it"):
        stage.bisect(ends, tmp_path / "out", Watcher())
    sealed = stage._Steps.model_validate(told).sealed()
    file.write_text(sealed.model_dump_json())  # with its hash made anew
    assert stage.bisect(ends, tmp_path / "out", Watcher()) == found and len(seen) == number + 2

    manifest = next((tmp_path / "out/records").iterdir()) / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"repeat": 0', '"repeat": 1'))
    assert stage.bisect(ends, tmp_path / "out", Watcher()) == found and len(seen) == number + 3


def test_kernels_that_differ_under_one_name_are_not_taken_for_one(ends: Ends, tmp_path: Path) -> None:
    """A package's next version, a kernel or an RTOS image that was built anew, another root: no parameter moved it."""
    newer = INPUTS.model_copy(update={"artefacts": {"kernel": "another"}, "load": "none"})
    late = record(Measurement((Series.counted({9_000: 91}, name="latency"),)), newer)
    boot = ends.good.candidate.model_copy(update={"name": "other", "boot": ("nowatchdog",)})
    for bad, told in (
        (End(ends.good.campaign, boot, (late,)), "measured with other kernels"),
        (
            End(ends.good.campaign, boot.model_copy(update={"root": "debian"}), ends.good.records),
            "in other roots: none, debian",
        ),
    ):
        with pytest.raises(BadInput, match=told):
            stage.foresee(Ends(ends.good, bad, ends.cells, EndsAsked()), tmp_path / "out", Watcher())
    alike = End(ends.good.campaign, boot, ends.good.records)
    assert stage.foresee(Ends(ends.good, alike, ends.cells, EndsAsked()), tmp_path / "out", Watcher()).kernels == 2


def test_a_package_named_twice_is_refused(ends: Ends, tmp_path: Path) -> None:
    again = Ends(ends.good, ends.bad, ends.cells, EndsAsked(through=(*THROUGH, THROUGH[0])))
    with pytest.raises(BadInput, match="names a package twice"):
        stage.bisect(again, tmp_path / "out", Watcher())
