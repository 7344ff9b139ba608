# SPDX-License-Identifier: MIT
"""`rtqual tailor` on a mission that has no tailored kernel yet, and no further than a configuration or a package."""

import json
import subprocess
from pathlib import Path

import pytest

from rtqual.base.architecture import AMD64
from rtqual.base.errors import BadInput
from rtqual.engine.mission import load_mission
from rtqual.parts.tailor import stage
from rtqual.parts.tailor.make.build import BuiltKernel
from rtqual.parts.tailor.until import packaged
from rtqual.stages.init import Wanted, init
from support.command import Run


@pytest.mark.parametrize(
    ("board", "more"), [("virtual", "resets"), ("virtual-arm64", "raspberry-pi"), ("virtual-pi3", "raspberry-pi")]
)
def test_a_mission_that_init_wrote_gets_a_tailored_kernel_beside_debians(tmp_path: Path, board: str, more: str) -> None:
    path = tmp_path / "mine.toml"
    init(path, Wanted("least", board, "1 ms", ()))
    mission = stage.begun(load_mission(path))
    (candidate,) = stage.tailored(mission, stage.SCALE)
    assert candidate.tailor and more in candidate.tailor.needs
    assert mission.baseline(candidate) == "debian-rt" and candidate.board == board
    assert "demo" in mission.scales and stage.begun(mission) is mission
    here = tmp_path / "here.toml"
    init(here, Wanted("least", "local", "1 ms", ()))
    with pytest.raises(BadInput, match="tailor"):
        stage.check(stage.begun(load_mission(here)), stage.SCALE)


def test_a_kernels_package_holds_its_files_and_tells_the_boot_loader(tmp_path: Path) -> None:
    files = ("boot/vmlinuz-6.12.3", "boot/config-6.12.3", "lib/modules/6.12.3/modules.dep", "built")
    for name in files:
        (tmp_path / "kernel" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "kernel" / name).write_text(f"{name}\n")
    built = BuiltKernel(tmp_path / "kernel", "6.12.3", "6.12.3-rc1", "gcc 12", 3, "0" * 64)
    made, again = (packaged("Tailored_one", built, AMD64, tmp_path) for _ in range(2))
    assert made.package.name == "linux-image-6.12.3-tailored-one_6.12.3-1_amd64.deb" and made == again
    unpacked = tmp_path / "unpacked"
    subprocess.run(["dpkg-deb", "--raw-extract", made.package, unpacked], check=True)
    assert all((unpacked / name).read_text() == f"{name}\n" for name in files[:-1])
    assert not (unpacked / "built").exists()
    assert "--arg=6.12.3 --arg=/boot/vmlinuz-6.12.3 /etc/kernel/postrm.d" in (unpacked / "DEBIAN/postrm").read_text()
    assert made.size_b == made.package.stat().st_size


@pytest.mark.full  # resolves a configuration: half a minute
def test_the_configuration_says_what_will_be_in_and_how_long_it_takes(rtqual: Run, tmp_path: Path) -> None:
    path, out = tmp_path / "mine.toml", tmp_path / "out"
    init(path, Wanted("least", "virtual", "1 ms", ()))
    done = rtqual("tailor", path, "--until", "configuration", "--out", out, "--json")
    (kernel,) = json.loads(done.stdout)["kernels"]
    assert "CONFIG_EXT4_FS=y" in Path(kernel["config"]).read_text().splitlines()
    assert "EXT4_FS" in kernel["needs"]["filesystems"] and kernel["files"] > 500 and kernel["build_s"] > 60
    assert not list(out.glob("records")), "nothing is measured"
    words = ("tailor", path, "--until", "configuration", "--dry-run", "--out", tmp_path / "other")
    assert "filesystems: EXT4_FS" in rtqual(*words).stdout and not (tmp_path / "other").exists()
