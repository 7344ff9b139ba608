# SPDX-License-Identifier: MIT
"""System images booted in QEMU, and Debian's root made and compared: real kernels, real packages."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.errors import RunFailed
from rtqual.base.program import find
from rtqual.engine.mission import load_mission
from rtqual.parts.images.assembly import MINIMAL_ROOT_AT_MOST_B, Request, build
from rtqual.parts.images.image_trial import boot
from rtqual.parts.images.request import request_for
from rtqual.parts.images.two_roots import two_roots

DOCKING = Path(__file__).parents[3] / "docking/missions/docking.toml"

pytestmark = pytest.mark.full


@pytest.fixture
def request_of() -> Callable[..., Request]:
    def make(architecture: str = "amd64", form: str = "disk") -> Request:
        kernel = f"linux-image-rt-{'armmp' if architecture == 'armhf' else architecture}"
        return request_for(load_mission(DOCKING), kernel, architecture=architecture, flavour="minimal", form=form)

    return make


@pytest.mark.parametrize(
    ("architecture", "form"), [("amd64", "disk"), ("arm64", "disk"), ("armhf", "disk"), ("amd64", "initramfs")]
)
def test_a_minimal_image_boots_to_its_root_and_runs_the_probe(
    architecture: str, form: str, request_of: Callable[..., Request], tmp_path: Path
) -> None:
    """About 15 s each, ARM a minute: twice built with the same bytes, then booted; ARM from the card itself."""
    request = request_of(architecture, form)
    (tmp_path / "again").mkdir()
    image, again = (build(request, tmp_path / place) for place in ("image", "again/image"))
    assert image.path.read_bytes() == again.path.read_bytes()
    assert image.sbom.read_bytes() == again.sbom.read_bytes()
    assert image.root.content_b <= MINIMAL_ROOT_AT_MOST_B
    up = boot(image)
    assert up.release == image.release
    assert up.module_trees == (image.release,), "one tree of modules, this kernel's"
    assert up.root == ("ext4 ro" if form == "disk" else "rootfs rw")
    assert up.probe_ok == 2, "the static probe measures inside: wake-up and asleep"
    assert 2**20 < up.ram_used_b < up.ram_total_b / 4
    if architecture != "amd64":
        assert up.tried and not up.tried.fails
        assert up.tried.machine == {"arm64": "raspi3b", "armhf": "raspi2b"}[architecture]
        assert set(up.tried.works) == {"console", "SD card", "USB disk", "watchdog", "random generator", "power off"}
    else:
        assert up.tried is None


def test_an_image_that_does_not_boot_is_told_with_its_last_lines(
    request_of: Callable[..., Request], tmp_path: Path
) -> None:
    """About 40 s, 30 of which its first program looks for a root: the root's first block is gone."""
    image = build(request_of(), tmp_path / "image")
    command = [find("sfdisk", "fdisk"), "--json", str(image.path)]
    table = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    with image.path.open("r+b") as disk:
        disk.seek(table["partitiontable"]["partitions"][1]["start"] * 512)
        disk.write(bytes(4096))
    with pytest.raises(RunFailed, match=r"last lines: .*(no disk has the root|Kernel panic)"):
        boot(image, timeout_s=300)
    with pytest.raises(RunFailed, match="no kernel on its boot partition"):
        boot(replace(image, path=image.sbom))


@pytest.mark.manual
def test_the_same_kernel_takes_less_with_a_minimal_root_than_with_debians(
    request_of: Callable[..., Request], tmp_path: Path
) -> None:
    """About two minutes, most of them mmdebstrap's where its archive is not in the cache."""
    found = two_roots(request_of(), tmp_path)
    minimal, debian = found["minimal"], found["debian"]
    assert minimal.booted and debian.booted
    assert debian.booted.root == "ext4 rw" and debian.booted.probe_ok == 2
    assert debian.booted.module_trees == (debian.image.release,)
    assert minimal.booted.ram_used_b < debian.booted.ram_used_b
    assert minimal.image.root.content_b * 20 < debian.image.root.content_b
    assert minimal.figures()["kernel"] == debian.figures()["kernel"]
    listed = debian.image.sbom.read_text()
    for name in ("libc6", "systemd", "wpasupplicant"):
        assert f'"name": "{name}"' in listed
    assert "usr/share/man/man1" not in listed
