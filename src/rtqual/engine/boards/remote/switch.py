# SPDX-License-Identifier: MIT
"""How a boot loader starts another system once: what is spent before the kernel starts falls back by itself.

Every switcher is texts for the board's shell. None changes what the board starts by default.
"""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from rtqual.base.errors import RunFailed
from rtqual.engine.boards.remote.settings import STORE, Settings

_ENTRY = "rtqual-candidate"
VOLUME = "rtqual.store"  # in a candidate's command line: the volume number of the boot partition
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

    @property
    def why_not(self) -> str:
        """The script that prints why nothing can be started once, a tab and what mends it; nothing where it can."""
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
    why_not = """\
grep -q ' efivarfs rw' /proc/mounts || printf '%s\\t%s\\n' 'EFI variables are read-only' 'mount -t efivarfs efivarfs \
/sys/firmware/efi/efivars; a PREEMPT_RT kernel needs efi=runtime for that'
"""

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
    why_not = """\
grep -qs '^[[:space:]]*tryboot_a_b[[:space:]]*=[[:space:]]*[1-9]' "$boot/autoboot.txt" && printf '%s\\t%s\\n' \\
'autoboot.txt has tryboot_a_b=1: the firmware starts the other partition and never reads tryboot.txt' \\
'take that line out of autoboot.txt'
"""

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


class SwitchProgram:
    """The user's own program on the board: `PROGRAM... arm FOLDER PARAMETERS`, `disarm`, `restart`."""

    finds, mark, why_not = ("/boot/firmware", "/boot"), ".", ""

    def __init__(self, settings: Settings) -> None:
        self._words = shlex.join(settings.switch_command)

    def arm(self, boot: str, what: Boot) -> str:
        return f"{self._words} arm {shlex.quote(boot + what.folder)} {shlex.quote(what.parameters)}\n"

    def disarm(self, boot: str) -> str:  # noqa: ARG002
        return f"{self._words} disarm\n"

    def restart(self, boot: str) -> str:  # noqa: ARG002
        return f"sync; {self._words} restart"


class Grub:
    """UEFI and GRUB 2: the entry that grubenv's next_entry names, once, of a file of its own.

    GRUB clears next_entry on the disk before it shows its menu (grub-mkconfig, 00_header), if it can write there. If it
    could not, the candidate would start again and again; so the entry is there only while the file `armed` is on the
    boot partition, which is removed from a candidate too. Tried on the stand-in, not on a board.
    """

    finds, mark = ("/boot/efi", "/efi", "/boot"), "EFI"

    def __init__(self, root: str = "") -> None:
        """`root`: before every path, for tests."""
        self._root, self._folder = root, f"{root}/boot/grub"

    @property
    def why_not(self) -> str:
        return _GRUB_WHY_NOT.format(root=self._root, grub=self._folder, mark=_GRUB_MARK)

    def arm(self, boot: str, what: Boot) -> str:
        volume = next(word.partition("=")[2] for word in what.parameters.split() if word.startswith(f"{VOLUME}="))
        entry = _GRUB_ENTRY.format(
            volume=volume, mark=_GRUB_MARK, entry=_ENTRY, folder=what.folder, parameters=_in_grub(what.parameters)
        )
        grub, custom = self._folder, f"{self._folder}/custom.cfg"
        return f"""\
why=$({self.why_not})
[ -z "$why" ] || {{ echo "GRUB starts nothing once here: ${{why%%	*}}" >&2; exit 1; }}
printf %s {shlex.quote(entry)} > {custom}.new && mv {custom}.new {custom} || exit 1
: > {boot}/{STORE}/armed && grub-editenv {grub}/grubenv set next_entry={_ENTRY} || exit 1
sync
grub-editenv {grub}/grubenv list | grep -qx next_entry={_ENTRY}
"""

    def disarm(self, boot: str) -> str:
        """On a candidate there is neither grubenv nor its program: there `armed` is what counts."""
        grub = self._folder
        return f"""\
rm -f {boot}/{STORE}/armed
if [ -e {grub}/grubenv ] && command -v grub-editenv > /dev/null; then
	[ -z "$(grub-editenv {grub}/grubenv list | grep -x next_entry={_ENTRY})" ] ||
		grub-editenv {grub}/grubenv unset next_entry
	! grep -qsx '{_GRUB_MARK}' {grub}/custom.cfg || rm -f {grub}/custom.cfg
	rm -f {grub}/custom.cfg.new
fi
sync
"""

    def restart(self, boot: str) -> str:  # noqa: ARG002
        """In order: GRUB reads the disk without the journal of its file system."""
        return "sync; reboot"


_GRUB_MARK = "# rtqual: one start of a candidate; removed by itself"
_GRUB_ENTRY = """\
{mark}
search --no-floppy --fs-uuid --set=rtqual {volume}
if [ -f ($rtqual)/rtqual/armed ]; then
	menuentry 'rtqual' --id {entry} {{
		linux ($rtqual){folder}/kernel {parameters}
		initrd ($rtqual){folder}/initramfs
	}}
fi
"""
# GRUB writes on disks, not on what lies across them, and to files of these file systems.
_GRUB_WHY_NOT = """\
no() {{ printf '%s\\t%s\\n' "$1" "$2"; }}
command -v grub-editenv > /dev/null || no 'no grub-editenv' 'apt-get install grub-common'
for line in 'set default="${{next_entry}}"' 'save_env next_entry' custom.cfg; do
	grep -qsF "$line" {grub}/grub.cfg || no "{grub}/grub.cfg has no $line" 'make it by update-grub'
done
[ -f {grub}/grubenv ] && [ ! -L {grub}/grubenv ] || no 'no {grub}/grubenv' 'grub-editenv {grub}/grubenv create'
[ ! -e {grub}/custom.cfg ] || grep -qx '{mark}' {grub}/custom.cfg ||
	no '{grub}/custom.cfg is there already' 'put its entries into /etc/grub.d/40_custom, then update-grub'
device=$(df -P {grub} 2> /dev/null | awk 'END {{ print $1 }}')
type=$(awk -v of="$device" '$1 == of {{ found = $3 }} END {{ print found }}' {root}/proc/mounts)
case $type in
(ext2 | ext3 | ext4 | vfat) ;;
(*) no "GRUB cannot write to ${{type:-an unknown file system}} ($device)" 'put /boot on an ext4 partition of its own' ;;
esac
case ${{device##*/}} in
(md* | dm-*) plain= ;;
(*) plain=$(ls -d {root}/sys/class/block/"${{device##*/}}"/partition 2> /dev/null) ;;
esac
[ -n "$plain" ] || no "GRUB cannot write to $device (LVM, RAID, encrypted)" 'put /boot on a partition of its own'
secure=$(tail -c 1 {root}/sys/firmware/efi/efivars/SecureBoot-* 2> /dev/null | tr '\\001' 1)
[ "$secure" != 1 ] || no 'Secure Boot is on, candidates are not signed' 'switch it off in the firmware'
"""


def _in_grub(parameters: str) -> str:
    """A command line in GRUB's own quotes, word by word."""
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in parameters.split())


SWITCHERS: dict[str, Callable[[Settings], Switcher]] = {
    "systemd-boot": lambda _: SystemdBoot(),
    "tryboot": lambda _: Tryboot(),
    "grub": lambda _: Grub(),
    "command": SwitchProgram,
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
