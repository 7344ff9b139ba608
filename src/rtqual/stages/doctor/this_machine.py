# SPDX-License-Identifier: MIT
"""This machine: its resources, and what decides the latencies measured on it (nothing of that reaches a guest)."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from rtqual.base.cache import cache_dir
from rtqual.base.errors import RunFailed
from rtqual.base.program import run
from rtqual.base.units import format_bytes, format_ns
from rtqual.base.user import user_name
from rtqual.engine.boards.local import facts, processors
from rtqual.stages.doctor.looked_at import DoctorCheck, State, as_root, contents

_MEMORY_B, _CACHE_B, _CAMPAIGN_B = 2 * 2**30, 2 * 2**30, 2**30  # what the demo takes, with some room
_SLOW_CLOCKS = ("jiffies", "refined-jiffies", "acpi_pm", "hpet", "pit")
_COARSE_NS = 1_000
_GOVERNORS = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"

_TRY_REALTIME = """
import ctypes, os, sys
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(80))
except OSError as error:
    sys.exit(f"SCHED_FIFO: {error.strerror}")
libc, everything = ctypes.CDLL(None, use_errno=True), 1 | 2  # MCL_CURRENT, MCL_FUTURE
sys.exit(libc.mlockall(everything) and f"mlockall: {os.strerror(ctypes.get_errno())}")
"""


def resources() -> Iterator[DoctorCheck]:
    yield _cpus()
    yield _memory()
    yield _cache_disk()
    yield _disk("disk, here", Path.cwd(), _CAMPAIGN_B, "records, saved guests", "rtqual select --out ELSEWHERE")


def this_machine() -> Iterator[DoctorCheck]:
    here = _facts()
    yield _realtime()
    yield _throttling()
    yield _clock(here.get("clocksource", "unknown"), int(here.get("clock_resolution_ns", 0)))
    yield DoctorCheck("kernel", "ok", f"{platform.release()}, {_preemption(here)}", "this machine's figures")
    yield _governor(here.get("governor"))
    yield _hypervisor(here.get("hypervisor"))


def _facts() -> Mapping[str, str]:
    try:
        return facts()
    except (RunFailed, OSError, subprocess.SubprocessError):
        return {}  # the agent is missing, which another check reports


def _cpus() -> DoctorCheck:
    count = len(processors())
    if count > 1:
        return DoctorCheck("CPUs", "ok", str(count), "two guests at a time")
    return DoctorCheck(
        "CPUs", "warning", "1: everything takes twice as long", "two guests at a time", "rtqual select --jobs 1"
    )


def _memory() -> DoctorCheck:
    """MemAvailable: what can be had without swapping (proc(5))."""
    lines = [line.split() for line in contents("/proc/meminfo").splitlines()]
    free_b = next((int(words[1]) * 1024 for words in lines if words[0] == "MemAvailable:"), 0)
    found = f"{format_bytes(free_b)} free, {format_bytes(_MEMORY_B)} wanted"
    return DoctorCheck("memory", "ok" if free_b >= _MEMORY_B else "warning", found, "two guests at a time")


def _cache_disk() -> DoctorCheck:
    name, matters, fix = "disk, cache", "kernels, guest images", "export XDG_CACHE_HOME=ELSEWHERE"
    try:
        return _disk(name, cache_dir(), _CACHE_B, matters, fix)
    except OSError as error:
        return DoctorCheck(name, "missing", f"cannot be made: {error}", matters, fix, demo=True)


def _disk(name: str, path: Path, needed_b: int, matters: str, fix: str) -> DoctorCheck:
    free_b = shutil.disk_usage(path).free
    found = f"{format_bytes(free_b)} free, {format_bytes(needed_b)} needed: {path}"
    if free_b < needed_b:
        return DoctorCheck(name, "missing", found, matters, fix, demo=True)
    return DoctorCheck(name, "ok", found, matters, demo=True)


def _realtime() -> DoctorCheck:
    """Really try what cyclictest does, in a child: limits, capabilities and control groups all have a say."""
    name, matters = "real-time priority", "cyclictest on this machine"
    done = run([sys.executable, "-I", "-S", "-c", _TRY_REALTIME])
    if not done.code:
        return DoctorCheck(name, "ok", "SCHED_FIFO 80 and locked memory are allowed", matters)
    reason = done.last_words()
    user = user_name()
    if os.geteuid() == 0 or user is None:
        return DoctorCheck(name, "warning", f"{reason}; a container needs CAP_SYS_NICE and CAP_IPC_LOCK", matters)
    limits = "".join(rf"{user} - {limit}\n" for limit in ("rtprio 99", "memlock unlimited"))
    fix = f"printf '{limits}' | sudo tee /etc/security/limits.d/rtqual.conf  # and log in again"
    return DoctorCheck(name, "warning", reason, matters, fix)


def _throttling() -> DoctorCheck:
    """The share of each period that real-time programs may take (Documentation/scheduler/sched-rt-group)."""
    name, matters = "real-time throttling", "real-time programs on this machine"
    runtime, period = (contents(f"/proc/sys/kernel/sched_rt_{which}_us") for which in ("runtime", "period"))
    if not runtime or not period or int(runtime) < 0:
        return DoctorCheck(name, "ok", "off", matters)
    found = f"they get {int(runtime):,} us of every {int(period):,} us"
    if int(runtime) >= 0.95 * int(period):  # the kernel's default
        return DoctorCheck(name, "ok", found, matters)
    return DoctorCheck(
        name, "warning", found, matters, as_root(f"sysctl kernel.sched_rt_runtime_us={int(period) * 95 // 100}")
    )


def _clock(source: str, resolution_ns: int) -> DoctorCheck:
    resolution = format_ns(resolution_ns) if resolution_ns else "resolution unknown"
    coarse = not 0 < resolution_ns <= _COARSE_NS or source in _SLOW_CLOCKS
    state: State = "warning" if coarse else "ok"
    return DoctorCheck("clock source", state, f"{source}, {resolution}", "this machine's figures")


def _preemption(here: Mapping[str, str]) -> str:
    version = platform.version()
    if here.get("realtime") == "1" or "PREEMPT_RT" in version:
        return "PREEMPT_RT"
    if "PREEMPT_DYNAMIC" in version:
        modes = contents("/sys/kernel/debug/sched/preempt").split()  # as: none voluntary (full)
        return " ".join(["PREEMPT_DYNAMIC", *(mode for mode in modes if mode.startswith("("))])
    return "PREEMPT" if "PREEMPT" in version.split() else "no preemption inside the kernel"


def _governor(governor: str | None) -> DoctorCheck:
    name, matters = "frequency governor", "this machine's figures"
    if governor in (None, "performance"):
        return DoctorCheck(name, "ok", governor or "none: the frequency is not Linux's to choose", matters)
    found = f"{governor}: the frequency changes while measuring"
    return DoctorCheck(name, "warning", found, matters, f"echo performance | sudo tee {_GOVERNORS}")


def _hypervisor(hypervisor: str | None) -> DoctorCheck:
    name, matters = "hypervisor", "this machine's figures"
    if hypervisor is None:
        return DoctorCheck(name, "ok", "none seen", matters)
    return DoctorCheck(name, "warning", f"{hypervisor}: what it does is in every latency", matters)
