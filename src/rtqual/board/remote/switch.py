# SPDX-License-Identifier: MIT
"""How a boot loader starts another system once: what is spent before the kernel starts falls back by itself.

Every switcher is texts for the board's shell. None changes what the board starts by default.
"""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from rtqual.base.errors import RunFailed
from rtqual.board.remote.settings import STORE, Settings

_ENTRY = "rtqual-candidate"
# systemd.io/BOOT_LOADER_INTERFACE: UTF-16 with a zero at its end, behind the four bytes of the variable's attributes
# (non-volatile, boot and run-time access), as efivarfs wants them.
_ONE_SHOT = "/sys/firmware/efi/efivars/LoaderEntryOneShot-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"


@dataclass(frozen=True)
class Boot:
    """What is to be started once. `folder` lies on the boot partition, "/rtqual/c0ffee"."""

    folder: str
    parameters: str


class Switcher(Protocol):
    @property
    def finds(self) -> tuple[str, ...]:
        """Where the boot partition may be mounted."""
        ...

    @property
    def mark(self) -> str:
        """What lies on it."""
        ...

    def arm(self, boot: str, what: Boot) -> str:
        """The script that makes the next start another one; `boot` is where the partition is mounted."""
        ...

    def disarm(self, boot: str) -> str:
        """The script that takes back all that arming left."""
        ...

    def restart(self, boot: str) -> str:
        """The command that restarts the board, into what is armed."""
        ...


class SystemdBoot:
    """UEFI and systemd-boot: an entry of its own, started by the variable LoaderEntryOneShot."""

    finds, mark = ("/boot", "/efi", "/boot/efi"), "loader/loader.conf"

    def arm(self, boot: str, what: Boot) -> str:
        lines = ["title rtqual", f"linux {what.folder}/kernel", f"initrd {what.folder}/initramfs"]
        entry = "\n".join([*lines, f"options {what.parameters}", ""])
        variable = b"\x07\x00\x00\x00" + f"{_ENTRY}.conf\0".encode("utf-16-le")
        octal = "".join(f"\\{byte:03o}" for byte in variable)
        return f"""\
printf %s {shlex.quote(entry)} > {boot}/loader/entries/{_ENTRY}.conf && sync || exit 1
{_writable()}
printf '{octal}' > /run/rtqual-one-shot && cat /run/rtqual-one-shot > {_ONE_SHOT} || {{
	echo 'the variable LoaderEntryOneShot cannot be written: is efivarfs mounted read-only?' >&2; exit 1; }}
sync
"""

    def disarm(self, boot: str) -> str:
        return f"{_writable()}\nrm -f {_ONE_SHOT} {boot}/loader/entries/{_ENTRY}.conf; sync\n"

    def restart(self, boot: str) -> str:
        return f"sync; umount {boot}; reboot -f"


def _writable() -> str:
    """efivarfs makes variables immutable."""
    return f"[ ! -e {_ONE_SHOT} ] || chattr -i {_ONE_SHOT} 2> /dev/null"


class Tryboot:
    """Raspberry Pi: `reboot "0 tryboot"` reads tryboot.txt in place of config.txt, once.

    raspberrypi.com/documentation/computers/raspberry-pi.html, "tryboot". Not tried on a board yet.
    """

    finds, mark = ("/boot/firmware", "/boot"), "config.txt"

    def arm(self, boot: str, what: Boot) -> str:
        folder = what.folder.lstrip("/")
        lines = [
            "[all]",
            f"os_prefix={folder}/",
            "kernel=kernel",
            "cmdline=cmdline.txt",
            "initramfs initramfs followkernel",
            "auto_initramfs=0",
            "",
        ]
        text = shlex.quote("\n".join(lines))
        return f"""\
printf '%s\\n' {shlex.quote(what.parameters)} > {boot}/{folder}/cmdline.txt || exit 1
for one in {boot}/*.dtb {boot}/overlays; do
	[ ! -e "$one" ] || [ -e {boot}/{folder}/"${{one##*/}}" ] || cp -r "$one" {boot}/{folder}/ || exit 1
done
{{ cat {boot}/config.txt; printf '\\n%s' {text}; }} > {boot}/tryboot.txt.new || exit 1
sync
mv {boot}/tryboot.txt.new {boot}/tryboot.txt && sync
"""

    def disarm(self, boot: str) -> str:
        return f"rm -f {boot}/tryboot.txt {boot}/tryboot.txt.new; sync\n"

    def restart(self, boot: str) -> str:
        """From a candidate too, whose kernel may not know the word: then it restarts into the known-good system."""
        return f"sync; [ -e {boot}/tryboot.txt ] && reboot '0 tryboot' || reboot"


class Command:
    """The user's own program on the board: `PROGRAM... arm FOLDER PARAMETERS`, `disarm`, `restart`."""

    finds, mark = ("/boot/firmware", "/boot"), "."

    def __init__(self, settings: Settings) -> None:
        self._words = shlex.join(settings.switch_command)

    def arm(self, boot: str, what: Boot) -> str:
        return f"{self._words} arm {shlex.quote(boot + what.folder)} {shlex.quote(what.parameters)}\n"

    def disarm(self, boot: str) -> str:  # noqa: ARG002
        return f"{self._words} disarm\n"

    def restart(self, boot: str) -> str:  # noqa: ARG002
        return f"sync; {self._words} restart"


SWITCHERS: dict[str, Callable[[Settings], Switcher]] = {
    "systemd-boot": lambda _: SystemdBoot(),
    "tryboot": lambda _: Tryboot(),
    "command": Command,
}


def switcher_of(settings: Settings) -> Switcher:
    return SWITCHERS[settings.switch](settings)


def find_boot(switcher: Switcher) -> str:
    """The script that prints where the boot partition is mounted."""
    places = " ".join(switcher.finds)
    return f"for one in {places}; do [ -e $one/{switcher.mark} ] && echo $one && exit 0; done; exit 1\n"


def found_boot(said: bytes, switcher: Switcher, name: str) -> str:
    place = said.decode(errors="replace").strip()
    if place not in switcher.finds:
        raise RunFailed(f"board {name}: no {switcher.mark} in {', '.join(switcher.finds)}: mount its boot partition")
    return place


def store_in(boot: str) -> str:
    return f"{boot}/{STORE}"
