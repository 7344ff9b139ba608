# SPDX-License-Identifier: MIT
"""Public threads whose cause is known, and kernels that distributions build for real time."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from rtqual.engine.kernel.lint.judged_system import from_config
from rtqual.engine.kernel.lint.lint_rules import Finding, Severity, State
from rtqual.parts.tailor.lint.fragment import check_complete
from support.lint_findings import judged

DATA = Path(__file__).parents[2] / "data"
THREADS: list[dict[str, Any]] = tomllib.loads((DATA / "public-threads.toml").read_text())["thread"]
DISTRIBUTIONS = sorted((DATA / "public-rt").glob("*.config"))
SOUND = """\
CONFIG_SMP=y
CONFIG_NR_CPUS=4
CONFIG_EXPERT=y
CONFIG_PREEMPT_RT=y
CONFIG_HIGH_RES_TIMERS=y
CONFIG_POSIX_TIMERS=y
CONFIG_FUTEX=y
CONFIG_FUTEX_PI=y
CONFIG_RT_MUTEXES=y
CONFIG_RCU_BOOST=y
CONFIG_CPU_ISOLATION=y
CONFIG_CPU_FREQ=y
CONFIG_CPU_FREQ_DEFAULT_GOV_PERFORMANCE=y
CONFIG_CPU_IDLE=y
CONFIG_IRQ_FORCED_THREADING=y
"""


def named(thread: dict[str, Any]) -> dict[str, Finding]:
    """What lint says of the kernel of a thread: a sound one but for what the thread tells of it."""
    told = thread.get("config", [])
    symbols = {line.removeprefix("# ").split("=")[0].split()[0] for line in told}
    architecture = thread["kernel"].split()[0]
    rest = [line for line in SOUND.splitlines() if line.split("=")[0] not in symbols]
    head = f"#\n# Automatically generated file; DO NOT EDIT.\n# Linux/{thread['kernel']} Kernel Configuration\n#\n"
    own = {"x86": "CONFIG_X86=y\nCONFIG_X86_64=y", "arm64": "CONFIG_ARM64=y", "arm": "CONFIG_ARM=y"}
    text = head + "\n".join([own.get(architecture, ""), *rest, *told, "# end of Kernel hacking", ""])
    return judged(from_config(text, thread["where"], parameters=thread.get("boot"), cpus=4))


@pytest.mark.parametrize("thread", THREADS, ids=lambda thread: str(thread["where"]))
def test_the_cause_that_a_thread_found_is_named_or_known_to_be_out_of_reach(thread: dict[str, Any]) -> None:
    findings = named(thread)
    state = findings[thread["rule"]].state if thread["rule"] in findings else State.UNKNOWN
    assert (state is State.FOUND) == thread.get("told", True), findings.get(thread["rule"])


def test_fifteen_of_twenty_are_named() -> None:
    assert len(THREADS) == 20
    assert sum(thread.get("told", True) for thread in THREADS) >= 15


def test_a_thread_without_its_setting_has_no_such_finding() -> None:
    for thread in THREADS:
        if thread.get("config") and thread.get("told", True) and thread["rule"] not in ("rt-throttling",):
            mended = named({**thread, "config": [], "boot": None})
            assert mended[thread["rule"]].state is not State.FOUND, thread["where"]


DEBIAN = {"governor", "watchdog"}
CLEAR = {"watchdog", "nmi-watchdog", "debug-preempt"}
# Of each its warnings, judged by hand: what they name is on, or off, in the configuration, and costs latency.
WARNINGS = {
    "clear-4.18-amd64": CLEAR,
    "clear-5.0-amd64": CLEAR,
    "clear-5.2-amd64": CLEAR | {"numa-balancing"},
    "clear-5.4.17-amd64": CLEAR | {"numa-balancing"},
    "clear-5.4.28-amd64": CLEAR | {"numa-balancing"},
    "clear-5.6.4-amd64": CLEAR | {"numa-balancing"},
    "clear-5.6.19-amd64": CLEAR | {"numa-balancing"},
    "clear-5.10.35-amd64": CLEAR | {"numa-balancing"},
    "clear-5.10.59-amd64": CLEAR | {"numa-balancing"},
    "clear-iot-4.19-amd64": CLEAR | {"rcu-boost"},
    "clear-pk-4.14-amd64": CLEAR | {"efi-runtime"},
    "debian-6.1-amd64": DEBIAN | {"nmi-watchdog"},
    "debian-6.1-arm64": DEBIAN,
    "debian-6.1-armhf": DEBIAN,
    "debian-6.12-amd64": DEBIAN | {"nmi-watchdog"},
    "debian-6.12-backports-amd64": DEBIAN | {"nmi-watchdog"},
    "linuxcnc-5.19-arm64": {"governor", "watchdog", "debug-preempt"},
    "openmandriva-3.2-amd64": {"rcu-boost", "efi-runtime"},
    "openmandriva-3.2-i386": {"rcu-boost", "efi-runtime"},
    "osadl-5.15-amd64": {"watchdog", "nmi-watchdog"},
}


@pytest.mark.parametrize("path", DISTRIBUTIONS, ids=lambda path: str(path.stem))
def test_a_distribution_s_kernel_for_real_time_has_no_false_finding(path: Path) -> None:
    text = path.read_text()
    check_complete(text, path.stem)
    found = [one for one in judged(from_config(text, path.stem)).values() if one.state is State.FOUND]
    assert not any(one.rule.severity is Severity.ERROR for one in found)
    assert {one.rule.id for one in found if one.rule.severity is Severity.WARNING} == WARNINGS[path.stem]
    for symbol in (one.seen.split()[0] for one in found if one.rule.severity is Severity.WARNING):
        assert f"{symbol}=y" in text or f"# {symbol} is not set" in text or symbol not in text


def test_there_are_twenty() -> None:
    assert len(DISTRIBUTIONS) == len(WARNINGS) == 20
