# SPDX-License-Identifier: MIT
"""Kernels that were built elsewhere: what is taken of their folder, and what is refused."""

import gzip
import io
import shutil
import struct
import subprocess
import tarfile
from pathlib import Path

import pytest

from rtqual.base import apt
from rtqual.base.apt import Package, fetch, sha256_file
from rtqual.base.cache import cache_dir
from rtqual.base.errors import BadInput
from rtqual.engine.boards.parts import part
from rtqual.engine.campaign.feasible import why_not
from rtqual.engine.candidates import elsewhere, given
from rtqual.engine.candidates.elsewhere import CONFIG, IMAGES, RELEASE
from rtqual.engine.kernel.needs import check_needs
from rtqual.engine.mission import Candidate, load_mission
from rtqual.engine.mission.candidate import Built
from rtqual.protocols.record.store import Store, read
from support.command import Run
from support.mission_texts import GOOD

IMAGE, IMAGE_ARM64 = IMAGES["amd64"], IMAGES["arm64"]
BUILT = '\n[[candidate]]\nname = "core"\ntitle = "Core"\n[candidate.built]\nkernel = "{kernel}"\ncore = "cobalt"\n'
PLAN = '\n[[scale.demo.plan]]\ncandidates = ["{on}"]\ninstruments = ["{instrument}"]\nruns = 1\n'


def kernel_in(folder: Path, **more: object) -> Package:
    built = Built.model_validate({"kernel": str(folder), **more})
    return given.kernel_at(Candidate(name="core", title="Core", built=built))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, text in ((IMAGE, "image"), (CONFIG, "CONFIG_EVL=y\n"), (RELEASE, "5.10.0\n")):
        (tmp_path / "kernel" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "kernel" / name).write_text(text)
    return tmp_path / "kernel"


def test_a_kernel_is_known_by_its_contents_and_outlives_its_folder(folder: Path) -> None:
    first = kernel_in(folder)
    assert first.version.startswith("5.10.0 ")
    (folder / IMAGE).write_text("image of another build")
    second = kernel_in(folder)
    assert first.sha256 != second.sha256
    shutil.rmtree(folder)
    image = first.tree / "boot/vmlinuz-5.10.0"
    assert image.read_text() == "image"
    assert part("kernel", {"kernel": sha256_file(image)}, ()) == image  # what reproduces a record finds it
    assert (second.tree / "boot/config-5.10.0").read_text() == "CONFIG_EVL=y\n"


@pytest.mark.parametrize("name", [CONFIG, RELEASE])
def test_a_folder_without_a_part_of_a_kernel_is_refused_with_its_name(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(BadInput, match=rf"candidate core: .*{name}: No such file or directory"):
        kernel_in(folder)


@pytest.mark.parametrize("release", ["", "../../etc", "5.10.0 and more", "5\n10"])
def test_a_release_that_is_no_name_is_refused(folder: Path, release: str) -> None:
    (folder / RELEASE).write_text(release)
    with pytest.raises(BadInput, match="holds no kernel release"):
        kernel_in(folder)


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
    assert why_not(candidate).startswith(f"there is no kernel for amd64 at {tmp_path}: ")
    path.write_text(
        good.format(on="core", instrument="latency-user").replace("core = ", 'architecture = "arm64"\ncore = ')
    )
    candidate = load_mission(path).candidates[-1]
    assert candidate.board == "virtual-arm64"
    assert why_not(candidate).startswith(f"there is no kernel for arm64 at {tmp_path}: ")
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


def bzimage(kernel: bytes, release: bytes = b"6.6.1-theirs (them@there) #1") -> bytes:
    """A header as of the kernel's documentation, and the kernel packed behind it."""
    payload = gzip.compress(kernel) + struct.pack("<I", len(kernel))
    image = bytearray(1024)
    struct.pack_into("<B", image, 0x1F1, 1)
    image[0x202:0x206] = b"HdrS"
    struct.pack_into("<HII", image, 0x206, 0x208, 0, 0)
    struct.pack_into("<H", image, 0x20E, 0x280 - 0x200)
    image[0x280 : 0x280 + len(release) + 1] = release + b"\0"
    struct.pack_into("<II", image, 0x248, 0, len(payload))
    return bytes(image) + payload


def carrying(config: bytes) -> bytes:
    return b"code" * 99 + b"IKCFG_ST" + gzip.compress(config) + b"IKCFG_ED" + b"more"


def test_a_deployed_image_tells_its_release_and_configuration(folder: Path, tmp_path: Path) -> None:
    deployed = tmp_path / "deploy"
    deployed.mkdir()
    (deployed / "bzImage--6.6.1.bin").write_bytes(bzimage(carrying(b"CONFIG_PREEMPT_RT=y\n")))
    (deployed / "bzImage").symlink_to("bzImage--6.6.1.bin")
    kernel = kernel_in(deployed)
    assert kernel.version.startswith("6.6.1-theirs ")
    assert (kernel.tree / "boot/config-6.6.1-theirs").read_text() == "CONFIG_PREEMPT_RT=y\n"
    (tmp_path / "own").write_text("CONFIG_MINE=y\n")
    kernel = kernel_in(deployed, config=str(tmp_path / "own"))
    assert (kernel.tree / "boot/config-6.6.1-theirs").read_text() == "CONFIG_MINE=y\n"


@pytest.mark.parametrize("packed", [False, True])
def test_an_image_for_arm_tells_the_same(packed: bool) -> None:
    image = b"MZ" + b"Linux version %s (%s@%s)\0Linux version 6.12.1-rt5 (them@there) #2\0" + carrying(b"CONFIG_A=y\n")
    held = gzip.compress(image) if packed else image
    assert elsewhere.release_in(held) == b"6.12.1-rt5"
    assert elsewhere.config_in(held) == b"CONFIG_A=y\n"


def test_a_configuration_without_end_is_not_read() -> None:
    assert elsewhere.config_in(b"MZ" + carrying(bytes(2**23))) is None


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (bzimage(b"kernel"), "does not carry its configuration"),
        (bzimage(b"kernel", b"../../etc"), "holds no kernel release"),
        (b"HdrS", "holds no kernel release"),
        (bzimage(b"kernel")[:0x206], "holds no kernel release"),
    ],
)
def test_an_image_that_does_not_tell_is_refused(folder: Path, tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "bzImage").write_bytes(content)
    with pytest.raises(BadInput, match=rf"candidate core: .*bzImage.*{why}"):
        kernel_in(tmp_path / "bzImage")


def test_buildroots_folder_leads_to_the_one_kernel_in_it(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "output/build/linux-headers-5.10.0").mkdir(parents=True)
    folder.rename(tmp_path / "output/build/linux-5.10.0")
    assert kernel_in(tmp_path / "output").version.startswith("5.10.0 ")
    shutil.copytree(tmp_path / "output/build/linux-5.10.0", tmp_path / "output/build/linux-custom")
    with pytest.raises(BadInput, match=r"holds kernels in linux-5\.10\.0 and linux-custom"):
        kernel_in(tmp_path / "output")


def test_what_is_no_package_for_the_processor_is_refused(folder: Path, tmp_path: Path) -> None:
    deb = tmp_path / "their.deb"
    deb.write_text("not one")
    with pytest.raises(BadInput, match=r"their.deb: is no Debian package"):
        kernel_in(deb)
    (tmp_path / "p/DEBIAN").mkdir(parents=True)
    control = (
        "Package: linux-image-theirs\nVersion: 1\nArchitecture: arm64\nMaintainer: T <t@t.example>\nDescription: k\n"
    )
    (tmp_path / "p/DEBIAN/control").write_text(control)
    subprocess.run(["dpkg-deb", "--build", "p", deb], cwd=tmp_path, check=True, capture_output=True)
    with pytest.raises(BadInput, match="is for arm64, and the candidate for amd64"):
        kernel_in(deb)
    with pytest.raises(BadInput, match="holds 0 kernel images"):
        kernel_in(deb, architecture="arm64")


def test_a_package_without_a_configuration_takes_one(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "p/DEBIAN").mkdir(parents=True)
    (tmp_path / "p/boot").mkdir()
    (tmp_path / "p/boot/vmlinuz-6.6.1-theirs").write_bytes(bzimage(b"kernel"))
    control = "Package: linux-image-u\nVersion: 1\nArchitecture: amd64\nMaintainer: T <t@t.example>\nDescription: k\n"
    (tmp_path / "p/DEBIAN/control").write_text(control)
    subprocess.run(["dpkg-deb", "--build", "p", "u.deb"], cwd=tmp_path, check=True, capture_output=True)
    with pytest.raises(BadInput, match=r"holds no boot/config-6\.6\.1-theirs: name it by config"):
        kernel_in(tmp_path / "u.deb")
    (tmp_path / "own").write_text("CONFIG_MINE=y\n")
    kernel = kernel_in(tmp_path / "u.deb", config=str(tmp_path / "own"))
    assert (kernel.tree / "boot/config-6.6.1-theirs").read_text() == "CONFIG_MINE=y\n"


def packed(folder: Path, **control: str) -> Path:
    """A package of what lies in `folder`/p, and of what somebody wrote in its control file."""
    told = {"Package": "linux-image-u", "Version": "1", "Architecture": "amd64", "Maintainer": "T <t@t.example>"}
    (folder / "p/DEBIAN").mkdir(parents=True, exist_ok=True)
    lines = {**told, **control, "Description": "k"}
    (folder / "p/DEBIAN/control").write_text("".join(f"{key}: {text}\n" for key, text in lines.items()))
    words = ["dpkg-deb", "-Zgzip", "--build", "--nocheck", "p", "u.deb"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return folder / "u.deb"


def test_a_strangers_package_unpacks_to_no_more_than_a_kernel_has(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "p/boot").mkdir(parents=True)
    (tmp_path / "p/boot/vmlinuz-6.6.1").write_bytes(bzimage(b"kernel"))
    (tmp_path / "p/boot/config-6.6.1").write_text("CONFIG_MINE=y\n")
    monkeypatch.setattr(apt, "MOST_UNPACKED_B", 8 << 20)
    assert kernel_in(packed(tmp_path, **{"Installed-Size": "plenty"})).installed_size_b == 0
    (tmp_path / "p/boot/zeros").write_bytes(bytes(9 << 20))
    with pytest.raises(BadInput, match=r"u.deb: holds more than"):
        kernel_in(packed(tmp_path))
    (tmp_path / "p/boot/zeros").unlink()
    # Of holes alone, as GNU tar tells them: nothing on the way, and terabytes to read.
    holes = io.BytesIO()
    with tarfile.open(fileobj=holes, mode="w") as archive:
        hole = tarfile.TarInfo("./boot/hole")
        hole.type, hole.pax_headers = tarfile.REGTYPE, {
            "GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "./boot/hole",
            "GNU.sparse.realsize": str(1 << 42),
        }  # fmt: skip
        content = f"1\n{1 << 42}\n0\n".encode().ljust(512, b"\0")
        hole.size = len(content)
        archive.addfile(hole, io.BytesIO(content))
    deb = packed(tmp_path)
    (tmp_path / "data.tar").write_bytes(holes.getvalue())
    for words in (["ar", "d", deb, "data.tar.gz"], ["ar", "q", deb, "data.tar"]):
        subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    with pytest.raises(BadInput, match=r"u.deb: holds files of more than"):
        kernel_in(deb)
    with deb.open("r+b") as file:
        file.truncate(1 << 42)
    with pytest.raises(BadInput, match=r"u.deb: is larger than 2 GiB"):
        kernel_in(deb)
    assert [path.name for path in (cache_dir() / "unpacked").iterdir() if path.is_dir()] != []


LAID_OUT = """
[mission]
name = "kinds"
title = "One kernel in four layouts"
purpose = "Fly."
duration = "1 h"

[scale.demo.parameters.cyclictest]
cycles = 20

[[scale.demo.plan]]
instruments = ["cyclictest"]
runs = 1
"""


@pytest.mark.guest
def test_a_kernel_runs_in_whichever_layout_it_comes(tmp_path: Path, rtqual: Run) -> None:
    debian = fetch("linux-image-cloud-amd64", kernel=True)
    (image,) = (debian.tree / "boot").glob("vmlinuz-*")
    release = image.name.removeprefix("vmlinuz-")
    (archive,) = (cache_dir() / "archives").glob(f"{debian.name}_{debian.version.replace(':', '%3a')}_*.deb")
    tree = tmp_path / f"output/build/linux-{release}"
    for place, file in ((IMAGE, image), (CONFIG, image.parent / f"config-{release}")):
        (tree / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, tree / place)
    (tree / RELEASE).parent.mkdir(parents=True)
    (tree / RELEASE).write_text(release + "\n")
    (tmp_path / "deploy").mkdir()
    shutil.copy(image, tmp_path / "deploy/bzImage--1.bin")
    (tmp_path / "deploy/bzImage").symlink_to("bzImage--1.bin")
    config = f'\nconfig = "{tree / CONFIG}"'
    layouts = {
        "deb": f'"{archive}"',
        "file": f'"{image}"{config}',
        "yocto": f'"{tmp_path}/deploy"{config}',
        "buildroot": f'"{tmp_path}/output"',
    }
    candidates = "".join(
        f'[[candidate]]\nname = "{name}"\ntitle = "{name}"\n[candidate.built]\nkernel = {kernel}\n'
        for name, kernel in layouts.items()
    )
    (tmp_path / "m.toml").write_text(LAID_OUT + candidates)
    done = rtqual("select", str(tmp_path / "m.toml"), "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    records = [read(path) for path in Store(tmp_path / "out/records").paths()]
    assert {record.inputs.candidate for record in records} == {*layouts}
    assert {record.inputs.artefacts["kernel"] for record in records} == {sha256_file(image)}
    alike = [record for record in records if record.inputs.candidate != "deb"]  # which has its modules too
    assert len({record.series[0].values.tobytes() for record in alike}) == 1
