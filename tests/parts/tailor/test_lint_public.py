# SPDX-License-Identifier: MIT
"""Public threads whose cause is known, and kernels that distributions build for real time."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from rtqual.engine.kernel.lint.judge import Finding, Severity, State
from rtqual.engine.kernel.lint.system import from_config
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


@pytest.mark.parametrize("path", DISTRIBUTIONS, ids=lambda path: str(path.stem))
def test_a_distribution_s_kernel_for_real_time_has_no_error_and_each_warning_stands_in_it(path: Path) -> None:
    text = path.read_text()
    for finding in judged(from_config(text, path.stem)).values():
        if finding.state is State.FOUND and finding.rule.severity is not Severity.NOTE:
            assert finding.rule.severity is Severity.WARNING, finding.seen
            symbol = finding.seen.split()[0]
            assert f"{symbol}=y" in text or f"# {symbol} is not set" in text or symbol not in text, finding.seen
