# SPDX-License-Identifier: MIT
"""What `rtqual mission check` says of missions that cannot give what they ask for, before anything runs."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from rtqual.base import apt
from rtqual.base.architecture import ARM64, Architecture
from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.boards import machine
from rtqual.engine.boards.local import ran
from rtqual.engine.campaign import feasible
from rtqual.engine.campaign.foresee import foresee
from rtqual.engine.mission import Tailor, load_mission
from support.command import Run
from support.stories import TOLD

MISSIONS = Path(__file__).parents[2] / "data" / "missions"
EMULATED = "the emulator's counted instructions rank kernels only: to fly one, measure it on the board"
NOBODY = "no candidate can fly because"
NO_AGENT = "rtqual's rtqual-agent-arm64 is not installed: run `make image-packages arm` in rtqual's folder"
NO_PACKAGE = "no Debian package linux-image-real-time is known to apt"
REBOOT = "this machine runs 6.1.0-18-amd64, candidate here is 0.0.1-rt-none: boot it and run the same command again"
FORESEEN = {
    "emulator-alone": [f"{NOBODY} {EMULATED}"],
    "no-such-bus": [
        "the virtual board has no controller for spi and gpio: try that on yours",
        f"{NOBODY} {EMULATED}",
    ],
    "not-planned": [
        "no plan measures 'wake-up' (cyclictest under hackbench)",
        f"{NOBODY} no plan measures 'wake-up' (cyclictest under hackbench)",
    ],
    "few-runs": ["'wake-up' gets 2 runs and max needs 6", f"{NOBODY} 'wake-up' gets 2 runs and max needs 6"],
    "few-samples": [
        "'wake-up' gets 10,000 samples and p99.99 needs 36,889",
        f"{NOBODY} 'wake-up' gets 10,000 samples and p99.99 needs 36,889",
    ],
    "no-guest-for-arm64": [f"arm64: {NO_AGENT}", f"{NOBODY} arm64: {NO_AGENT}; debian: {EMULATED}"],
    "no-such-package": [f"typo: {NO_PACKAGE}", f"{NOBODY} typo: {NO_PACKAGE}; debian: {EMULATED}"],
    "root-without-sysbench": [
        'sysbench-fileio-root idle cannot run: root = "minimal" has no sysbench',
        f'{NOBODY} sysbench-fileio-root idle cannot run: root = "minimal" has no sysbench',
    ],
    "module-here": [
        "probe-kernel-wakeup idle cannot run: it needs a guest",
        f"{NOBODY} probe-kernel-wakeup idle cannot run: it needs a guest",
    ],
}
REFUSED = {
    "two-without-kernels": "may be the very kernel that one is; state release (or preempt-rt) for both",
    "runs-without-end": "runs: 1000000000 should be less than or equal to 10000",
    "cycles-true": "parameters.cyclictest.cycles: True should be a whole number",
}


@pytest.fixture(autouse=True)
def this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs Debian's stock kernel on no hypervisor; has no agent for 64-bit ARM; apt knows every kernel but one."""

    def require_known(name: str, _: Architecture) -> None:
        if name in ("linux-image-real-time", "linux-image-foo-arm64"):
            raise BadInput(NO_PACKAGE)

    def guest_file(name: str) -> Path:
        if name.endswith("-arm64"):
            raise RunFailed(NO_AGENT)
        return Path(name)

    machine.why_no_guest.cache_clear()
    monkeypatch.setattr(feasible, "require_known", require_known)
    monkeypatch.setattr(machine, "guest_file", guest_file)
    monkeypatch.setattr(feasible.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(feasible, "program", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr("rtqual.engine.campaign.foresee.hypervisor", lambda: None)
    monkeypatch.setattr("rtqual.engine.campaign.stated.running", lambda: ran("6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC"))


def test_every_story_is_told() -> None:
    told = {path.stem for path in MISSIONS.glob("*.toml")} - TOLD.keys()
    assert told == FORESEEN.keys() | REFUSED.keys() | {"reboot"}


@pytest.mark.parametrize("story", FORESEEN)
def test_a_check_ends_with_why_nobody_can_fly(rtqual: Run, story: str) -> None:
    done = rtqual("mission", "check", MISSIONS / f"{story}.toml")
    assert (done.returncode, done.stderr) == (0, "")
    first, *foreseen = done.stdout.splitlines()
    assert first.startswith(f"{MISSIONS / story}.toml: good; ")
    assert foreseen == [f"scale demo: {line}" for line in FORESEEN[story]]


def test_a_check_says_that_nothing_is_required(rtqual: Run) -> None:
    done = rtqual("mission", "check", MISSIONS / "story-6-nothing-required.toml")
    assert done.stdout.splitlines()[-1] == f"scale demo: {NOBODY} the mission sets no requirement"


def test_a_check_says_what_to_boot_and_that_somebody_may_fly_then(rtqual: Run, tmp_path: Path) -> None:
    path = MISSIONS / "reboot.toml"
    assert rtqual("mission", "check", path).stdout.splitlines()[1:] == [REBOOT]
    dry = rtqual("select", path, "--dry-run", "--out", tmp_path / "out").stdout.splitlines()
    assert dry[-2] == REBOOT
    assert dry[-1].startswith("Left to do: 10 runs")


@pytest.mark.guest  # on the board that its emulator brings
def test_a_package_that_apt_does_not_know_is_told_of_every_processor(
    rtqual: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "guest_file", Path)
    machine.why_no_guest.cache_clear()
    path = tmp_path / "foo.toml"
    path.write_text(
        (MISSIONS / "no-such-package.toml").read_text().replace("linux-image-real-time", "linux-image-foo-arm64")
    )
    assert f"typo: {NO_PACKAGE}" in rtqual("mission", "check", path).stdout


@pytest.mark.guest
def test_apts_lists_of_another_processor_tell_its_packages() -> None:
    apt.require_known("linux-image-arm64", ARM64)
    with pytest.raises(BadInput, match=r"linux-image-6\.12-foo-arm64 is known to apt"):
        apt.require_known("linux-image-6.12-foo-arm64", ARM64)


@pytest.mark.parametrize("story", REFUSED)
def test_a_mission_that_cannot_be_meant_is_refused(rtqual: Run, story: str) -> None:
    done = rtqual("mission", "check", MISSIONS / f"{story}.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert REFUSED[story] in done.stderr


def test_a_dry_run_says_the_same(rtqual: Run, tmp_path: Path) -> None:
    command = ("select", MISSIONS / "few-runs.toml", "--dry-run", "--out", tmp_path / "out")
    told = [f"scale demo: {line}" for line in FORESEEN["few-runs"]]
    *_, first, second, last = rtqual(*command).stdout.splitlines()
    assert [first, second] == told
    assert last.startswith("Left to do: ")
    foreseen = json.loads(rtqual(*command, "--json").stdout)["foreseen"]
    assert foreseen == {
        "remarks": ["'wake-up' gets 2 runs and max needs 6"],
        "nobody": "'wake-up' gets 2 runs and max needs 6",
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("purpose =", "accept-virtual = true\npurpose ="),
        ('package = "linux-image-rt-amd64"', "this-machine = true\npreempt-rt = false"),
    ],
)
def test_nothing_is_foreseen_where_somebody_may_fly(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "mission.toml"
    path.write_text((MISSIONS / "emulator-alone.toml").read_text().replace(old, new))
    found = foresee(load_mission(path), "demo")
    assert (found.remarks, found.nobody) == ((), "")


def test_a_machine_that_is_none_or_states_nothing_clears_nobody(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "mission.toml"
    text = (MISSIONS / "emulator-alone.toml").read_text()
    text = text[: text.index("[[candidate]]")] + text[text.index("[[candidate]]", text.index("[[candidate]]") + 1) :]
    path.write_text(text.replace('package = "linux-image-amd64"', "this-machine = true"))
    assert foresee(load_mission(path), "demo").nobody.startswith(
        "this machine is a flight candidate only where release"
    )
    monkeypatch.setattr("rtqual.engine.campaign.foresee.hypervisor", lambda: "kvm")
    assert foresee(load_mission(path), "demo").nobody == "this machine is a guest of kvm"


def test_a_program_that_is_missing_here_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(feasible, "program", lambda name: None if name == "hackbench" else name)
    path = tmp_path / "mission.toml"
    path.write_text((MISSIONS / "reboot.toml").read_text().replace("0.0.1-rt-none", "6.1.0-18-amd64"))
    (remark,) = foresee(load_mission(path), "demo").remarks
    assert remark == "cyclictest under hackbench cannot run: hackbench is not installed on this machine"


def test_a_size_needs_one_run_and_a_rate_needs_ten(tmp_path: Path) -> None:
    path = tmp_path / "mission.toml"
    text = (MISSIONS / "root-without-sysbench.toml").read_text().replace('root = "minimal"\n', "")
    path.write_text(text.replace("runs = 10", "runs = 9"))
    assert foresee(load_mission(path), "demo").nobody == "'requests' gets 9 runs and requests_per_s needs 10"
    size = text.replace("sysbench-fileio-root", "footprint").replace("requests_per_s", "ram_used")
    path.write_text(size.replace("at_least = 20", 'at_most = "1 GiB"').replace("runs = 10", "runs = 1"))
    assert foresee(load_mission(path), "demo").nobody == EMULATED


def test_a_symbol_is_asked_for_once() -> None:
    with pytest.raises(ValidationError, match="USB_ACM is asked for twice, with and without CONFIG_; leave one out"):
        Tailor(require={"USB_ACM": "y", "CONFIG_USB_ACM": "n"})
