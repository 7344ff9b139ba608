# SPDX-License-Identifier: MIT
"""A real kernel, tailored to the docking mission: resolved, built, booted and measured beside Debian's, and under the
roots of system images (`make test-full`); kernels built twice to the same bytes (`make test-manual`).

What is kept of an earlier run is taken: other tests run the same kernel, which takes some ten minutes to build.
"""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rtqual.base.cache import cache_dir
from rtqual.engine.campaign.run import Watcher
from rtqual.engine.mission import load_mission
from rtqual.parts.images.assembly import MINIMAL_ROOT_AT_MOST_B
from rtqual.parts.tailor.configure.tree import debian_tree, open_tree
from rtqual.parts.tailor.make.build import BuiltKernel, build
from rtqual.protocols.record.schema import Manifest
from rtqual.protocols.record.store import Store, read
from rtqual.stages import verify
from support.command import rtqual_command
from support.kernel_trees import tiny_config

MISSION = Path(__file__).parents[3] / "docking/missions/docking.toml"
SYSTEMS = ("debian-system", "software-uninstalled", "flight-system")
Elsewhere = Callable[[str], BuiltKernel]


@dataclass(frozen=True)
class Done:
    folder: Path
    records: tuple[Manifest, ...]

    def scalars(self, candidate: str, instrument: str) -> dict[str, float]:
        (record, *_) = (r for r in self.records if (r.inputs.candidate, r.inputs.instrument) == (candidate, instrument))
        return {name: scalar.value for name, scalar in record.scalars.items()}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """`rtqual tailor` at its smallest scale: where no kernel is kept, a quarter of an hour on two quiet cores."""
    folder = tmp_path_factory.mktemp("tailor") / "out"
    command = rtqual_command("tailor", MISSION, "--scale", "tailor-smoke", "--out", folder)
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3600)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return Done(folder, tuple(read(path).manifest for path in Store(folder / "records").paths()))


def tailored_kernel(done: Done) -> dict[str, Any]:
    kernels = json.loads((done.folder / "tailor.json").read_text())["kernels"]
    assert len({kernel["sha256"] for kernel in kernels}) == 1, "one kernel, under several roots"
    found: dict[str, Any] = next(kernel for kernel in kernels if kernel["candidate"] == "tailored")
    return found


@pytest.mark.full
def test_every_removal_entry_is_answered(done: Done) -> None:
    kernel = tailored_kernel(done)
    states = [entry["state"] for entry in kernel["entries"]]
    assert len(states) == 32 and set(states) <= {"gone", "no longer exists", "kept"}
    assert states.count("gone") > 16
    for entry in kernel["entries"]:
        assert entry["text"] and bool(entry["held"]) == (entry["state"] == "kept")
    text = (done.folder / "report.md").read_text()
    assert "Before and after" in text and "removal list" in text


@pytest.mark.full
def test_the_tailored_kernel_is_real_time_and_small(done: Done) -> None:
    before, after = (done.scalars(name, "footprint") for name in ("debian-rt-6-12", "tailored"))
    assert after["image_size"] <= 3_000_000 < before["image_size"]
    assert after["installed_size"] <= before["installed_size"] / 10  # modules for tests included
    assert after["ram_used"] <= before["ram_used"] / 2
    assert after["boot_to_user_space"] <= before["boot_to_user_space"] / 3  # from power-on, firmware included
    assert after["syscalls"] < before["syscalls"] and after["symbols"] < before["symbols"] / 2
    latencies = [r for r in done.records if (r.inputs.candidate, r.inputs.instrument) == ("tailored", "cyclictest")]
    assert latencies and all(r.provenance.clock_resolution_ns == 1 for r in latencies)
    assert all("PREEMPT_RT" in (r.provenance.kernel or "") and not r.problems for r in latencies)


@pytest.mark.full
def test_what_the_mission_needs_works_on_it(done: Done) -> None:
    worked = done.scalars("tailored", "exercise")
    assert worked["usb_disk_compared"] > 0 and worked["camera_frames"] > 0
    assert worked["usb_camera_frames"] > 0 and worked["radios_up"] == 2


@pytest.mark.full
def test_one_kernel_takes_less_under_the_minimal_root_and_the_flight_system_least(done: Done) -> None:
    debian, uninstalled, flight = (done.scalars(name, "footprint") for name in SYSTEMS)
    assert debian["image_size"] == uninstalled["image_size"] > flight["image_size"]
    assert debian["root_size"] > 20 * uninstalled["root_size"]
    assert flight["root_size"] <= uninstalled["root_size"] <= MINIMAL_ROOT_AT_MOST_B  # which names modules to load
    for figure in ("installed_size", "ram_used", "boot_until_ready", "start_up"):
        assert debian[figure] > uninstalled[figure] > flight[figure], figure
    assert debian["installed_with_minbase"] < debian["installed_size"]
    assert flight["installed_size"] == flight["installed_with_minbase"] <= debian["installed_with_minbase"] / 40
    assert flight["boot_to_user_space"] <= uninstalled["boot_to_user_space"] / 3
    measured = [r for r in done.records if r.inputs.instrument == "cyclictest" and r.inputs.candidate in SYSTEMS]
    assert {r.inputs.candidate for r in measured} == {*SYSTEMS}
    assert all("PREEMPT_RT" in (r.provenance.kernel or "") and not r.problems for r in measured)
    assert "Whole systems" in (done.folder / "report.md").read_text()


@pytest.mark.full
@pytest.mark.parametrize("candidate", ["tailored", "flight-system"])
def test_a_board_whose_tailored_kernel_panics_goes_on_with_its_state(done: Done, candidate: str) -> None:
    """Its watchdog, the memory that a reset keeps and sysrq: what the need `resets` is for."""
    asked = verify.plan(load_mission(MISSION), verify.FULL, ["kernel-panic"], candidate)
    made = verify.campaign(asked, done.folder.with_name(candidate), 1)
    made.cells = [cell for cell in made.cells if not cell.repeat]
    verified = verify.verify(asked, made, Watcher())
    assert verified.passed, (verified.failures, [run.why for run in verified.runs])


@pytest.mark.full
def test_the_lint_finds_no_error_in_the_tailored_kernel(done: Done) -> None:
    kernel = tailored_kernel(done)
    assert kernel["lint_rules"] > len(kernel["lint"])
    assert not [one for one in kernel["lint"] if one["severity"] == "error" and one["state"] == "found"]


@pytest.mark.manual
def test_the_kernel_built_again_elsewhere_without_ccache_is_the_same(done: Done, elsewhere: Elsewhere) -> None:
    kernel = tailored_kernel(done)
    config = (done.folder / "configs/tailored.config").read_text()
    assert elsewhere(config).sha256 == kernel["sha256"]


@pytest.mark.manual
def test_a_small_kernel_built_again_elsewhere_without_ccache_is_the_same(elsewhere: Elsewhere, tmp_path: Path) -> None:
    tree = debian_tree()
    config = tiny_config(tree, tmp_path)
    made = build(tree, config)
    assert elsewhere(config).sha256 == made.sha256


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    """Builds from a copy of the tree, with nothing cached, in folders of other names."""

    def again(config: str) -> BuiltKernel:
        tree = debian_tree().path
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
        other = cache_dir() / "kernel-trees" / tree.name
        other.parent.mkdir()
        subprocess.run(["cp", "-al", f"{tree}/", str(other)], check=True)
        return build(open_tree(other), config, ccache=False)

    return again
