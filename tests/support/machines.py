# SPDX-License-Identifier: MIT
"""The machines of QEMU that stand in for boards (stand_in.py), all with UEFI."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

# On a busy host the timer check of the IO-APIC loses races under emulation, and a thread of little work is at work for
# more than 95 % of a second, where the kernel would throttle it.
PARAMETERS = ("no_timer_check", "sysctl.kernel.sched_rt_runtime_us=-1")
MODEL = "qemu-pc"


@dataclass(frozen=True)
class Machine:
    """QEMU's command without devices, the firmware's package and its two files, what a mission's table says in TOML."""

    emulator: tuple[str, ...]
    package: str
    firmware: str
    variables: str
    keys: Mapping[str, str]


PC = Machine(
    ("qemu-system-x86_64", "-M", "q35", "-cpu", "Nehalem", "-m", "512"),
    "ovmf",
    "usr/share/OVMF/OVMF_CODE_4M.fd",
    "usr/share/OVMF/OVMF_VARS_4M.fd",
    {"model": f'"{MODEL}"', "architecture": '"amd64"', "parameters": json.dumps(PARAMETERS)},
)
VIRT = Machine(
    ("qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a57", "-m", "768"),
    "qemu-efi-aarch64",
    "usr/share/AAVMF/AAVMF_CODE.fd",
    "usr/share/AAVMF/AAVMF_VARS.fd",
    {"model": '"qemu-virt"', "architecture": '"arm64"', "parameters": json.dumps(PARAMETERS[1:])},
)
