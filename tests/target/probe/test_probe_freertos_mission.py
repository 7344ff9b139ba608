# SPDX-License-Identifier: MIT
"""Missions that name FreeRTOS, and kernels for ARM."""

from pathlib import Path

import pytest

from rtqual.base.apt import fetch
from rtqual.base.architecture import AMD64, ARMHF, of_kernel
from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.mission import load_mission
from support.freertos import MISSION, PLAN


def test_a_mission_names_freertos_and_arm_kernels(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(MISSION.format(candidate='rtos = "freertos"', plan=PLAN))
    assert load_mission(path).candidates[0].board == "virtual-arm"
    path.write_text(MISSION.format(candidate='package = "linux-image-rt-armmp"', plan=PLAN))
    assert load_mission(path).candidates[0].board == "virtual-arm"


@pytest.mark.parametrize(
    ("candidate", "plan", "told"),
    [
        ('rtos = "freertos"', 'instruments = ["cyclictest"]', "'cyclictest' is a Linux program"),
        ('rtos = "freertos"', PLAN + '\nloads = ["none", "hackbench"]', "'hackbench' is a Linux program"),
        ('rtos = "freertos"', PLAN + "\ncpus = [2]", "freertos runs on one CPU here"),
        ('rtos = "freertos"\nboot = ["quiet"]', PLAN, "boot: cannot stand beside rtos"),
        ('rtos = "freertos"\npackage = "linux-image-amd64"', PLAN, "package: cannot stand beside rtos"),
        ('rtos = "freertos"\nthis-machine = true', PLAN, "rtos: cannot stand beside this-machine"),
        ('rtos = "vxworks"', PLAN, '"vxworks" is not built here'),
    ],
)
def test_a_mission_that_asks_too_much_of_freertos(tmp_path: Path, candidate: str, plan: str, told: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(MISSION.format(candidate=candidate, plan=plan))
    with pytest.raises(BadInput) as caught:
        load_mission(path)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("package", "architecture"),
    [
        ("linux-image-rt-armmp", ARMHF),
        ("linux-image-armmp", ARMHF),
        ("linux-image-armmp-lpae", ARMHF),
        ("linux-image-6.1.0-50-rt-armmp", ARMHF),
        ("linux-image-rt-amd64", AMD64),
        ("linux-image-cloud-amd64", AMD64),
    ],
)
def test_a_kernels_name_tells_its_processor(package: str, architecture: object) -> None:
    assert of_kernel(package) == architecture


@pytest.mark.guest
def test_packages_for_arm_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = "".join(f'Acquire::{kind}::Proxy "http://127.0.0.1:9";\n' for kind in ("http", "https"))
    (tmp_path / "apt.conf").write_text(nobody + 'Acquire::Retries "0";\n')
    monkeypatch.setenv("APT_CONFIG", str(tmp_path / "apt.conf"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(RunFailed, match=r"could not list Debian's packages for armhf: .*check the network"):
        fetch("linux-image-rt-armmp", kernel=True, architecture=ARMHF)
