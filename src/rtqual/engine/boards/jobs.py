# SPDX-License-Identifier: MIT
"""What jobs.c is told of a kernel, so that it can note the jobs of a program from outside of the guest.

Addresses come from the guest's own /proc/kallsyms (which needs a run of its own, kept in the cache), offsets from the
kernel's BTF. A kernel without either, or a processor whose registers QEMU does not tell, cannot be watched.
"""

import re
from collections.abc import Callable, Mapping
from itertools import chain

from rtqual.base.architecture import AMD64, ARM64, ARMHF, Architecture
from rtqual.base.cache import cache_dir, kept
from rtqual.base.errors import RunFailed
from rtqual.engine.boards.btf import Btf
from rtqual.engine.boards.calls import AT_MOST, SLEEP, WAITING
from rtqual.protocols.board import Command, Job
from rtqual.protocols.record.schema import digest

LOG = "jobs"  # of an outcome's files: what the plugin noted
PROCESSOR = "processor"  # of its facts: whose system calls those are
NOT_SEEN = "jobs not seen"  # or: why nothing was noted
TICKS = "ticks_per_s"  # how often the kernel's tick comes
PLUGIN = "rtqual-jobs"
_NS = 2  # of an instruction (engine/boards/machine.py: shift=1)
# What is looked at, and the functions that are it.
_PLACES: Mapping[str, tuple[str, ...]] = {
    "switch": ("finish_task_switch",),
    "new": ("wake_up_new_task",),
    "wake": ("try_to_wake_up",),
    "sleeper": ("hrtimer_wakeup",),
    "posix": ("posix_timer_fn",),
    "timerfd": ("timerfd_tmrproc",),
    "real": ("it_real_fn",),
    "fault": ("handle_mm_fault",),
}
_OPTIONAL = {"posix", "timerfd", "real", "fault"}  # a kernel that is cut down may lack them
# ARM's kernels of Debian name no variables: the timekeeper is what this is called with at each tick.
_CLOCK = ("update_vsyscall",)
_OWN: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    AMD64.name: {"call": ("do_syscall_64",)},
    ARM64.name: {"next": ("cpu_switch_to",), "call": ("do_el0_svc",), "clock": _CLOCK},
    # Which of the vectors is in use depends on the processor's faults.
    ARMHF.name: {
        "next": ("__switch_to",),
        "call": ("vector_swi", "vector_bhb_loop8_swi", "vector_bhb_bpiall_swi"),
        "clock": _CLOCK,
    },
}
_VARIABLES = ("__per_cpu_offset", "current_task", "pcpu_hot", "tk_core")
_FIXED: Mapping[str, Mapping[str, int]] = {
    AMD64.name: {"word_bytes": 8, "arm_bits": 0},
    # pt_regs begins with the registers; x8 has the call's number.
    ARM64.name: {
        "word_bytes": 8, "arm_bits": 64, "next_argument": 1, "call_number": 64, "call_argument0": 0,
        "call_argument1": 8, "call_argument2": 16, "call_argument3": 24, "call_argument4": 32,
    },
    # The third argument is a thread_info, with which a task_struct begins.
    ARMHF.name: {"word_bytes": 4, "arm_bits": 32, "next_argument": 2, "call_in_registers": 1},
}  # fmt: skip
_MEMBERS = {
    "pid": ("task_struct", "pid"),
    "tgid": ("task_struct", "tgid"),
    "name": ("task_struct", "comm"),
    "prio": ("task_struct", "prio"),
    "policy": ("task_struct", "policy"),
    "state": ("task_struct", "__state"),
    "on_rq": ("task_struct", "on_rq"),
    "soft": ("hrtimer", "_softexpires"),
    "base": ("hrtimer", "base"),
    "clockid": ("hrtimer_clock_base", "clockid"),
    "sleeper_task": ("hrtimer_sleeper", "task"),
    "tk_last": ("timekeeper", "tkr_mono.cycle_last"),
    "tk_mult": ("timekeeper", "tkr_mono.mult"),
    "tk_shift": ("timekeeper", "tkr_mono.shift"),
    "tk_nsec": ("timekeeper", "tkr_mono.xtime_nsec"),
    "tk_base": ("timekeeper", "tkr_mono.base"),
    "tk_real": ("timekeeper", "offs_real"),
}
_CALL_ON_X86 = {
    "call_number": ("pt_regs", "orig_ax"),
    "call_argument0": ("pt_regs", "di"),
    "call_argument1": ("pt_regs", "si"),
    "call_argument2": ("pt_regs", "dx"),
    "call_argument3": ("pt_regs", "r10"),
    "call_argument4": ("pt_regs", "r8"),
}
_LINE = re.compile(r"^([0-9a-f]{8,16}) [a-zA-Z] ([\w.]+)$", re.MULTILINE | re.ASCII)


def ticks(config: str) -> dict[str, str]:
    """The fact TICKS, by a kernel's configuration."""
    found = re.search(r"^CONFIG_HZ=(\d{1,5})$", config, re.MULTILINE | re.ASCII)
    return {TICKS: found[1]} if found else {}


def _wanted(architecture: Architecture) -> dict[str, tuple[str, ...]]:
    return {**_PLACES, **_OWN[architecture.name]}


def question(architecture: Architecture) -> Job:
    """A job that asks a guest for the addresses."""
    names = "|".join((*chain.from_iterable(_wanted(architecture).values()), *_VARIABLES))
    return Job(measure=Command(("grep", "-E", rf" ({names})(\.[a-z0-9.]+)?$", "/proc/kallsyms")))


def symbols(run: Callable[[Job], str], artefacts: Mapping[str, str], architecture: Architecture) -> str:
    """What a guest of these artefacts answers; it is asked once."""
    asked = question(architecture)
    place = cache_dir() / "symbols" / f"{digest([dict(artefacts), asked.as_inputs()])[:32]}.jobs"
    return kept(place, lambda fresh: fresh.write_text(run(asked))).read_text()


def spec(told: str, image: bytes, architecture: Architecture) -> str:
    """The plugin's spec. Raises RunFailed where the kernel does not tell what has to be known."""
    known: dict[str, int] = {}
    for address, name in _LINE.findall(told):
        if not name.endswith(".cold"):
            known.setdefault(name.partition(".")[0], int(address, 16))
    wanted = _wanted(architecture)
    places = [(what, known[name]) for what, names in wanted.items() for name in names if known.get(name)]
    found = {what for what, _ in places} | _OPTIONAL
    lacking = [names[0] for what, names in wanted.items() if what not in found]
    if "clock" not in wanted and "tk_core" not in known:
        lacking.append("tk_core")
    if lacking:
        raise RunFailed(
            f"the kernel tells no address of {lacking[0]}, so a program's jobs cannot be seen: it needs "
            "CONFIG_KALLSYMS_ALL"
        )
    values: dict[str, int] = {}
    try:
        btf = Btf(image)
        values |= {what: btf.offset(*member) for what, member in _MEMBERS.items()}
        if architecture == AMD64:
            values |= {what: btf.offset(*member) for what, member in _CALL_ON_X86.items()}
            values |= _current(known, btf)
        if "clock" not in wanted:
            values["timekeeper"] = known["tk_core"] + _timekeeper(btf)
    except ValueError as error:
        raise RunFailed(f"a program's jobs cannot be seen: {error}") from None
    calls = WAITING[architecture.name]
    values |= {**_FIXED[architecture.name], "ns": _NS}
    sleeps = sorted(number for number, name in calls.items() if name == SLEEP)
    values |= zip(("call_sleep32", "call_sleep")[-len(sleeps) :], sleeps, strict=True)
    lines = [f"{what} {value:x}" for what, value in (*places, *values.items())]
    return "".join(f"{line}\n" for line in (*lines, *(f"waits {_waits(*call):x}" for call in calls.items())))


def _waits(number: int, name: str) -> int:
    """A system call that may wait, as jobs.c is told it: its number, and which argument says how long at most."""
    argument, by_address = AT_MOST.get(name, (-1, False))
    return number | argument + 1 << 12 | by_address << 16


def _current(known: Mapping[str, int], btf: Btf) -> dict[str, int]:
    """Where the thread that runs is told, among a CPU's own variables."""
    hot = known.get("pcpu_hot")  # from 6.2 to 6.14
    at = known.get("current_task") if hot is None else hot + btf.offset("pcpu_hot", "current_task")
    if not at or not known.get("__per_cpu_offset"):
        raise ValueError("its kernel does not tell where the thread that runs is noted")
    return {"per_cpu": known["__per_cpu_offset"], "current": at}


def _timekeeper(btf: Btf) -> int:
    """In tk_core, behind a lock: with a pointer in it on PREEMPT_RT."""
    try:
        return btf.offset("tk_data", "timekeeper")
    except ValueError:
        return max(8, btf.size("seqcount_raw_spinlock"))
