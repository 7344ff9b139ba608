# SPDX-License-Identifier: MIT
"""The docking kernel for 64-bit ARM: what its mission asks for, its configuration, and (`make test-manual`) the kernel
itself, built and booted on the virtual board."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from rtqual.base.architecture import AMD64, ARM64
from rtqual.base.errors import RunFailed
from rtqual.engine.initramfs import contents
from rtqual.engine.mission import load_mission
from rtqual.parts.images.assembly import build as image_of
from rtqual.parts.images.image_trial import boot
from rtqual.parts.images.request import request_for
from rtqual.parts.tailor.configure.resolve import resolve
from rtqual.parts.tailor.configure.rules import removals
from rtqual.parts.tailor.configure.tree import debian_tree, open_tree
from rtqual.parts.tailor.make.build import build
from rtqual.parts.tailor.stage import tailored
from rtqual.protocols.record.schema import Manifest
from rtqual.protocols.record.store import Store, read
from support.command import rtqual_command

ROOT = Path(__file__).parents[3]
MISSION = ROOT / "docking/missions/docking-arm64.toml"
RASPBERRY_PI = (
    *("ARCH_BCM2835", "CLK_BCM2835", "MMC_BCM2835", "MMC_SDHCI_IPROC", "DMA_BCM2835", "REGULATOR_GPIO"),
    *("PCIE_BRCMSTB", "USB_DWC2", "NOP_USB_XCEIV", "RASPBERRYPI_POWER", "PM_GENERIC_DOMAINS", "BCM2835_WDT"),
)
VIRTUAL_BOARD = ("SERIAL_AMBA_PL011_CONSOLE", "PCI_HOST_GENERIC", "SERIAL_8250_PCI", "VIRTIO_BLK", "DEVMEM")


def test_the_mission_is_the_docking_missions_on_another_processor() -> None:
    mission, other = load_mission(MISSION), load_mission(ROOT / "docking/missions/docking.toml")
    assert mission.mission.needs == other.mission.needs and mission.mission.duration == other.mission.duration
    (candidate,) = tailored(mission, "tailor")
    assert (candidate.architecture, candidate.board) == (ARM64, "virtual-arm64")
    assert candidate.tailor and {"raspberry-pi", "virtual-board"} <= set(candidate.tailor.needs)
    (before,) = (c for c in mission.candidates if c.name == mission.baseline(candidate))
    assert before.package == "linux-image-6.12-rt-arm64" and before.board == candidate.board


@pytest.mark.guest  # the agent for arm64, whose compiler `make test` installs
def test_the_agent_holds_where_the_clock_looks_for_it() -> None:
    """The no-op at which a guest is held, in the agent's code and in the plugins' list (target/observers/insns.h)."""
    try:
        agent = contents.guest_file(f"rtqual-agent{ARM64.suffix}")
    except RunFailed:
        pytest.skip("no agent for arm64 guests: `make image-packages arm`")
    listed = re.search(r"a64_mark\[\] = \{ (.*?) \}", (ROOT / "target/observers/insns.h").read_text())
    assert listed
    mark = bytes(int(one, 16) for one in listed[1].split(","))
    assert agent.read_bytes().count(mark) == 1
    assert mark not in contents.guest_file(f"rtqual-agent{AMD64.suffix}").read_bytes()


def test_an_agent_that_is_not_built_is_named_with_what_builds_it() -> None:
    with pytest.raises(RunFailed, match="rtqual-nothing-arm64 is not installed: run `make image-packages arm`"):
        contents.guest_file("rtqual-nothing-arm64")


def test_a_missing_cross_compiler_is_named_with_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tree/arch/arm64").mkdir(parents=True)
    (tmp_path / "tree/arch/arm64/Kconfig").write_text("config ARM64\n\tselect ARCH_SUPPORTS_RT\n")
    (tmp_path / "tree/Makefile").write_text("VERSION = 6\nPATCHLEVEL = 12\n")
    tree = open_tree(tmp_path / "tree", ARM64)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunFailed, match=r"aarch64-linux-gnu-gcc for arm64 is missing: .*gcc-aarch64-linux-gnu`"):
        build(tree, "CONFIG_MODULES=y\n")


@pytest.mark.full  # about 20 s
def test_one_configuration_for_the_raspberry_pi_and_the_virtual_board(tmp_path: Path) -> None:
    mission = load_mission(MISSION)
    (candidate,) = tailored(mission, "tailor")
    assert candidate.tailor
    needs = (*mission.mission.needs, *candidate.tailor.needs)
    found = resolve(debian_tree(ARM64), needs, start="minimal", removals=removals(), folder=tmp_path / "out")
    for name in ("PREEMPT_RT", "HIGH_RES_TIMERS", "USB_VIDEO_CLASS", *RASPBERRY_PI, *VIRTUAL_BOARD):
        assert found.config.get(name) == "y", name
    assert not found.kept and len(found.outcomes) == 32


@pytest.mark.manual  # builds a kernel: 15 minutes
def test_the_tailored_kernel_is_small_boots_and_measures(tmp_path: Path) -> None:
    command = rtqual_command("tailor", MISSION, "--scale", "tailor-smoke", "--out", tmp_path)
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3600)
    assert ran.returncode == 0, ran.stderr[-2000:]
    (kernel,) = json.loads((tmp_path / "tailor.json").read_text())["kernels"]
    assert kernel["architecture"] == "arm64" and {entry["state"] for entry in kernel["entries"]} <= {
        "gone",
        "no longer exists",
    }
    records = [read(path).manifest for path in Store(tmp_path / "records").paths()]
    before, after = (scalars(records, name, "footprint") for name in ("debian-rt-arm64", "tailored-arm64"))
    assert after["image_size"] <= 4_000_000 < before["image_size"]
    assert after["installed_size"] <= before["installed_size"] / 20
    assert after["ram_used"] <= before["ram_used"] / 2
    assert after["boot_to_user_space"] < before["boot_to_user_space"]
    worked = scalars(records, "tailored-arm64", "exercise")
    assert worked["usb_disk_compared"] > 0 and worked["camera_frames"] > 0 and worked["radios_up"] == 2
    latencies = [r for r in records if (r.inputs.candidate, r.inputs.instrument) == ("tailored-arm64", "cyclictest")]
    assert latencies and all(r.provenance.clock_resolution_ns == 1 and not r.problems for r in latencies)
    assert all("PREEMPT_RT" in (r.provenance.kernel or "") for r in latencies)


@pytest.mark.manual  # builds a kernel: half an hour of processor time
def test_a_tailored_kernel_boots_on_an_emulated_raspberry_pi(tmp_path: Path) -> None:
    """From its card, as `rtqual image --boot`; bench/raspberry_pi.py uses more of it."""
    mission = load_mission(ROOT / "bench/raspberry_pi.toml")
    image = image_of(
        request_for(mission, "tailored", architecture="arm64", flavour="minimal", form="disk"), tmp_path / "card"
    )
    up = boot(image)
    assert up.tried and up.tried.machine == "raspi3b" and not up.tried.fails
    everything = {"console", "SD card", "USB disk", "watchdog", "random generator", "I2C", "pins", "power off"}
    assert set(up.tried.works) == everything and up.root == "ext4 ro" and up.probe_ok == 2


def scalars(records: list[Manifest], candidate: str, instrument: str) -> dict[str, float]:
    (record, *_) = (r for r in records if (r.inputs.candidate, r.inputs.instrument) == (candidate, instrument))
    return {name: scalar.value for name, scalar in record.scalars.items()}
