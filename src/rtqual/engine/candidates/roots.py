# SPDX-License-Identifier: MIT
"""What a mission's needs put into an image besides the kernel: drivers that are modules, Debian's packages."""

from collections.abc import Iterable, Sequence

from rtqual.engine.mission import Need, RootSystem

# A Debian root with its modules takes 330 MB, and its archive lies beside it while it is unpacked: a root in memory may
# take half of what the archive leaves. With 1 GiB it is full, and the first programs cannot write.
MEMORY_MIB = 1536
PROGRAMS = ("cyclictest", "hackbench")  # that are put into a root to measure in it
_SHELL = ("sh", "cat")
# Drivers of the boards this is made for (PCs; Raspberry Pi 3 and 4) by their modules' names. What a kernel has built
# in, or not at all, is passed over; drivers of other chips are asked for by name.
MODULES: dict[Need, tuple[str, ...]] = {
    Need.USB: ("xhci_pci", "xhci_plat_hcd", "ehci_pci", "ehci_platform", "phy_generic", "dwc2"),
    Need.USB_STORAGE: ("usb_storage", "uas", "sd_mod"),
    Need.WIFI: ("mac80211", "brcmfmac"),
    Need.DEPTH_CAMERA: ("uvcvideo",),
    Need.ETHERNET: ("virtio_net", "e1000e", "igb", "genet", "smsc95xx", "lan78xx"),
    Need.SERIAL: ("cdc_acm", "ftdi_sio"),
    Need.I2C: ("i2c_dev", "i2c_bcm2835"),
    Need.SPI: ("spidev", "spi_bcm2835"),
}
ALWAYS = ("bcm2835_wdt",)  # what switches a Raspberry Pi off
# The disks an image's root may lie on.
ROOT_MODULES = (
    *("virtio_pci", "virtio_mmio", "virtio_blk", "ahci", "nvme", "sd_mod", "usb_storage", "xhci_pci", "crc32c_generic"),
    *("mmc_block", "sdhci_pci", "sdhci_iproc", "bcm2835", "gpio_regulator", "pcie_brcmstb", "ext4"),
)
# The programs that go with a need in a Debian root.
PACKAGES: dict[Need, tuple[str, ...]] = {
    Need.REALTIME: ("rt-tests",),
    Need.USB: ("usbutils",),
    Need.WIFI: ("iw", "wpasupplicant"),
    Need.DEPTH_CAMERA: ("v4l-utils",),
    Need.I2C: ("i2c-tools",),
    Need.GPIO: ("gpiod",),
    Need.TRACING: ("trace-cmd",),
}
BASE_PACKAGES = ("systemd-sysv", "udev", "kmod", "iproute2")  # what minbase lacks to boot at all


def modules_for(needs: Iterable[Need], more: Iterable[str] = ()) -> tuple[str, ...]:
    return _distinct((*ALWAYS, *(name for need in needs for name in MODULES.get(need, ())), *more))


def packages_for(needs: Iterable[Need], more: Iterable[str] = ()) -> tuple[str, ...]:
    return _distinct((*BASE_PACKAGES, *(name for need in needs for name in PACKAGES.get(need, ())), *more))


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))


def programs_of(root: RootSystem, needs: Sequence[Need]) -> tuple[str, ...]:
    """Those of instruments and loads that are in a root that a campaign measures in."""
    return (*_SHELL, *(PROGRAMS if root == RootSystem.MINIMAL or Need.REALTIME in needs else ()))
