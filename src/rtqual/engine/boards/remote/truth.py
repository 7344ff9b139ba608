# SPDX-License-Identifier: MIT
"""What decides how a board keeps time, read before and after a job: what cannot be read is "unknown", never fine."""

import re
from collections.abc import Collection, Mapping

from rtqual.base.words import clean, whole
from rtqual.engine.boards.guest import SIGNS
from rtqual.engine.boards.remote.tune import BEFORE

UNKNOWN = "unknown"
# Each a fact: its name, and what prints it. Throttling: the Raspberry Pi's firmware, which keeps what was since the
# start (its kernel's get_throttled does not: the driver beside it clears that every two seconds), else the processor's
# counters.
_FACTS = {
    "boot_id": "cat /proc/sys/kernel/random/boot_id",
    "clocksource": "cat /sys/devices/system/clocksource/clocksource0/current_clocksource",
    "governor": "cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
    "frequency_khz": "cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq",
    "throttled": "vcgencmd get_throttled || rtqual-firmware get_throttled || "
    "cat /sys/devices/system/cpu/cpu*/thermal_throttle/core_throttle_count",
    "temperature_millicelsius": "cat /sys/class/thermal/thermal_zone*/temp",
    "idle_states": "grep -h . /sys/devices/system/cpu/cpu0/cpuidle/state*/name",
    "idle_states_off": "grep -h . /sys/devices/system/cpu/cpu0/cpuidle/state*/disable",
    "isolated_cpus": "cat /sys/devices/system/cpu/isolated && echo .",
    "nohz_full_cpus": "cat /sys/devices/system/cpu/nohz_full",
    "rcu_nocbs_cpus": "cat /proc/[0-9]*/comm | sed -n 's|^rcuo[ps]/||p' | sort -n",
    "irqs_on": "cat /proc/irq/[0-9]*/effective_affinity_list | sort -n | uniq -c",
    "tuned": f"cut -f 1 {BEFORE} | sed 's|.*/||' | sort | uniq -c",
    "irq_affinity": "cat /proc/irq/default_smp_affinity",
    "interrupts": "awk '{ for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) sum += $i } END { print sum }' /proc/interrupts",
    "sched_rt_runtime_us": "cat /proc/sys/kernel/sched_rt_runtime_us",
    "time_status": "adjtimex | sed -n 's/.*status: *//p'",
    "time_frequency": "adjtimex | sed -n 's|.*freq[a-z.]*: *||p'",
    "uptime_s": "cut -d ' ' -f 1 /proc/uptime",
    "load_average": "cut -d ' ' -f 1-3 /proc/loadavg",
    "machine": "tr -d '\\000' < /proc/device-tree/model || cat /sys/class/dmi/id/product_name",
    "serial": "tr -d '\\000' < /proc/device-tree/serial-number || cat /sys/class/dmi/id/product_serial",
    **SIGNS,
    "firmware": "vcgencmd version || rtqual-firmware version || "
    "tr -d '\\000' < /proc/device-tree/chosen/bootloader/version || cat /sys/class/dmi/id/bios_version",
    # Without what the boot loader writes anew at each start or for each board of a model.
    "device_tree": "cd /proc/device-tree/ && find . -type f ! -path './chosen/*' ! -name serial-number ! -name "
    "'*mac-address' | sort | xargs sha256sum | sha256sum",
}
_SHOWN, _MOST_CPUS, _MOST_LINES = 6, 1024, 4096  # of a board's interrupts
_LONGEST = 400  # characters of a fact, whatever the board says
_UNSYNCHRONISED = 0x40  # STA_UNSYNC, adjtimex(2)
_THROTTLED_NOW = 0xF  # bits 0 to 3 of get_throttled are now, 16 to 19 since the start
_STEADY = {  # whoever changes one of these changes what is measured
    "governor": "the CPU's governor",
    "sched_rt_runtime_us": "the limit of real-time CPU time",
    "irq_affinity": "the CPUs that take interrupts",
    "idle_states_off": "which idle states are off",
}


def script(out: str = "") -> str:
    """Prints `name=value` lines there, or writes them into a file."""
    lines = [
        f"printf '%s=' {name}; v=$({{ {command}; }} 2> /dev/null | head -c {_LONGEST} | tr '\\n' ' '); "
        f'v=${{v% }}; echo "${{v:-{UNKNOWN}}}"'
        for name, command in _FACTS.items()
    ]
    return "{\n" + "\n".join(lines) + (f"\n}} > {out}\n" if out else "\n}\n")


def read(text: str) -> dict[str, str]:
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {name: value[:_LONGEST] for name, value in pairs if name in _FACTS}


def asks(name: str) -> bool:
    """Whether a fact is one of those that the script tells, of before the run or after it."""
    return name.removesuffix("_before") in _FACTS.keys() - {"boot_id", "clocksource"} or name == "hypervisor"


def problems(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Why figures that were taken between the two decide nothing."""
    return [
        *_changed("clocksource", "the clock source", before, after),
        *(name for fact, what in _STEADY.items() for name in _changed(fact, what, before, after)),
        *_throttling(before, after),
        *_time(before, after),
    ]


_ASKED = {  # parameter -> the fact that tells whether the kernel did it, and what the kernel says where it did not
    "isolcpus": ("isolated_cpus", ("", ".", UNKNOWN)),
    "nohz_full": ("nohz_full_cpus", ("", "(null)", UNKNOWN)),
    "rcu_nocbs": ("rcu_nocbs_cpus", ("", UNKNOWN)),
}


def isolation(cmdline: Collection[str], after: Mapping[str, str]) -> list[str]:
    """What the command line asks of a kernel that does not know how: then another thing was measured than stated."""
    asked = [(name, value) for name, _, value in (word.partition("=") for word in cmdline) if name in _ASKED and value]
    return [
        f"the kernel was asked for {name}={value} and does not do it"
        for name, value in asked
        if after.get(_ASKED[name][0], UNKNOWN).strip() in _ASKED[name][1]
    ]


def interrupts(before: str, after: str, facts: Mapping[str, str]) -> dict[str, str]:
    """Which came most in the run, and which came to CPUs that were to be left alone (/proc/interrupts, twice)."""
    was, now = _counts(before), _counts(after)
    came = {name: [b - a for a, b in zip(was.get(name, ()), row, strict=False)] for name, row in now.items()}
    most = sorted(((sum(row), name) for name, row in came.items() if sum(row) > 0), reverse=True)
    told = {"interrupts_in_run": ", ".join(f"{name} {n}" for n, name in most[:_SHOWN])} if most else {}
    apart = {n for n in _cpus(facts.get("isolated_cpus", "").removesuffix(".").strip()) if n < _MOST_CPUS}
    if apart:
        there = sorted(((sum(row[n] for n in apart if n < len(row)), name) for name, row in came.items()), reverse=True)
        told["interrupts_on_isolated"] = ", ".join(f"{name} {n}" for n, name in there[:_SHOWN] if n > 0) or "none"
    return told


def _counts(text: str) -> dict[str, list[int]]:
    """By the interrupt's number or name, with its device; one count a CPU."""
    header, *lines = text.splitlines() or [""]
    cpus = min(len(header.split()), _MOST_CPUS)
    rows = {}
    for line in lines[:_MOST_LINES]:
        number, _, rest = line.partition(":")
        words = rest.split()
        counts = [n for n in map(whole, words[:cpus]) if n is not None]
        device = words[-1] if number.strip().isdigit() and len(words) > cpus else ""
        rows[clean(f"{number.strip()} {device}".strip())[:60]] = counts
    return rows


def _cpus(text: str) -> set[int]:
    """Of a list as the kernel writes it: 2-3,5."""
    ends = [part.partition("-") for part in text.split(",")]
    known = [(whole(first), whole(last or first)) for first, _, last in ends]
    return {n for a, b in known if a is not None and b is not None for n in range(a, min(b + 1, a + _MOST_CPUS))}


def _changed(fact: str, what: str, before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    was, now = before.get(fact, UNKNOWN), after.get(fact, UNKNOWN)
    return [f"{what} changed in the run: {was}, then {now}"] if was != now else []


def _throttling(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    was, now = before.get("throttled", UNKNOWN), after.get("throttled", UNKNOWN)
    if "Raspberry Pi" in before.get("machine", "") and None in (_bits(was), _bits(now)):
        return ["whether the board was throttled is unknown: nothing tells its state"]
    if UNKNOWN in (was, now):
        return []
    if bits := _bits(now):
        new = bits & ~(_bits(was) or 0) | (bits | (_bits(was) or 0)) & _THROTTLED_NOW
        return [f"the board was throttled in the run: get_throttled was {was}, then {now}"] if new else []
    counted = [sum(int(n) for n in re.findall(r"\d{1,18}", name, re.ASCII)) for name in (was, now)]
    if _bits(now) is None and counted[1] > counted[0]:
        return [f"the processor was throttled {counted[1] - counted[0]} times in the run"]
    return []


def _bits(text: str) -> int | None:
    """Of `throttled=0x50000`; None of counters and complaints."""
    found = re.search(r"0x([0-9a-fA-F]+)", text)
    return int(found[1], 16) if found else None


def _time(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    was, now = (_synchronised(table.get("time_status", UNKNOWN)) for table in (before, after))
    return ["the board's clock lost its time source in the run"] if was and now is False else []


def _synchronised(status: str) -> bool | None:
    found = re.match(r"0x([0-9a-f]{1,8})|(\d{1,9})", status, re.ASCII)
    return not int(found[1] or found[2], 16 if found[1] else 10) & _UNSYNCHRONISED if found else None
