# SPDX-License-Identifier: MIT
"""What makes an image the known-good system of a board that is reached over ssh (docs/boards.md).

The user's key, a host key of its own, the network, sshd, the boot partition mounted with room for candidates. The host
key is made anew for each image and lies nowhere else.
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.base.program import run
from rtqual.base.words import clean
from rtqual.engine.boards.remote.settings import Settings
from rtqual.engine.boards.remote.switch import switcher_of
from rtqual.engine.initramfs import remote
from rtqual.engine.kernel.config import Config
from rtqual.engine.mission.load import read
from rtqual.parts.images.own_files import own_text
from rtqual.parts.images.root import Attributes, Root

MODULES = remote.MODULES  # those that candidates have: boot partition, network, watchdog
CANDIDATES = 3  # there is room for so many
_RAMDISK_B = 8 * 2**20  # a candidate's, with the modules of its kernel
_RESULTS_B = 16 * 2**20
_HOST_KEY = "etc/ssh/ssh_host_ed25519_key"
_HOST_KEYS = re.compile(r"(?:.*/)?(?:ssh_host_\w*key|dropbear_\w*host_key)(?:[.-][\w.-]*)?", re.ASCII)
_PACKAGES = {"minimal": ("dropbear-bin",), "debian": ("openssh-server",)}
_SWITCHES = {"systemd-boot": ("amd64", "arm64"), "tryboot": ("arm64",)}  # what images are laid out for
_PUBLIC = re.compile(r"(?:ssh-(?:ed25519|rsa)|ecdsa-sha2-nistp\d{3}) [A-Za-z0-9+/]+=*(?: [^\n]*)?")
_GIVE_KEY = "give --key the public key that is to log in, as ~/.ssh/id_ed25519.pub"
_NETWORK = "[Match]\nType=ether\n\n[Network]\n"
# The same address for the board and its candidates, which say nothing to the server.
_DHCP = "DHCP=ipv4\n\n[DHCPv4]\nClientIdentifier=mac\n"


@dataclass(frozen=True)
class ForBoard:
    """`keys`: lines of authorized_keys. `address`: "192.168.7.20/24", by DHCP where empty."""

    settings: Settings
    keys: str
    address: str = ""
    gateway: str = ""

    def packages(self, flavour: str) -> tuple[str, ...]:
        return _PACKAGES[flavour]

    def parameters(self, config: Config) -> tuple[str, ...]:
        """Of the known-good kernel: PREEMPT_RT writes EFI variables only when asked to."""
        writes = self.settings.switch == "systemd-boot" and config.get("PREEMPT_RT") == "y"
        return ("panic=5", *(("efi=runtime",) if writes else ()))

    def room_b(self, kernel_b: int) -> int:
        return CANDIDATES * (kernel_b + _RAMDISK_B) + _RESULTS_B

    def missing(self, release: str) -> list[str]:
        """What keeps it from starting candidates."""
        if self.settings.switch != "tryboot" or "rpi" in release:
            return []
        why = "its `reboot '0 tryboot'` may not reach the firmware: take Raspberry Pi OS's (linux-image-rpi-v8)"
        return [f"a kernel of the Raspberry Pi's makers: {release} is none, {why}"]

    def mounted_at(self) -> str:
        return switcher_of(self.settings).finds[0]

    def lay(self, root: Root, flavour: str, work: Path) -> str:
        """All but the boot partition's line in fstab. The public host key."""
        public = _host_key(root, work)
        root.secret("root/.ssh/authorized_keys", self.keys)
        root.special[root.inside.make("root")] = Attributes(0o700)
        root.make(self.mounted_at().lstrip("/"))
        if flavour == "minimal":
            self._minimal(root)
        else:
            self._debian(root)
        root.write("etc/hostname", f"{self.settings.name}\n")
        return public

    def _minimal(self, root: Root) -> None:
        root.write("etc/init.d/board", own_text("board"), executable=True)
        root.write("etc/rtqual-network", f"{self.address or 'dhcp'} {self.gateway or '-'}\n")
        root.write("etc/shells", "/bin/sh\n")
        try:
            first, _, rest = (root.inside.read("etc/inittab") or b"").decode().partition("\n")
        except UnicodeDecodeError:
            raise BadInput("--overlay: its etc/inittab is no text") from None
        root.write("etc/inittab", f"{first}\n::sysinit:/etc/init.d/board\n{rest}")

    def _debian(self, root: Root) -> None:
        way = f"Gateway={self.gateway}\n" if self.gateway else "\n[Route]\nDestination=0.0.0.0/0\nScope=link\n"
        lines = f"Address={self.address}\n{way}" if self.address else _DHCP
        root.write("etc/systemd/network/10-board.network", _NETWORK + lines)
        unit = "systemd-networkd.service"
        root.link(f"etc/systemd/system/multi-user.target.wants/{unit}", f"/lib/systemd/system/{unit}")

    def mount(self, root: Root, flavour: str, volume: str) -> None:
        """The boot partition, by its volume number. Only root reads it: rtqual keeps the host key there as well."""
        number = f"{volume[:4]}-{volume[4:]}".upper()
        options = "rw,umask=077,flush" + (",nofail" if flavour == "debian" else "")
        root.write("etc/fstab", f"UUID={number} {self.mounted_at()} vfat {options} 0 0\n")


def for_board(
    boards: Mapping[str, Settings], name: str, *, flavour: str, form: str, key: Path | None, address: str, gateway: str
) -> ForBoard:
    """Raises BadInput for what no image can be, and for keys and addresses that cannot be right."""
    settings = boards.get(name)
    if settings is None:
        known = f"it has {', '.join(boards)}" if boards else "it has no [[board]] (docs/boards.md)"
        raise BadInput(f"--board {name}: no board of the mission; {known}")
    processor = settings.architecture.name
    laid_out = [switch for switch, processors in _SWITCHES.items() if processor in processors]
    if settings.switch not in (*laid_out, "command"):
        loaders = " or ".join(f'"{switch}"' for switch in laid_out)
        raise BadInput(
            f"--board {name}: an image for {processor} starts candidates by {' or '.join(laid_out)}, not "
            f"{settings.switch}: write switch = {loaders}"
        )
    if form != "disk" or flavour not in _PACKAGES:
        raise BadInput(f"--board {name}: its image is a disk with one root: --form disk, --flavour minimal or debian")
    if settings.switch == "tryboot" and flavour == "minimal":
        raise BadInput(f"--board {name}: busybox's reboot does not know tryboot: --flavour debian")
    identity = settings.identity
    key = key or (identity.with_name(f"{identity.name}.pub") if identity else None)
    if key is None:
        raise BadInput(
            f"--board {name}: --key FILE is missing: the public key that is to log in, ~/.ssh/id_ed25519.pub"
        )
    return ForBoard(settings, _keys(key), *_network(settings, address, gateway))


def _keys(path: Path) -> str:
    text = read(path, _GIVE_KEY).decode(errors="replace")
    if "PRIVATE KEY" in text:
        raise BadInput(f"--key {path}: that is a private key; the public key lies beside it, as {path.name}.pub")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    for line in lines or [""]:
        if not _PUBLIC.fullmatch(line) or clean(line) != line:
            raise BadInput(f"--key {path}: no public keys as OpenSSH writes them: ssh-ed25519 AAAA... NAME")
    return "".join(f"{line}\n" for line in lines)


def _network(settings: Settings, address: str, gateway: str) -> tuple[str, str]:
    if not address:
        if gateway:
            raise BadInput(f"--gateway {gateway}: is for --address; by DHCP the server says it")
        return "", ""
    try:
        own = ipaddress.IPv4Interface(address)
        if "/" not in address or not 8 <= own.network.prefixlen <= 30 or not _is_a_hosts(own.ip, own.network):
            raise ValueError  # beyond 30 there is no room for two
    except ValueError:
        raise BadInput(f"--address {address}: is no IPv4 address with its network, as 192.168.7.20/24") from None
    if re.fullmatch(r"[0-9.]+", settings.host) and settings.host != str(own.ip):
        raise BadInput(f"--address {address}: the mission reaches board {settings.name} at {settings.host}")
    try:
        if gateway and (gateway == str(own.ip) or not _is_a_hosts(ipaddress.IPv4Address(gateway), own.network)):
            raise ValueError
    except ValueError:
        raise BadInput(f"--gateway {gateway}: is no other host's IPv4 address in {own.network}") from None
    return str(own), gateway


def _is_a_hosts(ip: ipaddress.IPv4Address, network: ipaddress.IPv4Network) -> bool:
    special = ip.is_loopback or ip.is_multicast or ip.is_reserved or ip.is_unspecified
    return ip in network and ip not in (network.network_address, network.broadcast_address) and not special


def _host_key(root: Root, work: Path) -> str:
    """Those that came with the root are everybody's, of whatever kind and server."""
    for place in root.paths():
        if _HOST_KEYS.fullmatch(place):
            root.inside.remove(place)
    made = work / "hostkey"
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(made)]
    run(words, package="openssh-client").require("ssh-keygen could not make the image's host key")
    root.secret(_HOST_KEY, made.read_text())
    public = made.with_suffix(".pub").read_text()
    root.write(f"{_HOST_KEY}.pub", public)
    made.unlink()
    return " ".join(public.split()[:2])
