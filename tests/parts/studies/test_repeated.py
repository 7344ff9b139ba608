# SPDX-License-Identifier: MIT
"""The missions that repeat a study run at their smallest scale, and stand beside what was printed; and kernels with
Xenomai's cores, where there are some, give the same samples twice."""

import json
import os
from pathlib import Path

import pytest

from rtqual.engine.campaign import folder as kept
from rtqual.protocols.record.schema import Timing
from support.command import Run

MISSIONS = Path(__file__).parents[3] / "missions"
BUILT = ("COBALT", "EVL", "PROGRAMS")
needs_cores = pytest.mark.skipif(
    not all(os.environ.get(name) for name in BUILT),
    reason="XENOMAI'S CORES ARE NOT TESTED: set COBALT, EVL and PROGRAMS to folders of built kernels and programs "
    "(docs/xenomai.md)",
)


def compared(rtqual: Run, study: str, out: Path) -> dict[str, list[dict[str, object]]]:
    done = rtqual("published", "compare", study, out, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, list[dict[str, object]]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("mission", "study"),
    [
        pytest.param("xenomai-study", "xenomai", marks=pytest.mark.full),
        pytest.param("freertos-study", "freertos", marks=pytest.mark.full),
        pytest.param("spacechain", "spacechain", marks=pytest.mark.full),
        pytest.param("aarest-exact", "aarest", marks=pytest.mark.full),
        pytest.param("uav-study", "", marks=pytest.mark.full),
    ],
)
def test_a_study_is_repeated_at_its_smallest_scale(rtqual: Run, tmp_path: Path, mission: str, study: str) -> None:
    done = rtqual("select", MISSIONS / f"{mission}.toml", "--scale", "smoke", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    result = kept.load(tmp_path).result
    assert result.records and not result.failures
    assert all(one.manifest.timing in (Timing.INSTRUCTIONS, Timing.MODELLED) for one in result.records)
    if study:
        found = compared(rtqual, study, tmp_path)
        assert found["pairs"] and all(one["figures"] for one in found["pairs"])
        assert bool(found["orders"]) == (study != "freertos"), "which printed one system alone"
    else:
        done = rtqual("published", "compare", "uav", tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)


@pytest.mark.manual
@needs_cores
def test_both_cores_give_the_same_samples_twice(rtqual: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    links = tmp_path / "out/dual-kernel-built"
    links.mkdir(parents=True)
    for name in BUILT:
        (links / name.lower()).symlink_to(os.environ[name])
    for scale in ("demo", "configured"):
        done = rtqual("select", MISSIONS / "dual-kernel.toml", "--scale", scale, "--out", tmp_path / scale)
        assert done.returncode == 0, done.stderr
        result = kept.load(tmp_path / scale).result
        assert not result.failures
        measured = [one for one in result.records if one.inputs.instrument != "footprint"]
        assert {one.inputs.candidate for one in measured} >= {"cobalt", "evl"}
        assert {one.manifest.timing for one in measured} == {Timing.INSTRUCTIONS}
        raw = {info.name for one in measured for info in one.manifest.series if info.name.startswith("latency")}
        assert raw == ({"latency"} if scale == "demo" else {"latency less gravity"})
