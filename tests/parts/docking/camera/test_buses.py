# SPDX-License-Identifier: MIT
"""I2C, SPI and GPIO as a flight program uses them, in a guest: a bus that works, not a symbol that is on."""

import subprocess
from pathlib import Path

import pytest

from rtqual.base.apt import fetch
from rtqual.engine.candidates.module import build_modules
from rtqual.engine.candidates.ready import image_of
from rtqual.engine.initramfs.contents import copy_modules
from rtqual.engine.kernel.needs import check_needs
from support.kmod_guest import KMOD, boot

KERNEL = "linux-image-rt-amd64"
I2C = ("i2c-smbus", "i2c-piix4", "i2c-dev")
# The virtual board's own I2C controller has memories at 0x50 to 0x57. It has no SPI and no pins: those are a module's.
SCRIPT = """\
for one in i2c-smbus i2c-piix4 i2c-dev wired; do insmod /lib/rtqual/$one.ko || exit 1; done
for bus in /sys/class/i2c-dev/*; do
    grep -q 'PIIX4 adapter at' $bus/name && { buses i2c /dev/${bus##*/} 0x50 || exit 1; break; }
done
buses spi "$(ls /dev/spidev*)" || exit 1
buses gpio wired || exit 1
rmmod wired || exit 1
"""


@pytest.mark.guest  # boots a guest
def test_each_bus_carries_what_a_program_sends(tmp_path: Path) -> None:
    subprocess.run(["make", "-s", "-C", KMOD / "test", f"BUILD={tmp_path}", tmp_path / "buses"], check=True)
    package = fetch(KERNEL, kernel=True)
    sources = {"wired/Kbuild": b"obj-m := wired.o\n", "wired/wired.c": (KMOD / "test/wired/wired.c").read_bytes()}
    release = image_of("buses", package)[1]
    (wired,) = build_modules(release, sources, "wired", ("wired.ko",))
    copy_modules(tmp_path / "modules", package.tree, release, [name.replace("-", "_") for name in I2C])
    modules = {path.stem: path for path in (tmp_path / "modules").rglob("*.ko")}
    files = {f"lib/rtqual/{name}.ko": modules[name] for name in I2C} | {"lib/rtqual/wired.ko": wired}
    said = boot(KERNEL, tmp_path, {"buses": tmp_path / "buses"}, files=files)(SCRIPT, modules=()).stdout
    wanted = "i2c 5a 5a\ni2c a5 a5\nspi 0180ff3c\ngpio 0 0\ngpio 1 1\ngpio 0 0\n"
    assert said == wanted


def test_a_bus_without_a_controller_does_not_meet_its_need() -> None:
    names = ("I2C", "I2C_CHARDEV", "SPI_MASTER", "SPI_SPIDEV", "GPIOLIB", "GPIO_CDEV")
    core = "".join(f"CONFIG_{name}=y\n" for name in names)
    simulated = core + "CONFIG_I2C_STUB=m\nCONFIG_GPIO_SIM=m\nCONFIG_SPI_LOOPBACK_TEST=m\n"
    assert [one.ok for one in check_needs(("i2c", "spi", "gpio"), simulated)] == [False] * 3
    real = core + "CONFIG_I2C_PIIX4=m\nCONFIG_SPI_BCM2835=y\nCONFIG_PINCTRL_BAYTRAIL=y\n"
    assert [one.ok for one in check_needs(("i2c", "spi", "gpio"), real)] == [True] * 3
