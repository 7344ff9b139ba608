# SPDX-License-Identifier: MIT
"""System images: the same bytes from the same files, owners and modes kept, faults named. Nothing is booted here."""

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from license_expression import get_spdx_licensing
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

from rtqual.base.apt import Package
from rtqual.base.architecture import AMD64, ARM64, ARMHF
from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.program import find
from rtqual.engine.mission import Need, load_mission
from rtqual.parts.images.archive import write_cpio
from rtqual.parts.images.assembly import MINIMAL_ROOT_AT_MOST_B, Image, Request, build
from rtqual.parts.images.bootpart import _local_package
from rtqual.parts.images.ext4 import write_ext4
from rtqual.parts.images.flash import Identity, read_fat, write_disk, write_fat
from rtqual.parts.images.licences import declared
from rtqual.parts.images.request import request_for
from rtqual.parts.images.root import Attributes, Root, unpack_tar
from support import device_trees

DOCKING = Path(__file__).parents[3] / "docking/missions/docking.toml"
LICENSING = get_spdx_licensing()
BUILT_IN = ("EXT4_FS", "VIRTIO_BLK", "SATA_AHCI", "BLK_DEV_SD", "MMC_BLOCK", "RD_GZIP")


@pytest.fixture
def kernel(tmp_path: Path) -> Package:
    """The layout of a kernel's package, without a kernel: nothing here boots."""
    return _kernel(tmp_path / "kernel", "".join(f"CONFIG_{symbol}=y\n" for symbol in BUILT_IN))


def _kernel(tree: Path, config: str) -> Package:
    (tree / "boot").mkdir(parents=True)
    (tree / "boot/vmlinuz-6.1").write_bytes(b"kernel" * 1000)
    (tree / "boot/config-6.1").write_text(config)
    return Package("linux-test", "6.1", "0" * 64, 0, tree)


def _tree(folder: Path, order: int = 1) -> Root:
    root = Root(folder)
    names = ["bin/su", "etc/a b", 'etc/a "quoted" name', "etc/shadow", *(f"many/{number:04}" for number in range(300))]
    for name in names[::order]:
        root.write(name, f"{name}\n" * 40, executable=name.startswith("bin"))
    (folder / "sbin").symlink_to("bin")
    (folder / "long").symlink_to("x" * 100)
    root.special["bin/su"] = Attributes(0o4755)
    root.special["etc/shadow"] = Attributes(0o640, 0, 42)
    root.special["etc/a b"] = Attributes(0o600, 70000, 70001, bytes.fromhex("0100000200200000000000000000000000000000"))
    return root


def _debugfs(image: Path, request: str) -> str:
    command = [find("debugfs", "e2fsprogs"), "-R", request, str(image)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_ext4_is_sound_and_keeps_owners_modes_and_capabilities(tmp_path: Path) -> None:
    image = write_ext4(_tree(tmp_path / "tree"), tmp_path / "root.img", uuid=UUID(int=7), label="root", journal=False)
    subprocess.run([find("e2fsck", "e2fsprogs"), "-fn", str(image)], check=True, capture_output=True)
    assert "Mode:  04755" in _debugfs(image, "stat /bin/su")
    shadow = _debugfs(image, "stat /etc/shadow")
    assert "Mode:  0640" in shadow and "Group:    42" in shadow
    ours = _debugfs(image, 'stat "/etc/a b"')
    assert "User: 70000" in ours and "Group: 70001" in ours
    assert "0100000200200000" in _debugfs(image, 'ea_get -x "/etc/a b" security.capability').replace(" ", "")
    assert _debugfs(image, 'cat "/etc/a ""quoted"" name"') == 'etc/a "quoted" name\n' * 40
    assert _debugfs(image, "cat /long") == "x" * 100


def test_the_same_files_written_later_in_another_order_elsewhere_give_the_same_bytes(tmp_path: Path) -> None:
    made = []
    for number, order in enumerate((1, -1)):
        folder = tmp_path / f"place-{number}" / ("deep" * (number + 1))
        root = _tree(folder, order)
        os.utime(folder / "etc/shadow", (number * 10**8, number * 10**8))
        ext4 = write_ext4(root, tmp_path / f"{number}.img", uuid=UUID(int=7), label="root", journal=True)
        fat = write_fat({"a/b/c": folder / "etc/shadow", "vmlinuz": folder / "bin/su"}, tmp_path / "fat", "0000abcd")
        disk = write_disk(fat, ext4, tmp_path / f"{number}.disk", Identity(UUID(int=9)), efi=False)
        cpio = write_cpio(root, tmp_path / f"{number}.cpio", compress=True)
        made.append((disk.read_bytes(), cpio.read_bytes()))
    assert made[0] == made[1]


def test_a_partition_begins_where_the_table_says(tmp_path: Path) -> None:
    root = _tree(tmp_path / "tree")
    ext4 = write_ext4(root, tmp_path / "root.img", uuid=UUID(int=7), label="root", journal=False)
    fat = write_fat({"vmlinuz": root.folder / "bin/su"}, tmp_path / "fat", "0000abcd")
    disk = write_disk(fat, ext4, tmp_path / "disk", Identity(UUID(int=9)), efi=True)
    found = subprocess.run([find("sfdisk", "fdisk"), "--json", str(disk)], capture_output=True, check=True).stdout
    table = json.loads(found)["partitiontable"]
    boot, second = table["partitions"]
    assert (boot["type"], boot["bootable"], second["type"], table["id"]) == ("ef", True, "83", "0x00000009")
    raw = disk.read_bytes()
    assert raw[second["start"] * 512 :] == ext4.read_bytes()
    assert read_fat(disk, tmp_path, ("vmlinuz", "absent"))["vmlinuz"].read_bytes() == b"bin/su\n" * 40


def test_an_initramfs_keeps_owners_and_has_a_console(tmp_path: Path) -> None:
    archive = write_cpio(_tree(tmp_path / "tree"), tmp_path / "cpio", compress=False)
    command = ["cpio", "-itvn", "--quiet"]
    told = subprocess.run(command, stdin=archive.open("rb"), capture_output=True, text=True, check=True).stdout
    by_name = {line.split(" 2026 ")[1]: line.split() for line in told.splitlines()}
    assert by_name["bin/su"][0] == "-rwsr-xr-x" and by_name["etc/shadow"][2:4] == ["0", "42"]
    assert by_name["dev/console"][0].startswith("crw") and by_name["dev/console"][4:6] == ["5,", "1"]
    assert "sbin -> bin" in by_name


def test_an_archive_that_points_outside_is_refused(tmp_path: Path) -> None:
    for name, link in (("../evil", ""), ("good", "../../evil")):
        archive = tmp_path / "root.tar"
        with tarfile.open(archive, "w") as tar:
            member = tarfile.TarInfo(name)
            if link:
                member.type, member.linkname = tarfile.LNKTYPE, link
            tar.addfile(member, io.BytesIO())
        with pytest.raises(RunFailed, match="outside"):
            unpack_tar(archive, tmp_path / f"tree-{bool(link)}")


def _image(kernel: Package, out: Path, **more: object) -> Image:
    return build(Request(kernel, AMD64, needs=(Need.USB, Need.WIFI), **more), out)  # type: ignore[arg-type]


def test_a_minimal_image_is_small_listed_and_the_same_again(kernel: Package, tmp_path: Path) -> None:
    (tmp_path / "overlay/etc/init.d").mkdir(parents=True)
    (tmp_path / "overlay/etc/init.d/mission").write_text("#!/bin/sh\n")
    first, second = (_image(kernel, tmp_path / name / "i", overlay=tmp_path / "overlay") for name in _folders(tmp_path))
    assert first.path.read_bytes() == second.path.read_bytes()
    assert first.sbom.read_bytes() == second.sbom.read_bytes()
    assert 10**6 < first.root.content_b <= MINIMAL_ROOT_AT_MOST_B
    assert first.modules.files == 0 and first.missing == ()
    assert first.initrd_b == 0, "a kernel with its disks built in needs none"
    other = _image(kernel, tmp_path / "other", overlay=tmp_path / "overlay", parameters=("quiet",))
    assert other.sha256 != first.sha256
    assert not list(tmp_path.glob("**/.i.*")), "scratch files are left behind"

    listing = parse_file(str(_renamed(first.sbom)))
    assert validate_full_spdx_document(listing) == []
    packages = {package.name: package for package in listing.packages}
    assert {"busybox-static", "linux-test", "rtqual", "systemd-boot-efi"} <= set(packages)
    assert packages["busybox-static"].version and str(packages["rtqual"].license_declared) == "MIT"
    files = {file.name: file for file in listing.files}
    assert {"./bin/busybox", "./usr/bin/rtqual-probe", "./boot/vmlinuz", "./etc/init.d/mission"} <= set(files)


def _folders(folder: Path) -> tuple[str, str]:
    for name in ("first", "second"):
        (folder / name).mkdir()
    return "first", "second"


def _renamed(path: Path) -> Path:
    """spdx-tools tells the format by a name's ending."""
    return Path(shutil.copy(path, path.with_name("list.spdx.json")))


def test_an_arm64_image_is_laid_out_for_the_raspberry_pi_and_says_what_is_missing(
    kernel: Package, tmp_path: Path
) -> None:
    trees = kernel.tree / "usr/lib/linux-image-6.1/broadcom"
    trees.mkdir(parents=True)
    (trees / "bcm2711-rpi-4-b.dtb").write_text("a device tree\n")
    (tmp_path / "firmware").mkdir()
    for name in ("start4.elf", "fixup4.dat"):
        (tmp_path / "firmware" / name).write_text(name)
    image = build(Request(kernel, ARM64, firmware=tmp_path / "firmware"), tmp_path / "image")
    (missing,) = image.missing
    assert "Raspberry Pi 3" in missing and "bootcode.bin, start.elf, fixup.dat" in missing
    names = ("config.txt", "cmdline.txt", "bcm2711-rpi-4-b.dtb", "start4.elf", "vmlinuz")
    files = read_fat(image.path, tmp_path, names)
    assert set(files) == set(names)
    assert f"root={image.parameters.split('root=')[1].split()[0]} " in files["cmdline.txt"].read_text()
    assert "initramfs" not in files["config.txt"].read_text()
    assert "console=ttyS1,115200 " in files["cmdline.txt"].read_text()
    assert "arm_64bit=1\n" in files["config.txt"].read_text()


def test_a_bus_that_the_mission_needs_and_the_device_trees_have_off_is_told(kernel: Package, tmp_path: Path) -> None:
    trees = kernel.tree / "usr/lib/linux-image-6.1/broadcom"
    trees.mkdir(parents=True)
    soc = {"spi@1": {"status": b"disabled\0"}, "i2c@1": {}}
    (trees / "bcm2711-rpi-4-b.dtb").write_bytes(device_trees.write({"chosen": {}, "soc": soc}))
    for needs, told in (((Need.SPI, Need.I2C), ["SPI"]), ((Need.I2C,), [])):
        image = build(Request(kernel, ARM64, needs=needs), tmp_path / "image")
        assert [why.partition(":")[0] for why in image.missing if "have it off" in why] == told


def test_a_32_bit_image_leaves_the_console_to_each_models_device_tree(kernel: Package, tmp_path: Path) -> None:
    trees = kernel.tree / "usr/lib/linux-image-6.1"  # without a maker's folder: Debian's before Linux 6.5
    trees.mkdir(parents=True)
    for name in ("bcm2836-rpi-2-b.dtb", "bcm2711-rpi-4-b.dtb", "am335x-bone.dtb"):
        (trees / name).write_text("a device tree\n")
    image = build(Request(kernel, ARMHF), tmp_path / "image")
    assert image.for_pi and not any("device trees" in missing for missing in image.missing)
    names = ("config.txt", "cmdline.txt", "bcm2836-rpi-2-b.dtb", "bcm2711-rpi-4-b.dtb", "am335x-bone.dtb")
    files = read_fat(image.path, tmp_path, names)
    assert set(files) == {*names[:-1]}
    assert "arm_64bit=0\n" in files["config.txt"].read_text()
    assert "console" not in files["cmdline.txt"].read_text()


def test_no_tree_of_modules_is_left_from_another_kernel(kernel: Package, tmp_path: Path) -> None:
    image = _image(kernel, tmp_path / "image", form="initramfs")
    command = f"zcat {image.path} | cpio -it --quiet"
    names = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout.split()
    assert "init" in names and not [name for name in names if name.startswith("lib/modules/")]
    assert image.kernel and image.kernel.read_bytes() == b"kernel" * 1000


def _overlay(folder: Path, content: bytes) -> Path:
    (folder / "overlay").mkdir()
    (folder / "overlay/program").write_bytes(content)
    return folder / "overlay"


def test_bad_input_is_named(kernel: Package, tmp_path: Path) -> None:
    out = tmp_path / "image"
    for more, told in (
        ({"overlay": tmp_path / "absent"}, "no folder"),
        ({"overlay": _overlay(tmp_path, Path("/bin/true").read_bytes())}, "link it statically"),
        ({"packages": ("no-such-package-here",)}, "no-such-package-here"),
        ({"flavour": "tiny"}, "minimal, debian"),
        ({"firmware": tmp_path}, "for --architecture arm64"),
    ):
        with pytest.raises((BadInput, RunFailed), match=told):
            _image(kernel, out, **more)
    with pytest.raises(BadInput, match="a program for EM_X86_64"):
        build(Request(kernel, ARM64, overlay=tmp_path / "overlay"), out)
    with pytest.raises(BadInput, match="no folder"):
        _image(kernel, tmp_path / "absent/image")
    assert not out.exists()
    mission = load_mission(DOCKING)
    for name, told in (("debian-rt", "is for amd64, the image for arm64"), ("absent", "no candidate of the mission")):
        with pytest.raises(BadInput, match=told):
            request_for(mission, name, architecture="arm64", flavour="minimal", form="disk")
    with pytest.raises(BadInput, match="as linux-image-rt-armmp,"):
        request_for(mission, "linux-image-rt-arm64", architecture="armhf", flavour="minimal", form="disk")
    with pytest.raises(RunFailed, match="apt-get install mtools"):
        find("a-program-that-is-not-there", "mtools")


def test_a_full_disk_is_told_and_leaves_the_good_image(kernel: Package, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    program = (
        "import sys; from pathlib import Path; from rtqual.base.architecture import AMD64\n"
        "from rtqual.base.errors import RunFailed; from rtqual.parts.images.assembly import Request, build\n"
        "from rtqual.base.apt import Package\n"
        "out = Path(sys.argv[1]) / 'image'; out.write_text('good')\n"
        "try: build(Request(Package('linux-test', '6.1', '0' * 64, 0, Path(sys.argv[2])), AMD64), out)\n"
        "except RunFailed as error: print(error)\n"
        "print(sorted(path.name for path in out.parent.iterdir()), out.read_text())\n"
    )
    (tmp_path / "program.py").write_text(program)
    script = 'mount -t tmpfs -o size=4m tmpfs "$1" && exec "$2" "$3" "$1" "$4"'
    command = ["unshare", "-rm", "sh", "-c", script, "sh", small, sys.executable, tmp_path / "program.py", kernel.tree]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "unshare failed" in done.stderr or "mount:" in done.stderr:
        pytest.skip("no namespace to mount a small disk in")
    first, last = done.stdout.splitlines()
    assert "image" in first and "space" in first.lower(), first
    assert last == "['image'] good"


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("License: GPL-2+", "GPL-2.0-or-later"),
        ("License: GPL-2+ or Artistic\n\nLicense: Expat", "(GPL-2.0-or-later OR Artistic-1.0-Perl) AND MIT"),
        ("License: LGPL-2.1", "LGPL-2.1-only"),
        ("License: odd licence!", "LicenseRef-Debian-odd-licence"),
        ("License: GPL-2, and BSD-3-clause", "GPL-2.0-only AND BSD-3-Clause"),
    ],
)
def test_licences_are_written_as_spdx_writes_them(text: str, expression: str) -> None:
    header = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n"
    assert declared(header + text).expression == expression
    assert declared(text).expression == "NOASSERTION", "not machine-readable: nothing is claimed"


_WORDS = st.sampled_from(["GPL-2+", "Expat", "and", "or", ",", "(", ")", "odd", "BSD-3-clause", "with", "é", "GPL"])


@settings(deadline=None)
@given(st.lists(st.one_of(_WORDS, st.text(max_size=8)), max_size=9))
def test_no_licence_field_breaks_the_list(words: list[str]) -> None:
    found = declared(f"Format: x/copyright-format/1.0/\nLicense: {' '.join(words)}\n")
    if found.expression != "NOASSERTION":
        LICENSING.parse(found.expression)


def test_firmware_of_a_package_without_a_size_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    control = tmp_path / "package/DEBIAN/control"
    control.parent.mkdir(parents=True)
    fields = (
        "Package: raspi-firmware\nVersion: 1\nArchitecture: all\nMaintainer: x\nInstalled-Size: abc\nDescription: x\n"
    )
    control.write_text(fields)
    subprocess.run(["dpkg-deb", "--build", "--nocheck", "package", "x.deb"], cwd=tmp_path, check=True)
    assert _local_package(tmp_path / "x.deb").installed_size_b == 0
    (tmp_path / "package/usr/lib").mkdir(parents=True)
    place = tmp_path / "package/usr/lib/raspi-firmware"
    for target in ("/etc", "../../../../../../etc"):
        place.symlink_to(target)
        subprocess.run(["dpkg-deb", "--build", "--nocheck", "package", "x.deb"], cwd=tmp_path, check=True)
        with pytest.raises(BadInput, match=r"--firmware .*x.deb: raspi-firmware is a link that leads out of it"):
            _local_package(tmp_path / "x.deb")
        place.unlink()
    place.mkdir()
    (place / "start4.elf").symlink_to("/etc/passwd")
    subprocess.run(["dpkg-deb", "--build", "--nocheck", "package", "x.deb"], cwd=tmp_path, check=True)
    with pytest.raises(BadInput, match=r"x.deb: start4.elf is a link that leads out of it"):
        _local_package(tmp_path / "x.deb")
