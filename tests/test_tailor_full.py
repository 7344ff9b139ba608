# SPDX-License-Identifier: MIT
"""A real kernel, tailored to the docking mission: resolved, built, booted and measured beside Debian's; kernels
built twice to the same bytes (`make test-manual`).

Downloads are taken from the user's cache; nothing built before is.
"""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import rtqual_command
from kernel_trees import tiny_config
from rtqual.kernel.build import Built, build
from rtqual.kernel.tree import debian_tree, open_tree
from rtqual.packages import cache_dir
from rtqual.record.schema import Manifest
from rtqual.record.store import Store, read

pytestmark = pytest.mark.manual

MISSION = Path(__file__).parent.parent / "missions/docking.toml"
Elsewhere = Callable[[str], Built]
DOWNLOADS = ("archives", "unpacked", "kernel-trees", "disks")


@dataclass(frozen=True)
class Done:
    folder: Path
    cache: Path
    records: tuple[Manifest, ...]

    def scalars(self, candidate: str, instrument: str) -> dict[str, float]:
        (record, *_) = (r for r in self.records if (r.inputs.candidate, r.inputs.instrument) == (candidate, instrument))
        return {name: scalar.value for name, scalar in record.scalars.items()}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Done]:
    """`rtqual tailor` at its smallest scale, with nothing built before."""
    base = tmp_path_factory.mktemp("tailor")
    shared = cache_dir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(base / "cache"))
        for name in DOWNLOADS:
            (shared / name).mkdir(exist_ok=True)
            (cache_dir() / name).symlink_to(shared / name)
        command = rtqual_command("tailor", MISSION, "--scale", "tailor-smoke", "--out", base / "out")
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3600)
        assert ran.returncode == 0, ran.stderr[-2000:]
        paths = Store(base / "out/records").paths()
        yield Done(base / "out", cache_dir(), tuple(read(path).manifest for path in paths))
    shutil.rmtree(base)


def test_every_removal_entry_is_answered(done: Done) -> None:
    (kernel,) = json.loads((done.folder / "tailor.json").read_text())["kernels"]
    states = [entry["state"] for entry in kernel["entries"]]
    assert len(states) == 32 and set(states) <= {"gone", "no longer exists", "kept"}
    assert states.count("gone") > 16
    for entry in kernel["entries"]:
        assert entry["text"] and bool(entry["held"]) == (entry["state"] == "kept")
    text = (done.folder / "report.md").read_text()
    assert "Before and after" in text and "removal list" in text


def test_the_tailored_kernel_is_real_time_and_small(done: Done) -> None:
    before, after = (done.scalars(name, "footprint") for name in ("debian-rt-6-12", "tailored"))
    assert after["image_size"] <= 3_000_000 < before["image_size"]
    assert after["installed_size"] <= before["installed_size"] / 10  # modules for tests included
    assert after["ram_used"] <= before["ram_used"] / 2
    assert after["boot_to_user_space"] <= before["boot_to_user_space"] * 0.6  # 2 s of both are the firmware's
    assert after["syscalls"] < before["syscalls"] and after["symbols"] < before["symbols"] / 2
    latencies = [r for r in done.records if (r.inputs.candidate, r.inputs.instrument) == ("tailored", "cyclictest")]
    assert latencies and all(r.provenance.clock_resolution_ns == 1 for r in latencies)
    assert all("PREEMPT_RT" in (r.provenance.kernel or "") and not r.problems for r in latencies)


def test_what_the_mission_needs_works_on_it(done: Done) -> None:
    worked = done.scalars("tailored", "exercise")
    assert worked["usb_disk_compared"] > 0 and worked["camera_frames"] > 0
    assert worked["camera_driver"] == 1 and worked["radios_up"] == 2


def test_the_kernel_built_again_elsewhere_without_ccache_is_the_same(done: Done, elsewhere: Elsewhere) -> None:
    (kernel,) = json.loads((done.folder / "tailor.json").read_text())["kernels"]
    (config,) = (done.cache / "kernels").glob("*/boot/config-*")
    assert elsewhere(config.read_text()).sha256 == kernel["sha256"]


def test_a_small_kernel_built_again_elsewhere_without_ccache_is_the_same(elsewhere: Elsewhere, tmp_path: Path) -> None:
    tree = debian_tree()
    config = tiny_config(tree, tmp_path)
    made = build(tree, config)
    assert elsewhere(config).sha256 == made.sha256


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    """Builds from a copy of the tree, with nothing cached, in folders of other names."""

    def again(config: str) -> Built:
        tree = debian_tree().path
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
        other = cache_dir() / "kernel-trees" / tree.name
        other.parent.mkdir()
        subprocess.run(["cp", "-al", f"{tree}/", str(other)], check=True)
        return build(open_tree(other), config, ccache=False)

    return again
