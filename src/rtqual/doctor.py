# SPDX-License-Identifier: MIT
"""What this machine can do for rtqual, what is missing, and the command that mends it."""

import importlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from rich.console import Group, RenderableType
from rich.table import Table

from rtqual.board.local import facts, processors
from rtqual.board.trial import try_guest
from rtqual.errors import RunFailed
from rtqual.image.guest import guest_file
from rtqual.packages import cache_dir
from rtqual.units import format_bytes, format_ns

State = Literal["ok", "warning", "missing"]

_QEMU_SERIES = "7.2."  # Debian 12's; the figures in the documents were made with it
_TRIAL_S = 5.0
_SLOW_S = 2.0  # emulation boots the same guest in about one
_SLOW_CLOCKS = ("jiffies", "refined-jiffies", "acpi_pm", "hpet", "pit")
_COARSE_NS = 1000
_MEMORY_B, _CACHE_B, _CAMPAIGN_B = 2 * 2**30, 2 * 2**30, 2**30  # what the demo takes, with some room
_SYSTEM_PATH = "/usr/sbin:/sbin:/usr/bin:/bin"  # not in everybody's PATH
_RT_USER_FIX = f"echo '{os.environ.get('USER', '*')} - rtprio 99' | sudo tee /etc/security/limits.d/rtqual.conf"


@dataclass(frozen=True)
class Check:
    """One thing looked at. `demo`: without it the demo cannot run."""

    name: str
    state: State
    found: str
    matters: str
    fix: str = ""
    package: str = ""
    demo: bool = False


@dataclass(frozen=True)
class _Program:
    name: str
    package: str
    matters: str
    demo: bool = False


_PROGRAMS = (
    _Program("setpriv", "util-linux", "virtual board: ends the guest should rtqual be killed", demo=True),
    _Program("cpio", "cpio", "virtual board: packs the guest's files", demo=True),
    _Program("depmod", "kmod", "virtual board: indexes the guest's kernel modules", demo=True),
    _Program("mke2fs", "e2fsprogs", "virtual board: makes the guest's disks", demo=True),
    _Program("dpkg-deb", "dpkg", "unpacks Debian's kernels and tools", demo=True),
    _Program("cyclictest", "rt-tests", "measures this machine (a guest has its own)"),
    _Program("hackbench", "rt-tests", "measures and loads this machine (a guest has its own)"),
    _Program("sysbench", "sysbench", "measures this machine (a guest has its own)"),
    _Program("stress-ng", "stress-ng", "loads this machine (a guest has its own)"),
)
_PDF_PACKAGES = "libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"
_FONT_PACKAGE = "fonts-dejavu-core"


def diagnose() -> list[Check]:
    """Look at everything; takes a few seconds, as guests are really started."""
    here = _facts()
    return [
        _packages(),
        _qemu(),
        *(_program(program) for program in _PROGRAMS),
        *_own_programs(),
        _instruction_clock(),
        _kvm(),
        *_python_libraries(),
        _fonts(),
        *_resources(),
        _realtime(),
        _throttling(),
        *_this_machine(here),
    ]


def demo_can_run(checks: Sequence[Check]) -> bool:
    """Whether `make demo` gets to its verdict, which the virtual board gives."""
    return not any(check.state == "missing" and check.demo for check in checks)


def install_command(checks: Sequence[Check]) -> str:
    """One command for all missing Debian packages; empty if none is missing."""
    packages = [name for check in checks if check.state != "ok" for name in check.package.split()]
    return _as_root("apt-get install " + " ".join(dict.fromkeys(packages))) if packages else ""


def as_json(checks: Sequence[Check]) -> dict[str, Any]:
    return {
        "demo_can_run": demo_can_run(checks),
        "install": install_command(checks),
        "checks": [asdict(check) for check in checks],
    }


def render(checks: Sequence[Check]) -> RenderableType:
    """A table of what was found, and below it what mends it."""
    tones = {"ok": "green", "warning": "yellow", "missing": "red"}
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("", "what", "found", "needed for"):
        table.add_column(title, no_wrap=title in ("", "what"), overflow="fold")
    for check in checks:
        table.add_row(f"[{tones[check.state]}]{check.state}[/]", check.name, _plain(check.found), _plain(check.matters))
    fixes = [f"{check.name}: {check.fix}" for check in checks if check.fix and not check.package]
    lines = [f"Missing packages: {install}"] if (install := install_command(checks)) else []
    verdict = "The demo can run: `make demo`." if demo_can_run(checks) else "The demo cannot run yet."
    return Group(table, "", *map(_plain, [*lines, *fixes]), verdict)


def _plain(text: str) -> str:
    return text.replace("[", r"\[")


def _as_root(command: str) -> str:
    return command if os.geteuid() == 0 else f"sudo {command}"


def _install(packages: str) -> str:
    return _as_root(f"apt-get install {packages}")


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def _said(*command: str) -> str:
    """What a program prints; nothing when it is not there or fails."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_TRIAL_S, check=True
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def _packages() -> Check:
    name, matters = "apt", "Debian's kernels and the guest's tools are fetched through apt"
    if not shutil.which("apt-cache") or not shutil.which("apt-get"):
        return Check(name, "missing", "no apt: this is not Debian", matters, demo=True)
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "an unknown system")
    wanted = ("linux-image-amd64", "linux-image-rt-amd64")
    unknown = [package for package in wanted if not _said("apt-cache", "show", package)]
    if not unknown:
        return Check(name, "ok", f"{system}; its lists know {wanted[0]}", matters, demo=True)
    found = f"{system}; its lists know no {' and no '.join(unknown)}"
    return Check(name, "missing", found, matters, _as_root("apt-get update"), demo=True)


def _qemu() -> Check:
    name, matters, package = "QEMU", "virtual board", "qemu-system-x86"
    said = _said("qemu-system-x86_64", "--version").splitlines()
    if not said:
        return Check(name, "missing", "no qemu-system-x86_64", matters, _install(package), package, demo=True)
    version = said[0].removeprefix("QEMU emulator version ")
    if version.startswith(_QEMU_SERIES):
        return Check(name, "ok", version, matters, demo=True)
    return Check(name, "warning", f"{version}; published figures were made with {_QEMU_SERIES}x", matters, demo=True)


def _program(program: _Program) -> Check:
    found = shutil.which(program.name) or shutil.which(program.name, path=_SYSTEM_PATH)
    if found:
        return Check(program.name, "ok", found, program.matters, demo=program.demo)
    fix = _install(program.package)
    return Check(program.name, "missing", "not found", program.matters, fix, program.package, program.demo)


def _own_programs() -> Iterator[Check]:
    for name, matters in (
        ("rtqual-agent", "starts and watches the programs, here and in the guest"),
        ("rtqual-clock.so", "virtual board: keeps the instruction clock repeatable"),
    ):
        try:
            yield Check(name, "ok", str(guest_file(name)), matters, demo=True)
        except (RunFailed, OSError) as error:
            yield Check(name, "missing", str(error), matters, "make", demo=True)


def _instruction_clock() -> Check:
    """Two CPUs under the instruction clock with our plugin: needs a QEMU built with TCG plugins."""
    name, matters = "instruction clock", "virtual board: its time is counted in instructions"
    try:
        plugin = str(guest_file("rtqual-clock.so")).replace(",", ",,")
    except (RunFailed, OSError):
        return Check(name, "missing", "not tried: rtqual-clock.so is missing", matters, "make", demo=True)
    clock = ["-machine", "pc-i440fx-7.2", "-accel", "tcg", "-icount", "shift=1,sleep=off"]
    trial = try_guest([*clock, "-smp", "2", "-plugin", f"file={plugin}"], 4 * _TRIAL_S)
    if trial.failure:
        return Check(name, "missing", f"a guest with two CPUs {trial.failure}", matters, demo=True)
    return Check(name, "ok", f"a guest with two CPUs answers in {trial.took_s:.1f} s", matters, demo=True)


def _kvm() -> Check:
    """/dev/kvm may be there and not work: an abort, or a hang after the BIOS. Only a guest tells."""
    name = "KVM"
    matters = "nothing: rtqual's virtual board counts instructions under TCG and does not use it"
    if not Path("/dev/kvm").exists():
        return Check(name, "ok", "no /dev/kvm", matters)
    trial = try_guest(["-accel", "kvm"], _TRIAL_S)
    if trial.failure:
        return Check(name, "warning", f"/dev/kvm is there, but a guest {trial.failure}", matters)
    if trial.took_s > _SLOW_S:
        return Check(name, "warning", f"a guest answers after {trial.took_s:.1f} s: slower than emulation", matters)
    return Check(name, "ok", f"a guest answers in {trial.took_s:.1f} s", matters)


def _python_libraries() -> Iterator[Check]:
    missing = [name for name in ("scipy", "matplotlib", "jinja2", "weasyprint") if find_spec(name) is None]
    name, matters = "Python libraries", "analysis and report"
    fix = f"{sys.executable} -m pip install 'rtqual[analysis,report]'"
    if missing:
        yield Check(name, "missing", f"no {', no '.join(missing)}", matters, fix, demo=True)
    else:
        yield Check(name, "ok", "scipy, matplotlib, jinja2, weasyprint", matters, demo=True)
    if "weasyprint" not in missing:
        yield _pango()


def _pango() -> Check:
    name, matters = "Pango", "the PDF report"
    try:
        version = importlib.import_module("weasyprint").__version__
    except (ImportError, OSError) as error:
        what = f"WeasyPrint cannot be loaded: {str(error).splitlines()[0]}"
        return Check(name, "missing", what, matters, _install(_PDF_PACKAGES), _PDF_PACKAGES, demo=True)
    return Check(name, "ok", f"WeasyPrint {version} loads", matters, demo=True)


def _fonts() -> Check:
    name, matters = "DejaVu fonts", "the PDF report's letters"
    if _said("fc-list", "DejaVu Sans"):
        return Check(name, "ok", "DejaVu Sans", matters)
    return Check(name, "warning", "not found: other letters, or none", matters, _install(_FONT_PACKAGE), _FONT_PACKAGE)


def _resources() -> Iterator[Check]:
    cpus = len(processors())
    two = f"{cpus} CPUs" if cpus > 1 else "1 CPU: guests run one at a time, `rtqual select --jobs 1`"
    yield Check("CPUs", "ok" if cpus > 1 else "warning", two, "two guests at a time")
    yield _memory()
    for name, find, needed_b, matters in (
        ("disk, cache", cache_dir, _CACHE_B, "kernels, tools and guest images"),
        ("disk, here", Path.cwd, _CAMPAIGN_B, "records, reports and saved guests"),
    ):
        try:
            path = find()
            free_b = shutil.disk_usage(path).free
        except OSError as error:
            yield Check(name, "missing", f"cannot be used: {error}", matters, "set XDG_CACHE_HOME", demo=True)
            continue
        state: State = "ok" if free_b >= needed_b else "missing"
        found = f"{format_bytes(free_b)} free in {path}, {format_bytes(needed_b)} needed"
        yield Check(name, state, found, matters, demo=True)


def _memory() -> Check:
    """MemAvailable: what can be had without swapping (proc(5))."""
    lines = [line.split() for line in _read("/proc/meminfo").splitlines()]
    free_b = next((int(words[1]) * 1024 for words in lines if words[0] == "MemAvailable:"), 0)
    state: State = "ok" if free_b >= _MEMORY_B else "warning"
    return Check(
        "memory", state, f"{format_bytes(free_b)} free", f"two guests at a time take {format_bytes(_MEMORY_B)}"
    )


def _realtime() -> Check:
    """Really try SCHED_FIFO, in a child: whether it is allowed depends on limits, capabilities and control groups."""
    name, matters = "real-time priority", "cyclictest on this machine"
    code = "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(80))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    if not done.returncode:
        return Check(name, "ok", "SCHED_FIFO 80 is allowed", matters)
    reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    if os.geteuid() == 0:
        return Check(name, "warning", f"{reason}; a container? give it CAP_SYS_NICE", matters)
    return Check(name, "warning", reason, matters, f"{_RT_USER_FIX}, then log in again")


def _throttling() -> Check:
    """The share of a period that real-time programs may take (Documentation/scheduler/sched-rt-group)."""
    name, matters = "real-time throttling", "how long a real-time program may keep a CPU of this machine"
    runtime, period = (_read(f"/proc/sys/kernel/sched_rt_{which}_us") for which in ("runtime", "period"))
    if not runtime.lstrip("-").isdigit() or not period.isdigit():
        return Check(name, "ok", "this kernel has none", matters)
    if int(runtime) < 0:
        return Check(name, "ok", "off", matters)
    share = int(runtime) / int(period)
    state: State = "ok" if share >= 0.95 else "warning"
    fix = _as_root("sysctl kernel.sched_rt_runtime_us=950000") if state == "warning" else ""
    return Check(name, state, f"{int(runtime):,} us of every {int(period):,} us", matters, fix)


def _facts() -> Mapping[str, str]:
    try:
        return facts()
    except (RunFailed, OSError, subprocess.SubprocessError):
        return {}  # the agent is missing, which has a line of its own


def _this_machine(here: Mapping[str, str]) -> Iterator[Check]:
    """What decides this machine's own figures; nothing of it reaches the virtual board."""
    yield _clock(here.get("clocksource", "unknown"), int(here.get("clock_resolution_ns", 0)))
    yield Check("kernel", "ok", f"{platform.release()}: {_preemption(here)}", "this machine as a candidate")
    governor = here.get("governor")
    slow = governor not in (None, "performance")
    fix = "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor" if slow else ""
    yield Check("frequency governor", "warning" if slow else "ok", governor or "none", "latencies here", fix)
    hypervisor = here.get("hypervisor")
    found = f"{hypervisor}: latencies here include what it does" if hypervisor else "none"
    yield Check("hypervisor", "warning" if hypervisor else "ok", found, "latencies here")


def _clock(source: str, resolution_ns: int) -> Check:
    coarse = resolution_ns == 0 or resolution_ns > _COARSE_NS
    found = f"{source}, {format_ns(resolution_ns)}" if resolution_ns else f"{source}, resolution unknown"
    state: State = "warning" if coarse or source in _SLOW_CLOCKS else "ok"
    return Check("clock source", state, found, "latencies here: a coarse clock gives no verdict")


def _preemption(here: Mapping[str, str]) -> str:
    version = platform.version()
    if here.get("realtime") == "1" or "PREEMPT_RT" in version:
        return "PREEMPT_RT"
    if "PREEMPT_DYNAMIC" in version:
        modes = _read("/sys/kernel/debug/sched/preempt").split()  # as: none voluntary (full)
        mode = next((mode.strip("()") for mode in modes if mode.startswith("(")), "")
        return f"PREEMPT_DYNAMIC, {mode}" if mode else "PREEMPT_DYNAMIC"
    return "PREEMPT" if "PREEMPT" in version.split() else "no preemption inside the kernel"
