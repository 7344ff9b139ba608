# SPDX-License-Identifier: MIT
"""Needs against kernel configurations."""

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.kernel.needs import check_needs, is_config, rules
from rtqual.engine.mission import Need

# Excerpts of Debian 12's configurations, linux-image-6.1.0-*-{rt-,,cloud-}amd64.
COMMON = "CONFIG_HIGH_RES_TIMERS=y\nCONFIG_INET=y\nCONFIG_SERIAL_8250=y\nCONFIG_FTRACE=y\nCONFIG_FUNCTION_TRACER=y\n"
DRIVERS = """\
CONFIG_USB=m
CONFIG_USB_XHCI_HCD=m
CONFIG_USB_STORAGE=m
CONFIG_BLK_DEV_SD=m
CONFIG_CFG80211=m
CONFIG_MAC80211=m
CONFIG_ATH9K_HTC=m
CONFIG_VIDEO_DEV=m
CONFIG_USB_VIDEO_CLASS=m
CONFIG_E1000E=m
CONFIG_I2C=y
CONFIG_I2C_CHARDEV=m
CONFIG_SPI_MASTER=y
CONFIG_SPI_SPIDEV=y
CONFIG_GPIOLIB=y
CONFIG_GPIO_CDEV=y
CONFIG_I2C_PIIX4=m
CONFIG_SPI_PXA2XX=m
CONFIG_PINCTRL_BAYTRAIL=y
"""
RT = "# CONFIG_PREEMPT is not set\nCONFIG_PREEMPT_RT=y\n" + COMMON + DRIVERS
STOCK = "# CONFIG_PREEMPT is not set\nCONFIG_PREEMPT_DYNAMIC=y\n" + COMMON + DRIVERS
CLOUD = "CONFIG_PREEMPT_DYNAMIC=y\n# CONFIG_USB_SUPPORT is not set\n# CONFIG_WLAN is not set\n" + COMMON


def met(config: str) -> set[str]:
    return {check.need for check in check_needs(Need, config) if check.ok}


def test_every_need_of_a_mission_has_rules() -> None:
    assert set(rules()) == set(Need)


def test_debians_kernels() -> None:
    assert met(RT) == set(Need)
    assert met(STOCK) == set(Need) - {Need.REALTIME}
    assert met(CLOUD) == {Need.SERIAL, Need.TRACING}


def test_the_reason_names_the_symbol_found_or_missing() -> None:
    (usb,) = check_needs(["usb"], RT)
    assert usb.reason == "CONFIG_USB=m, CONFIG_USB_XHCI_HCD=m"
    (realtime,) = check_needs(["realtime"], STOCK)
    assert realtime.reason.startswith("none of CONFIG_PREEMPT_RT or CONFIG_XENOMAI or CONFIG_EVL is built in: ")
    (wifi,) = check_needs(["wifi"], "CONFIG_CFG80211=m\nCONFIG_MAC80211=m\n")
    assert wifi.reason.startswith("none of CONFIG_ATH9K or ")


def test_a_module_is_not_built_in() -> None:
    assert not check_needs(["gpio"], "CONFIG_GPIOLIB=m\nCONFIG_GPIO_CDEV=y\n")[0].ok
    assert check_needs(["i2c"], "CONFIG_I2C=m\nCONFIG_I2C_CHARDEV=m\nCONFIG_I2C_BCM2835=m\n")[0].ok


def test_a_symbol_counts_only_as_a_whole_line() -> None:
    assert not check_needs(["usb"], "CONFIG_USB_X=y\n#CONFIG_USB=y\nCONFIG_USB=n\nCONFIG_USB_XHCI_HCD=y\n")[0].ok


def test_a_missing_configuration_is_not_one_with_everything_off() -> None:
    assert not is_config(None)
    assert not is_config("<html>not found</html>")
    assert is_config(CLOUD)


def test_an_unknown_need_is_refused() -> None:
    with pytest.raises(BadInput, match="unknown need 'bluetooth'"):
        check_needs(["bluetooth"], RT)
