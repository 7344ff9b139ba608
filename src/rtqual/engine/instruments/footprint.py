# SPDX-License-Identifier: MIT
"""Footprint: what a candidate takes (memory, storage, time to boot) and what it offers to go wrong or be attacked.

What each figure is (fields of /proc/meminfo, see proc(5)):

ram_total        MemTotal: what the kernel manages: all RAM but its own image and what it reserved at boot.
ram_used         MemTotal - MemFree - Buffers - Cached - SReclaimable: what programs and kernel hold and cannot
                 give back. The "used" of procps' free (3.3.10 to 4.0.0), less the free pages that wait in the lists
                 of the processors (/proc/zoneinfo), an eighth of the memory since Linux 6.7; where only root may
                 read these, they count as used. A guest's files lie in its page cache and so are not in it.
ram_not_available  MemTotal - MemAvailable, only where ram_used is absent because the counters disagree: a kernel in
                 use reads /proc/meminfo and the lists at different moments, or a container is shown its own meminfo
                 beside the host's lists. It is another quantity (it holds back what the kernel keeps in reserve), so
                 it has a name of its own.
kernel_memory    SUnreclaim + KernelStack + PageTables + Percpu: what the kernel allocated since boot; a part of
                 ram_used.
kernel_reserved  all "System RAM" of /proc/iomem - MemTotal: the kernel's image and what it reserved at boot
                 (page descriptors first of all). Absent where /proc/iomem hides its addresses (not root).
image_size, installed_size  as the candidate's package states them, or as a kernel built here lies on the disk.
                 Absent for one without either. With the root of a system image (`root` in the mission) installed_size
                 is that of all its files: kernel, modules, root_size.
root_size, installed_with_minbase  with such a root only: its files without the kernel's modules; and installed_size,
                 if a Debian root held nothing but mmdebstrap's minbase.
boot_to_user_space, boot_until_ready  on the virtual board, from power-on to the first process, and to where jobs
                 start: executed instructions of 2 ns each, firmware and unpacking included, idle time too.
start_up         the difference of these two: what the root's own start takes.
modules_loaded, modules_available, built_in_drivers  lines of /proc/modules; files of the module tree and lines of its
                 modules.builtin, as the candidate's files have them.
symbols, syscalls  functions (types t and T) in the kernel's own symbol table, those of modules left out, and entry
                 points of system calls among them: /proc/kallsyms, or System.map of a kernel built without it.
"""

import re
from collections.abc import Mapping

from rtqual.base.errors import RunFailed
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument, NoParameters
from rtqual.protocols.instrument.output import require_success
from rtqual.protocols.record.schema import Measurement, Scalar

_FIELD = re.compile(r"^([A-Za-z_()0-9]+): +(\d{1,15}) kB$", re.MULTILINE | re.ASCII)
_SYSTEM_RAM = re.compile(r"^([0-9a-f]{1,15})-([0-9a-f]{1,15}) : System RAM$", re.MULTILINE | re.ASCII)
_ZONE_FREE = re.compile(r"^ +pages free +(\d{1,15})$", re.MULTILINE | re.ASCII)
_LISTED = re.compile(r"^ +count: +(\d{1,15})$", re.MULTILINE | re.ASCII)  # free pages in a processor's list
_PAGES_B = (4096, 16_384, 65_536)
_RECLAIMABLE = ("MemFree", "Buffers", "Cached", "SReclaimable")
_KERNEL = ("SUnreclaim", "KernelStack", "PageTables", "Percpu")
_SIZES = {  # figure: the campaign's fact
    "image_size": "image_size_b",
    "installed_size": "installed_size_b",
    **{name: name for name in ("root_size", "installed_with_minbase")},
}
_COUNTS = ("modules_available", "built_in_drivers", "symbols", "syscalls")  # figures that are the campaign's facts
# Memory first: what counts the symbols takes some itself.
_LOOK = """\
cat /proc/meminfo /proc/iomem || exit
if [ -r /proc/zoneinfo ]; then cat /proc/zoneinfo; fi
if [ -r /run/boot ]; then cat /run/boot; fi
if [ -r /proc/modules ]; then echo "modules loaded: $(wc -l < /proc/modules)"; fi
if [ -r /proc/kallsyms ]; then awk 'NF == 3 && $2 ~ /^[tT]$/ { n++; if ($2 == "T" && $3 ~ /^__(x64|arm64)_sys_/) s++ }
END { printf "symbols: %d\\nsyscalls: %d\\n", n, s }' /proc/kallsyms; fi
"""
_BOOT = re.compile(r"^boot to user space: (\d{1,15}), until ready: (\d{1,15})$", re.MULTILINE | re.ASCII)
_COUNTED = re.compile(r"^(modules loaded|symbols|syscalls): (\d{1,9})$", re.MULTILINE | re.ASCII)


class _Footprint(Instrument):
    def job(self, parameters: NoParameters, *, cpus: int, seed: int) -> Job:
        return Job(measure=Command(("sh", "-c", _LOOK)))

    def read(self, parameters: NoParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:
        require_success("cat /proc/meminfo /proc/iomem", outcome)
        memory_b, absent = memory(outcome.stdout)
        sizes_b = {**memory_b, **_stated(outcome, _SIZES)}
        counts = {**_stated(outcome, {name: name for name in _COUNTS}), **_counted(outcome.stdout)}
        scalars = {name: Scalar(value=size, unit="B") for name, size in sizes_b.items()}
        scalars |= {name: Scalar(value=time_ns, unit="ns") for name, time_ns in _boot(outcome.stdout).items()}
        scalars |= {name: Scalar(value=n, unit="1") for name, n in counts.items()}
        return Measurement(scalars=scalars, absent=absent)

    def seconds(self, parameters: NoParameters, load: str) -> float:
        return 1.0


FOOTPRINT = _Footprint(
    name="footprint",
    title="Memory, storage and boot time of the operating system, and what it offers to attack",
    program="cat",
    whole_boot=True,
)


def memory(text: str) -> tuple[dict[str, int], dict[str, str]]:
    """The figures, and what is absent and why."""
    fields_b = {name: int(kib) * 1024 for name, kib in _FIELD.findall(text)}
    missing = [name for name in ("MemTotal", *_RECLAIMABLE, *_KERNEL) if name not in fields_b]
    if missing:
        raise RunFailed(f"/proc/meminfo has no {', '.join(missing)}: Linux 4.20 or newer with /proc is needed")
    total_b, absent = fields_b["MemTotal"], dict[str, str]()
    figures = {"ram_total": total_b, "kernel_memory": sum(fields_b[name] for name in _KERNEL)}
    used_b = total_b - sum(fields_b[name] for name in _RECLAIMABLE) - _listed(text, fields_b["MemFree"])
    if used_b >= 0:
        figures["ram_used"] = used_b
    else:
        absent["ram_used"] = f"/proc/meminfo and /proc/zoneinfo count more free than there is ({used_b} B used)"
        if fields_b.get("MemAvailable", total_b + 1) <= total_b:
            figures["ram_not_available"] = total_b - fields_b["MemAvailable"]
            absent["ram_used"] += "; ram_not_available, MemTotal - MemAvailable, stands for it"
    installed_b = sum(int(last, 16) - int(first, 16) + 1 for first, last in _SYSTEM_RAM.findall(text))
    if installed_b > total_b:  # hidden addresses are all 0
        figures["kernel_reserved"] = installed_b - total_b
    return figures, absent


def _listed(text: str, free_b: int) -> int:
    """Bytes free in the lists of the processors. A page is as large as makes the free ones come to MemFree."""
    free, listed = (sum(map(int, pattern.findall(text))) for pattern in (_ZONE_FREE, _LISTED))
    return listed * min(_PAGES_B, key=lambda page_b: abs(free * page_b - free_b))


def _boot(text: str) -> dict[str, int]:
    found = _BOOT.search(text)
    if found is None:
        return {}
    first, ready = map(int, found.groups())
    return {"boot_to_user_space": first, "boot_until_ready": ready, "start_up": ready - first}


def _counted(text: str) -> dict[str, int]:
    """A kernel without a symbol table says 0; an old one, or another processor's, names its system calls otherwise."""
    return {name.replace(" ", "_"): int(n) for name, n in _COUNTED.findall(text) if int(n) or name == "modules loaded"}


def _stated(outcome: JobOutcome, stated: Mapping[str, str]) -> dict[str, int]:
    """Figures that the campaign knows of the candidate: figure -> its fact."""
    figures: dict[str, int] = {}
    for figure, fact in stated.items():
        text = outcome.facts.get(fact)
        if text is not None:
            if not re.fullmatch(r"\d{1,15}", text, re.ASCII):
                raise RunFailed(f"the candidate's {fact} is {text[:60]!r}, not a number: check its package")
            figures[figure] = int(text)
    return figures
