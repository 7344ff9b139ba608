# SPDX-License-Identifier: MIT
"""The runs of a cell begin from several boots of its kernel, which differ by a parameter that no kernel knows."""

from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.engine.analysis.figure.model import Group
from rtqual.engine.analysis.figure.summary import measure
from rtqual.engine.analysis.regression.regressions import Side, regressions
from rtqual.engine.analysis.verdict.differing import _boot
from rtqual.engine.campaign.plan import plan
from rtqual.engine.mission import load_mission
from rtqual.protocols.record.schema import BOOT, Record, Series
from rtqual.protocols.record.store import Store
from support.analysis_records import record
from support.command import Fails, Run, mission_text


def planned(folder: Path, text: str) -> list[int]:
    path = folder / "tiny.toml"
    path.write_text(text)
    return [cell.boot for cell in plan(load_mission(path), "demo") if cell.load == "none" and not cell.repeat]


def varied(runs: int, word: str = BOOT) -> list[Record]:
    """Each of another boot."""
    made = [record(Series.raw([8_000 + seed, 9_000], name="latency"), seed=seed) for seed in range(1, runs + 1)]
    return [
        replace(one, manifest=one.manifest.model_copy(update={"inputs": one.inputs.model_copy(
            update={"artefacts": {"kernel parameters": f"quiet {word}{'x' * number}"}})}))
        for number, one in enumerate(made)
    ]  # fmt: skip


def test_runs_begin_from_so_many_boots_by_turns(tmp_path: Path, fails: Fails) -> None:
    text = mission_text("debian-rt", runs=8)
    asked = text.replace("[[scale", "[scale.demo]\nboots = 3\n\n[[scale", 1)
    assert planned(tmp_path, text) == [0] * 8
    assert planned(tmp_path, asked) == [0, 1, 2, 1, 2, 0, 2, 0]
    two = planned(tmp_path, asked.replace("boots = 3", "boots = 2"))
    assert sorted(two[::2]) == sorted(two[1::2]) == [0, 0, 1, 1], "those that begin later, of even seeds, are of each"
    assert planned(tmp_path, asked.replace("boots = 3", "boots = 8")) == [*range(8)]
    here = asked.replace('package = "linux-image-rt-amd64"', "this-machine = true")
    assert planned(tmp_path, here) == [0] * 8, "nobody boots this machine"
    (tmp_path / "none.toml").write_text(asked.replace("boots = 3", "boots = 0"))
    assert "boots" in fails(2, "mission", "check", tmp_path / "none.toml")


def test_runs_of_several_boots_are_one_measurement() -> None:
    group = Group("cyclictest", "hackbench", "virtual", 1, "rt")
    alike, unlike = (measure(group, varied(4, word)).summary.problems for word in (BOOT, "mitigations="))
    assert not any("not one measurement" in problem for problem in alike)
    assert any("not one measurement" in problem for problem in unlike)
    assert not regressions(Side("a", varied(4)), Side("b", varied(4))).failed
    told = [one.manifest.provenance.model_copy(update={"kernel_cmdline": f"quiet {BOOT}x"}) for one in varied(1)]
    assert _boot([replace(one, manifest=one.manifest.model_copy(update={"provenance": made}))
                  for one, made in zip(varied(1), told, strict=True)]) == ["quiet"]  # fmt: skip


@pytest.mark.guest
def test_a_run_of_another_boot_is_measured_and_made_again(rtqual: Run, tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(
        mission_text("debian-rt", loads=("none",), runs=3).replace("[[scale", "[scale.demo]\nboots = 2\n\n[[scale", 1)
    )
    assert rtqual("select", tmp_path / "tiny.toml", "--out", tmp_path / "out").returncode == 0
    records = {(one.inputs.seed, one.manifest.repeat): one for one in Store(tmp_path / "out/records").read_all()}
    words = {seed: [word for word in one.inputs.artefacts["kernel parameters"].split() if word.startswith(BOOT)]
             for (seed, _), one in records.items()}  # fmt: skip
    assert words[1] == [] and words[2] == words[3] and len(words[3]) == 1
    assert BOOT in str(records[3, 0].manifest.provenance.kernel_cmdline), "as its kernel said"
    path = next(path for path in (tmp_path / "out/records").iterdir()
                if path.name.startswith(records[3, 0].inputs.key()[:8]))  # fmt: skip
    assert rtqual("reproduce", path).returncode == 0
