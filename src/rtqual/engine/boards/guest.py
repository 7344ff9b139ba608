# SPDX-License-Identifier: MIT
"""Whether a machine is a guest of a hypervisor, by what its kernel tells: one rule for every board in real time.

Read are CPUID's flag (Linux shows it in /proc/cpuinfo, on x86 alone), /sys/hypervisor, the firmware's tables (DMI), and
the device tree, where KVM's and QEMU's boards are named (Documentation/devicetree/bindings/, qemu hw/arm/virt.c). A
machine that tells nothing of it is not known to be hardware, and what is measured there flies nowhere.
"""

import re
from collections.abc import Mapping
from pathlib import Path

UNKNOWN = "unknown"
UNTOLD = "not known: nothing tells whether the machine is a guest"
_DMI = ("sys_vendor", "product_name", "board_vendor", "bios_vendor")
# What prints each sign, the fact of that name.
SIGNS = {
    "cpu_flags": "grep -c '^flags' /proc/cpuinfo",
    "virtual_machine": "grep -c '^flags.* hypervisor' /proc/cpuinfo",
    "sys_hypervisor": "cat /sys/hypervisor/type",
    "dmi": " ".join(["cat", *(f"/sys/class/dmi/id/{name}" for name in _DMI)]),
    "tree_compatible": "tr '\\000' ' ' < /proc/device-tree/compatible",
    "tree_hypervisor": "tr '\\000' ' ' < /proc/device-tree/hypervisor/compatible",
}
# As systemd-detect-virt knows them (src/basic/virt.c), and the boards that only emulators have.
_VIRTUAL = re.compile(
    r"qemu|kvm|vmware|virtualbox|vbox|innotek|\bxen\b|xen,|bochs|parallels|bhyve|hyper-v|virtual machine|amazon ec2|"
    r"google compute engine|openstack|nutanix|linux,dummy-virt|cloud-hypervisor|apple virtualization|acrn|jailhouse",
    re.IGNORECASE,
)


def guest_of(signs: Mapping[str, str]) -> str | None:
    """The hypervisor's name, as far as it is told; None for hardware; UNTOLD where nothing tells."""
    told = {name: text.strip() for name in SIGNS if (text := signs.get(name, UNKNOWN)).strip() not in ("", UNKNOWN)}
    for name in ("tree_hypervisor", "sys_hypervisor"):
        if name in told:
            return told[name].split()[0][:60]
    for name in ("dmi", "tree_compatible"):
        if found := _VIRTUAL.search(told.get(name, "")):
            return found[0]
    if told.get("virtual_machine", "0") != "0":
        machine = signs.get("machine", UNKNOWN)
        return "an unknown hypervisor" if machine == UNKNOWN else f"an unknown hypervisor ({machine})"
    by_flag = told.get("cpu_flags", "0") != "0" and "virtual_machine" in told
    return None if by_flag or "tree_compatible" in told or "dmi" in told else UNTOLD


def signs_here() -> dict[str, str]:
    """Those of this machine."""
    flags = [line for line in _read("/proc/cpuinfo").splitlines() if line.startswith("flags")]
    return {
        "cpu_flags": str(len(flags)),
        "virtual_machine": str(sum(" hypervisor" in line for line in flags)),
        "sys_hypervisor": _read("/sys/hypervisor/type"),
        "dmi": " ".join(_read(f"/sys/class/dmi/id/{name}") for name in _DMI),
        "tree_compatible": _read("/proc/device-tree/compatible").replace("\0", " "),
        "tree_hypervisor": _read("/proc/device-tree/hypervisor/compatible").replace("\0", " "),
    }


def why_no_hardware(guest: str, what: str = "it") -> str:
    """Say why what was measured is not known to be hardware: "it is a guest of kvm"."""
    told = f"{what} is a guest of"
    return f"nothing tells whether {told} a hypervisor" if guest == UNTOLD else f"{told} {guest}"


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return ""
