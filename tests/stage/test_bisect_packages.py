# SPDX-License-Identifier: MIT
"""`rtqual bisect` over packages: the first late one is found by halving. No guest: a step gives what its name says."""

from pathlib import Path

import pytest

from rtqual.base.errors import BadInput, RunFailed
from rtqual.campaign.folder import Kept, Result
from rtqual.campaign.plan import plan
from rtqual.campaign.run import Watcher
from rtqual.mission import Candidate, load_mission
from rtqual.record.schema import Measurement, Record, Series
from rtqual.stage import bisect as stage
from rtqual.stage.ends import Asked, End, Ends
from support.command import mission_text
from support.store_records import INPUTS, record

THROUGH = tuple(f"linux-image-{number}" for number in range(1, 8))


def late_by(ns: int) -> list[Record]:
    inputs = [INPUTS.model_copy(update={"seed": seed, "load": "none"}) for seed in (1, 2)]
    return [record(Measurement((Series.counted({8_000: 90, ns: 1}, name="latency"),)), one) for one in inputs]


@pytest.fixture
def ends(tmp_path: Path) -> Ends:
    (tmp_path / "tiny.toml").write_text(mission_text("debian-rt", "debian", loads=("none",)))
    mission = load_mission(tmp_path / "tiny.toml")
    campaign = Kept(mission, "demo", Result((), {}, {}))
    good, bad = (End(campaign, one, tuple(late_by(10_000))) for one in mission.candidates)
    cells = tuple(one for one in plan(mission, "demo") if one.candidate == good.candidate and not one.repeat)
    return Ends(good, bad, cells, Asked(through=THROUGH))


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
        return late_by(30_000 if packages.index(candidate.package) >= 6 else 10_000)

    monkeypatch.setattr(stage._Bisecting, "_measured", measured)
    assert stage.foresee(ends, tmp_path / "out", Watcher()).kernels == 5
    found = stage.bisect(ends, tmp_path / "out", Watcher())
    assert found.acting == (("linux-image-6",),)
    assert found.rest is not None and found.rest.changes[-1] == "linux-image-5"
    assert len(seen) == len({*seen}) <= 5 + len(broken)


def test_a_package_named_twice_is_refused(ends: Ends, tmp_path: Path) -> None:
    again = Ends(ends.good, ends.bad, ends.cells, Asked(through=(*THROUGH, THROUGH[0])))
    with pytest.raises(BadInput, match="names a package twice"):
        stage.bisect(again, tmp_path / "out", Watcher())
