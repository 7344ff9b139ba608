# SPDX-License-Identifier: MIT
# ruff: noqa: ARG004  every instrument takes the same arguments, whether it needs them or not
"""Footprint: the memory a candidate uses, and the sizes of its image and installation.

What each figure is (fields of /proc/meminfo, see proc(5)):

ram_total        MemTotal: what the kernel manages: all RAM but its own image and what it reserved at boot.
ram_used         MemTotal - MemFree - Buffers - Cached - SReclaimable: what programs and kernel hold and cannot
                 give back. The "used" of procps' free (3.3.10 to 4.0.0). A guest's files lie in its page cache
                 and so are not in it.
kernel_memory    SUnreclaim + KernelStack + PageTables + Percpu: what the kernel allocated since boot; a part of
                 ram_used.
kernel_reserved  all "System RAM" of /proc/iomem - MemTotal: the kernel's image and what it reserved at boot
                 (page descriptors first of all). Absent where /proc/iomem hides its addresses (not root).
image_size, installed_size  as the candidate's package states them. Absent for one without a package.
"""

import re
from typing import ClassVar

from rtqual.board import Command, Job, Outcome
from rtqual.errors import RunFailed
from rtqual.instrument import Parameters
from rtqual.instrument.output import require_success
from rtqual.record.schema import Measurement, Scalar

_FIELD = re.compile(r"^([A-Za-z_()0-9]+): +(\d{1,15}) kB$", re.MULTILINE | re.ASCII)
_SYSTEM_RAM = re.compile(r"^([0-9a-f]{1,15})-([0-9a-f]{1,15}) : System RAM$", re.MULTILINE | re.ASCII)
_RECLAIMABLE = ("MemFree", "Buffers", "Cached", "SReclaimable")
_KERNEL = ("SUnreclaim", "KernelStack", "PageTables", "Percpu")
_SIZES = {"image_size": "image_size_b", "installed_size": "installed_size_b"}  # figure: the campaign's fact


class FootprintParameters(Parameters):
    """Nothing to set."""


class Footprint:
    name: ClassVar[str] = "footprint"
    title: ClassVar[str] = "Memory and storage used by the operating system"
    program: ClassVar[str] = "cat"
    parameters: ClassVar[type[Parameters]] = FootprintParameters
    disks: ClassVar[bool] = False
    caveats: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def job(parameters: FootprintParameters, *, cpus: int, seed: int) -> Job:
        return Job(measure=Command(("cat", "/proc/meminfo", "/proc/iomem")))

    @staticmethod
    def read(parameters: FootprintParameters, outcome: Outcome, *, cpus: int) -> Measurement:
        require_success("cat /proc/meminfo /proc/iomem", outcome)
        sizes_b = {**_memory(outcome.stdout), **_storage(outcome)}
        return Measurement(scalars={name: Scalar(value=size, unit="B") for name, size in sizes_b.items()})

    @staticmethod
    def seconds(parameters: FootprintParameters, load: str) -> float:
        return 0.1


def _memory(text: str) -> dict[str, int]:
    fields_b = {name: int(kib) * 1024 for name, kib in _FIELD.findall(text)}
    missing = [name for name in ("MemTotal", *_RECLAIMABLE, *_KERNEL) if name not in fields_b]
    if missing:
        raise RunFailed(f"/proc/meminfo has no {', '.join(missing)}: Linux 4.20 or newer with /proc is needed")
    figures = {
        "ram_total": fields_b["MemTotal"],
        "ram_used": fields_b["MemTotal"] - sum(fields_b[name] for name in _RECLAIMABLE),
        "kernel_memory": sum(fields_b[name] for name in _KERNEL),
    }
    installed_b = sum(int(last, 16) - int(first, 16) + 1 for first, last in _SYSTEM_RAM.findall(text))
    if installed_b > figures["ram_total"]:  # hidden addresses are all 0
        figures["kernel_reserved"] = installed_b - figures["ram_total"]
    if figures["ram_used"] < 0:
        raise RunFailed(f"/proc/meminfo counts more free than there is ({figures['ram_used']} B used): read it by hand")
    return figures


def _storage(outcome: Outcome) -> dict[str, int]:
    figures: dict[str, int] = {}
    for figure, fact in _SIZES.items():
        text = outcome.facts.get(fact)
        if text is not None:
            if not re.fullmatch(r"\d{1,15}", text, re.ASCII):
                raise RunFailed(f"the candidate's {fact} is {text[:60]!r}, not a number of bytes: check its package")
            figures[figure] = int(text)
    return figures
