# SPDX-License-Identifier: MIT
"""Images for boards that are reached over ssh: what lies in them, what is refused, and one that is a board."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from rtqual.base.apt import Package
from rtqual.base.architecture import AMD64, ARM64, of_kernel
from rtqual.base.errors import BadInput
from rtqual.base.program import find
from rtqual.engine.boards.remote.check import check
from rtqual.engine.boards.remote.remote_board import RemoteBoard
from rtqual.engine.boards.remote.session import Session
from rtqual.engine.boards.remote.settings import Settings
from rtqual.engine.boards.remote.switch import Boot, Tryboot
from rtqual.parts.images.assembly import Request, build
from rtqual.parts.images.ext4 import write_ext4
from rtqual.parts.images.flash import Identity, read_fat, write_disk, write_fat
from rtqual.parts.images.known_good import ForBoard, for_board
from rtqual.parts.images.root import Attributes, Root
from rtqual.protocols.board import Command, Job
from rtqual.protocols.board.system import Kernel
from support.command import Fails
from support.flashed import flashed
from support.machines import PARAMETERS
from support.stand_in import settings_of, stand_in

PC = Settings("desk", "pc", AMD64, "root", "192.168.7.20", 22, "ssh-ed25519 AAAA", "6.1", "systemd-boot")
_NO_HOSTS = ("192.168.7.0/24", "192.168.7.255/24", "127.0.0.1/8", "224.0.0.1/24", "1.2.3.4/0", "10.0.0.1/31")
KEYS = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 me\n"


def _kernel(tree: Path) -> Package:
    """The layout of a kernel's package; nothing boots from it."""
    (tree / "boot").mkdir(parents=True)
    (tree / "boot/vmlinuz-6.1").write_bytes(b"kernel" * 1000)
    built_in = ("EXT4_FS", "VIRTIO_BLK", "SATA_AHCI", "BLK_DEV_SD", "MMC_BLOCK", "PREEMPT_RT")
    (tree / "boot/config-6.1").write_text("".join(f"CONFIG_{symbol}=y\n" for symbol in built_in))
    return Package("linux-test", "6.1", "0" * 64, 0, tree)


def _root_of(disk: Path, folder: Path) -> Callable[[str], str]:
    """What debugfs says of the second partition."""
    found = subprocess.run([find("sfdisk", "fdisk"), "--json", disk], capture_output=True, check=True).stdout
    start_b = json.loads(found)["partitiontable"]["partitions"][1]["start"] * 512
    part = folder / "root"
    part.write_bytes(disk.read_bytes()[start_b:])

    def ask(request: str) -> str:
        words = [find("debugfs", "e2fsprogs"), "-R", request, str(part)]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    return ask


@pytest.mark.guest
def test_an_image_lets_the_key_in_mounts_its_boot_partition_and_has_a_host_key_of_its_own(tmp_path: Path) -> None:
    kernel = _kernel(tmp_path / "kernel")
    board = ForBoard(PC, KEYS, "192.168.7.20/24", "192.168.7.1")
    image = build(Request(kernel, AMD64, board=board), tmp_path / "image")
    assert image.path.stat().st_mode & 0o777 == 0o600, "a private key lies in it"

    ask = _root_of(image.path, tmp_path)
    assert ask("cat /root/.ssh/authorized_keys") == KEYS
    assert ask("cat /etc/rtqual-network") == "192.168.7.20/24 192.168.7.1\n"
    for place in ("/etc/ssh/ssh_host_ed25519_key", "/root/.ssh/authorized_keys"):
        assert "Mode:  0600" in ask(f"stat {place}")
    assert ask("cat /etc/ssh/ssh_host_ed25519_key.pub").strip() == image.host_key
    assert "dropbear" in ask("ls /usr/bin") and "/etc/init.d/board" in ask("cat /etc/inittab")

    fat = f"{image.path}@@1M"
    volume = subprocess.run([find("mdir", "mtools"), "-i", fat, "::"], capture_output=True, text=True, check=True)
    number = re.search(r"Serial Number is ([0-9A-F]{4}-[0-9A-F]{4})", volume.stdout)
    assert number and ask("cat /etc/fstab").split()[:3] == [f"UUID={number[1]}", "/boot", "vfat"]
    free = re.search(r"([0-9 ]+) bytes free", volume.stdout)
    assert free and int(free[1].replace(" ", "")) >= image.room_b >= 3 * 8 * 2**20
    words = [find("mtype", "mtools"), "-i", fat, "::loader/entries/flight.conf"]
    entry = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert " efi=runtime" in entry and " panic=5" in entry


def test_debians_root_gets_no_host_key_from_the_cache_and_sshd_finds_its_network(tmp_path: Path) -> None:
    root = Root(tmp_path / "root")
    for name in ("rsa_key", "rsa_key.pub", "ed25519_key", "ecdsa_key.pub"):
        root.write(f"etc/ssh/ssh_host_{name}", "everybody's\n")
    for place in ("etc/dropbear/dropbear_rsa_host_key", "srv/ssh_host_xmss_key-cert.pub"):
        root.write(place, "everybody's\n")
    public = ForBoard(PC, KEYS).lay(root, "debian", tmp_path)
    left = {path.name: path.read_text() for path in (root.folder / "etc/ssh").iterdir()}
    assert set(left) == {"ssh_host_ed25519_key", "ssh_host_ed25519_key.pub"} and "everybody" not in str(left)
    assert public and public in left["ssh_host_ed25519_key.pub"]
    assert not list(tmp_path.glob("hostkey*key")) and not (tmp_path / "hostkey").exists()
    assert "DHCP=ipv4" in (root.folder / "etc/systemd/network/10-board.network").read_text()
    ForBoard(PC, KEYS).mount(root, "debian", "0a1b2c3d")
    assert (root.folder / "etc/fstab").read_text() == "UUID=0A1B-2C3D /boot vfat rw,umask=077,flush,nofail 0 0\n"
    assert ForBoard(PC, KEYS, "10.1.1.5/24").lay(root, "debian", tmp_path) != public, "another image, another key"
    assert "Address=10.1.1.5/24\n\n[Route]" in (root.folder / "etc/systemd/network/10-board.network").read_text()


@pytest.mark.guest
def test_a_raspberry_pis_image_starts_the_good_system_and_a_candidate_only_by_tryboot(tmp_path: Path) -> None:
    kernel = _kernel(tmp_path / "kernel")
    trees = kernel.tree / "usr/lib/linux-image-6.1/broadcom"
    trees.mkdir(parents=True)
    (trees / "bcm2711-rpi-4-b.dtb").write_text("a device tree\n")
    pi = replace(PC, architecture=ARM64, switch="tryboot")
    image = build(Request(kernel, ARM64, board=ForBoard(pi, KEYS), firmware=tmp_path), tmp_path / "image")
    assert any("kernel of the Raspberry Pi's makers: 6.1 is none" in one for one in image.missing)
    assert "umask=077" in _root_of(image.path, tmp_path)("cat /etc/fstab")
    boot = tmp_path / "boot"
    (boot / "rtqual/c0ffee").mkdir(parents=True)
    files = read_fat(image.path, boot, ("config.txt", "cmdline.txt", "vmlinuz", "bcm2711-rpi-4-b.dtb", "tryboot.txt"))
    assert "tryboot.txt" not in files and "kernel=vmlinuz" in files["config.txt"].read_text()
    before = files["config.txt"].read_bytes()
    subprocess.run(["sh", "-c", Tryboot().arm(str(boot), Boot("/rtqual/c0ffee", "panic=5"))], check=True)
    last = [line for line in (boot / "tryboot.txt").read_text().splitlines() if line.startswith(("os_p", "kernel="))]
    assert last[-2:] == ["os_prefix=rtqual/c0ffee/", "kernel=kernel"] and files["config.txt"].read_bytes() == before
    assert (boot / "rtqual/c0ffee/bcm2711-rpi-4-b.dtb").exists()
    assert of_kernel("linux-image-rpi-v8") == ARM64 and not ForBoard(pi, KEYS).missing("6.6.62+rpt-rpi-v8")


def test_an_overlays_links_leave_what_is_secret_to_root_alone(tmp_path: Path) -> None:
    root = Root(tmp_path / "root")
    for place, target in {"etc/ssh": "../srv/ssh", "root/.ssh": "/srv/home"}.items():
        root.make(f"srv/{target.rpartition('/')[2]}")
        root.link(place, target)
    root.write("etc/inittab", "a\nb\n")
    ForBoard(PC, KEYS).lay(root, "minimal", tmp_path)
    modes = {place: root.attributes(place).mode for place in ("srv/ssh/ssh_host_ed25519_key", "srv/home")}
    assert modes == {"srv/ssh/ssh_host_ed25519_key": 0o600, "srv/home": 0o700}
    assert root.attributes("srv/home/authorized_keys").mode == 0o600
    (root.folder / "etc/inittab").write_bytes(b"\xff\n")
    with pytest.raises(BadInput, match="its etc/inittab is no text"):
        ForBoard(PC, KEYS).lay(root, "minimal", tmp_path)


@pytest.mark.parametrize("name", ["a?offset=4096", "a@@1M", "-d"])
def test_the_name_of_its_folder_is_no_option_of_what_makes_an_image(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch here"))
    (tmp_path / "scratch here").mkdir()
    folder = Path(name)
    root = Root(folder / "root")
    root.write("a", "content\n")
    root.special["a"] = Attributes(0o755, capability=b"\1\0\0\2" + bytes(16))
    made = write_ext4(root, folder / "ext4", uuid=UUID(int=1), label="root", journal=False)
    (folder / "vmlinuz").write_text("kernel\n")
    fat = write_fat({"vmlinuz": folder / "vmlinuz"}, folder / "fat", "0a1b2c3d")
    disk = write_disk(fat, made, folder / "disk@@", Identity(UUID(int=1)), efi=True)
    found = read_fat(disk, tmp_path, ("vmlinuz",))
    assert found["vmlinuz"].read_text() == "kernel\n" and sorted(one.name for one in tmp_path.iterdir()) == sorted(
        [name, "scratch here", "vmlinuz"]
    )
    assert {one.name for one in folder.iterdir()} == {"root", "ext4", "vmlinuz", "fat", "disk@@"}


@pytest.mark.parametrize(
    ("other", "given", "told"),
    [
        ({}, {"name": "absent"}, "--board absent: no board of the mission; it has desk"),
        ({"switch": "tryboot"}, {}, 'starts candidates by systemd-boot, not tryboot: write switch = "systemd-boot"'),
        ({"architecture": ARM64, "switch": "grub"}, {}, 'write switch = "systemd-boot" or "tryboot"'),
        ({}, {"form": "initramfs"}, "a disk with one root"),
        ({}, {"flavour": "both"}, "a disk with one root"),
        ({"architecture": ARM64, "switch": "tryboot"}, {}, "does not know tryboot: --flavour debian"),
        ({}, {"key": None}, "--key FILE is missing"),
        ({}, {"key": "absent"}, "No such file"),
        ({}, {"key": "private"}, "that is a private key; the public key lies beside it, as private.pub"),
        ({}, {"key": "nonsense"}, "no public keys as OpenSSH writes them"),
        ({}, {"address": "192.168.7.20"}, "is no IPv4 address with its network"),
        ({}, {"address": "192.168.7.21/24"}, "the mission reaches board desk at 192.168.7.20"),
        (
            {},
            {"address": "192.168.7.20/24", "gateway": "10.0.0.1"},
            "is no other host's IPv4 address in 192.",
        ),
        ({}, {"address": "192.168.7.20/24", "gateway": "192.168.7.20"}, "is no other host's IPv4 address"),
        ({}, {"gateway": "10.0.0.1"}, "is for --address"),
        ({}, {"key": "pipe"}, "is a pipe, no file"),
        ({}, {"key": "long"}, "larger than"),
        *(({"host": "desk.lan"}, {"address": one}, "is no IPv4 address with its network") for one in _NO_HOSTS),
    ],
)
def test_what_no_image_of_a_board_can_be_is_told(
    other: dict[str, object], given: dict[str, object], told: str, tmp_path: Path
) -> None:
    (tmp_path / "good").write_text(KEYS)
    (tmp_path / "private").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    (tmp_path / "nonsense").write_text('ssh-ed25519 AAAA me\ncommand="x" ssh-ed25519 AAAA\n')
    (tmp_path / "long").write_text(KEYS * 5000)
    os.mkfifo(tmp_path / "pipe")
    words: dict[str, object] = {"name": "desk", "flavour": "minimal", "form": "disk", "key": "good"}
    words |= {"address": "", "gateway": "", **given}
    key = tmp_path / str(words.pop("key")) if words["key"] else words.pop("key")
    boards = {"desk": replace(PC, **other)}  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=re.escape(told)):
        for_board(boards, str(words.pop("name")), key=key, **words)  # type: ignore[arg-type]


def test_what_is_for_a_board_needs_one(fails: Fails, tmp_path: Path) -> None:
    mission = Path(__file__).parents[3] / "missions/board-memory.toml"
    words = ("image", mission, "--kernel", "rt", "--out", tmp_path / "image", "--key", "k")
    assert "--key, --address and --gateway are for --board" in fails(2, *words)
    assert "--flavour debian" in fails(2, *words, "--board", "pi-memory")
    told = fails(2, *words, "--board", "pi-memory", "--architecture", "amd64", "--flavour", "debian")
    assert "k: cannot be read: No such file or directory; give --key the public key" in told


_DISK = flashed(PC, "linux-image-amd64", PARAMETERS[0])


@pytest.mark.full
def test_a_booted_image_satisfies_the_check_of_boards(tmp_path: Path) -> None:
    """UEFI, systemd-boot, DHCP: nothing is given to it but its disk. About a minute."""
    with stand_in(tmp_path / "board", _DISK) as there:
        there.wait_up()
        found = {one.name: one for one in check(settings_of(there))}
        assert all(one.good for one in found.values()), found
        assert found["boot partition"].what == "/boot"
        assert "default dev" in there.ssh("ip route").stdout and "ext4 (ro" in there.ssh("mount").stdout


@pytest.mark.manual
def test_a_candidate_is_put_on_an_image_and_taken_off(kernel: Callable[..., Kernel], tmp_path: Path) -> None:
    """Three minutes, most of them two more starts."""
    with stand_in(tmp_path / "board", _DISK) as there:
        there.wait_up()
        board = RemoteBoard(Session(settings_of(there), "test", tmp_path / "log"), kernel("debian-rt"), "test")
        try:
            assert "-rt-" in board.run(Job(Command(("uname", "-r"))), seed=1, timeout_s=60).stdout
        finally:
            board.close()
        assert there.ssh("uname -r").stdout.strip() == there.release
