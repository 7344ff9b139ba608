# SPDX-License-Identifier: MIT
"""Cards for a Raspberry Pi on the one that QEMU emulates: what its firmware would load, and (`make test-full`) a card
that measures there. Images: test_image_boot.py."""

import json
import shutil
from pathlib import Path
from uuid import UUID

import pytest

from rtqual.base.architecture import ARMHF
from rtqual.base.errors import RunFailed
from rtqual.engine.mission import Need
from rtqual.parts.images import pi
from rtqual.parts.images.cards import card_trial
from rtqual.parts.images.flash import Identity, write_disk, write_fat
from rtqual.parts.images.image_trial import Ran
from rtqual.protocols.record.store import Store, read
from support import device_trees
from support.command import Fails, Run

_CARD = """\
[mission]
name = "card"
title = "Which kernel flies on a Raspberry Pi without a network?"
purpose = "Tries the card."
duration = "10 s"

[[candidate]]
name = "debian-rt"
title = "Debian, PREEMPT_RT kernel"
package = "linux-image-rt-arm64"

[[candidate]]
name = "debian"
title = "Debian, stock kernel"
package = "linux-image-arm64"

[[board]]
name = "lonely"
model = "raspberry-pi-3b"
architecture = "arm64"
switch = "SWITCH"
cpus = 4
parameters = ["sysctl.kernel.sched_rt_runtime_us=-1"]

[parameters.cyclictest]
interval = "10 ms"
cycles = 100

[[scale.demo.plan]]
boards = ["lonely"]
instruments = ["cyclictest"]
runs = 1
"""


TREES = {model.device_tree for model in pi.MODELS.values()}
_TREE = device_trees.write({"chosen": {}})


def _card(folder: Path, texts: dict[str, str]) -> Path:
    """A boot partition with these files, and nothing that starts."""
    files = {}
    for number, (name, text) in enumerate(texts.items()):
        files[name] = folder / f"file{number}"
        files[name].write_bytes(_TREE if text == name.rpartition("/")[2] in TREES else text.encode())
    fat = write_fat(files, folder / "fat", "0a1b2c3d")
    return write_disk(fat, None, folder / "disk", Identity(UUID(int=1)), efi=False)


@pytest.mark.guest
def test_what_the_firmware_would_load_is_read_from_the_card_itself(tmp_path: Path) -> None:
    texts = {
        "config.txt": "arm_64bit=1\nos_prefix=rtqual/a/\nkernel=kernel\ninitramfs first followkernel\n",
        **{f"rtqual/a/{name}": name for name in ("kernel", "first", "bcm2837-rpi-3-b.dtb")},
        "rtqual/a/cmdline.txt": "console=ttyS1,115200 quiet\n",
        "kernel": "another",
        "cmdline.txt": "another\n",
    }
    card, folder = _card(tmp_path, texts), tmp_path / "a,b"
    folder.mkdir()
    words = pi.command(card, folder, folder / "console", ("rtqual.report",))
    given = {words[at - 1]: word for at, word in enumerate(words)}
    assert Path(given["-kernel"]).read_text() == "kernel" and Path(given["-initrd"]).read_text() == "first"
    chosen = device_trees.read(Path(given["-dtb"]).read_bytes())["chosen"]
    assert isinstance(chosen, dict) and set(chosen) == {"rng-seed"}, "as the firmware does"
    assert given["-append"] == "console=ttyS1,115200 quiet rtqual.report"
    size_b = (folder / "card").stat().st_size
    assert size_b & (size_b - 1) == 0 and size_b >= card.stat().st_size, "a copy, as large as QEMU takes cards"
    assert any(word.startswith("if=sd") and "a,,b" in word for word in words)
    del texts["rtqual/a/bcm2837-rpi-3-b.dtb"]
    with pytest.raises(RunFailed, match=r"has no rtqual/a/bcm2837-rpi-3-b.dtb, without which a raspi3b does not start"):
        pi.command(_card(tmp_path, texts), folder, folder / "console")
    texts["rtqual/a/bcm2837-rpi-3-b.dtb"] = "no tree"
    with pytest.raises(RunFailed, match=r"rtqual/a/bcm2837-rpi-3-b.dtb: it is a damaged device tree"):
        pi.command(_card(tmp_path, texts), folder, folder / "console")


@pytest.mark.guest
def test_a_card_of_32_bits_is_started_on_a_raspberry_pi_2(tmp_path: Path) -> None:
    tree = pi.MODELS["armhf"].device_tree
    texts = {"config.txt": "arm_64bit=0\n", "kernel7.img": "kernel", "cmdline.txt": "root=1\n"}
    with pytest.raises(RunFailed, match=rf"has no {tree}, without which a raspi2b does not start"):
        pi.command(_card(tmp_path, texts), tmp_path, tmp_path / "console")
    card = _card(tmp_path, texts | {tree: tree})
    (tmp_path / "held").mkdir()
    words = pi.command(card, tmp_path / "held", tmp_path / "console")
    assert words[0] == "qemu-system-arm" and "raspi2b" in words
    assert Path(words[words.index("-kernel") + 1]).read_text() == "kernel"
    tried = pi.tried([], (), off=True, architecture=ARMHF)
    assert (tried.machine, "Wi-Fi" in tried.absent) == ("raspi2b", False), "a Raspberry Pi 2 has none itself"


@pytest.mark.guest
def test_what_does_not_work_there_is_told_apart_from_what_the_machine_lacks() -> None:
    disks = [("block", "../../devices/platform/soc/3f202000.mmc/mmc_host/mmc0/mmc0:4567/block/mmcblk0")]
    usb = ("block", "../../devices/platform/soc/3f980000.usb/usb1/1-1/1-1:1.0/host0/target0:0:0/block/sda")
    wanted = (Need.USB_STORAGE, Need.I2C, Need.WIFI)
    tried = pi.tried(disks, wanted, off=False)
    assert (tried.works, tried.fails) == (
        ("console", "SD card"), ("watchdog", "random generator", "USB disk", "I2C", "power off")
    )  # fmt: skip
    there = [*disks, usb, ("watchdog", "../../devices/watchdog0"), ("random", "ready"), ("i2c", "i2c-1")]
    tried = pi.tried(there, wanted, off=True)
    assert not tried.fails and "Wi-Fi" in tried.absent
    assert "I2C" not in pi.tried(disks, (), off=True).fails, "nobody asked for it"
    assert Ran(False, False, "Kernel panic - not syncing: VFS", "").why(300).startswith("panicked: ")


def test_a_card_that_is_tried_does_not_arm_the_watchdog(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """QEMU's resets at once."""
    told: list[str] = []
    monkeypatch.setattr(pi, "command", lambda *given: told.extend(given[-1]) or [])
    monkeypatch.setattr(card_trial, "watch", lambda *_, **__: Ran(True, False, "rtqual: 1 of 1 cells", ""))
    assert len(list(card_trial.starts(tmp_path / "card", tmp_path, 1))) == 1
    assert told == ["console=ttyS1,115200", "rtqual.watchdog="]


def test_only_a_raspberry_pis_card_is_tried_on_one(fails: Fails, tmp_path: Path) -> None:
    mission = tmp_path / "card.toml"
    mission.write_text(_CARD.replace("SWITCH", "systemd-boot"))
    words = ("image", mission, "--board", "lonely", "--self-measuring", "--out", tmp_path / "card.img", "--boot")
    assert "switch tryboot" in fails(2, *words)
    assert not (tmp_path / "card.img").exists()


@pytest.mark.full
def test_a_card_measures_two_kernels_on_an_emulated_raspberry_pi(rtqual: Run, tmp_path: Path) -> None:
    """Three minutes on two free cores: each start reads kernel and initramfs from the card, each job writes to it."""
    mission, image, out = tmp_path / "card.toml", tmp_path / "card.img", tmp_path / "out"
    mission.write_text(_CARD.replace("SWITCH", "tryboot"))
    made = rtqual("image", mission, "--board", "lonely", "--self-measuring", "--out", image, "--json")
    assert made.returncode == 0, made.stderr
    held = tmp_path / "held/card"
    held.parent.mkdir()
    shutil.copyfile(image, held)
    said = list(card_trial.starts(held, held.parent, 2, off=True))
    assert len(said) == 2 and "the next candidate" in said[0] and "measured 2 of 2 cells" in said[1]
    done = rtqual("import", held, "--mission", mission, "--out", out, "--json")
    (taken,) = json.loads(done.stdout)
    assert (done.returncode, taken["records"], taken["failures"]) == (0, 2, {}), done.stdout
    records = [read(path).manifest for path in Store(out / "records").paths()]
    for record in records:
        assert record.timing == "real" and record.provenance.facts["connection"] == "card"
        assert ("PREEMPT_RT" in (record.provenance.kernel or "")) == (record.inputs.candidate == "debian-rt")
    assert {record.inputs.candidate for record in records} == {"debian", "debian-rt"}
