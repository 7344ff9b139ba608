# SPDX-License-Identifier: MIT
"""Kernels that were built elsewhere: what is taken of their folder, and what is refused."""

import shutil
import subprocess
from pathlib import Path

import pytest

from rtqual.base.apt import sha256_file
from rtqual.base.errors import BadInput
from rtqual.engine.boards.parts import part
from rtqual.engine.campaign.feasible import why_not
from rtqual.engine.candidates import given
from rtqual.engine.kernel.needs import check_needs
from rtqual.engine.mission import load_mission
from support.mission_texts import GOOD

IMAGE, IMAGE_ARM64 = given.IMAGES["amd64"], given.IMAGES["arm64"]
BUILT = '\n[[candidate]]\nname = "core"\ntitle = "Core"\n[candidate.built]\nkernel = "{kernel}"\ncore = "cobalt"\n'
PLAN = '\n[[scale.demo.plan]]\ncandidates = ["{on}"]\ninstruments = ["{instrument}"]\nruns = 1\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, text in ((IMAGE, "image"), (given.CONFIG, "CONFIG_EVL=y\n"), (given.RELEASE, "5.10.0\n")):
        (tmp_path / "kernel" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "kernel" / name).write_text(text)
    return tmp_path / "kernel"


def test_a_kernel_is_known_by_its_contents_and_outlives_its_folder(folder: Path) -> None:
    first = given._kept("core", folder, IMAGE)
    assert first.version.startswith("5.10.0 ")
    (folder / IMAGE).write_text("image of another build")
    second = given._kept("core", folder, IMAGE)
    assert first.sha256 != second.sha256
    shutil.rmtree(folder)
    image = first.tree / "boot/vmlinuz-5.10.0"
    assert image.read_text() == "image"
    assert part("kernel", {"kernel": sha256_file(image)}, ()) == image  # what reproduces a record finds it
    assert (second.tree / "boot/config-5.10.0").read_text() == "CONFIG_EVL=y\n"


@pytest.mark.parametrize("name", [IMAGE, given.CONFIG, given.RELEASE])
def test_a_folder_without_a_part_of_a_kernel_is_refused_with_its_name(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(BadInput, match=rf"candidate core: .*{name}: No such file or directory; built.kernel is"):
        given._kept("core", folder, IMAGE)


@pytest.mark.parametrize("release", ["", "../../etc", "5.10.0 and more", "5\n10"])
def test_a_release_that_is_no_name_is_refused(folder: Path, release: str) -> None:
    (folder / given.RELEASE).write_text(release)
    with pytest.raises(BadInput, match="holds no kernel release"):
        given._kept("core", folder, IMAGE)


def test_programs_must_be_there_and_need_nothing_of_the_guest(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"there is no .*/latency, which an instrument runs"):
        given._static("core", tmp_path / "latency")
    source = tmp_path / "main.c"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-o", tmp_path / "latency", source], check=True)
    with pytest.raises(BadInput, match=r"latency loads .*; link it statically"):
        given._static("core", tmp_path / "latency")


@pytest.mark.guest  # programs for arm64, whose compiler `make test` installs
def test_missions_name_what_a_kernel_has_not(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    good = GOOD + BUILT.format(kernel=tmp_path) + PLAN
    path.write_text(good.format(on="core", instrument="latency-user"))
    candidate = load_mission(path).candidates[-1]
    assert (candidate.board, candidate.source) == (load_mission(path).candidates[0].board, f"built in {tmp_path}")
    assert why_not(candidate) == f"there is no {tmp_path}/{IMAGE}"
    path.write_text(
        good.format(on="core", instrument="latency-user").replace("core = ", 'architecture = "arm64"\ncore = ')
    )
    candidate = load_mission(path).candidates[-1]
    assert candidate.board == "virtual-arm64"
    assert why_not(candidate) == f"there is no {tmp_path}/{IMAGE_ARM64}"
    for on, instrument, core in (("rt", "latency-user", "cobalt"), ("core", "latmus-irq", "evl"),
                                 ("stock", "probe-alchemy-itc", "cobalt"),
                                 ("core", "probe-evl-itc", "evl")):  # fmt: skip
        path.write_text(good.format(on=on, instrument=instrument))
        with pytest.raises(BadInput, match=rf"{instrument!r} measures a {core} core, which {on} has not"):
            load_mission(path)


def test_a_core_beside_linux_is_real_time() -> None:
    for core in ("PREEMPT_RT", "XENOMAI", "EVL"):
        (check,) = check_needs(["realtime"], f"CONFIG_{core}=y\nCONFIG_HIGH_RES_TIMERS=y\n")
        assert check.ok
    (check,) = check_needs(["realtime"], "CONFIG_DOVETAIL=y\nCONFIG_HIGH_RES_TIMERS=y\n")
    assert not check.ok
