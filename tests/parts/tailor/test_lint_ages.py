# SPDX-License-Identifier: MIT
"""The lint knows the age and the processor of what it asks for and of what it advises, and reads lists of CPUs."""

import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtqual.base.errors import BadInput
from rtqual.engine.kernel.lint import cpus, known, lint_rules
from rtqual.engine.kernel.lint.judged_system import System, from_config
from rtqual.engine.kernel.lint.lint_rules import Finding, State, rules
from rtqual.parts.tailor.lint.fragment import check_complete
from support.lint_findings import BY_ID, judged

FIELD = Path(__file__).parents[2] / "data" / "field"
FOUND, HOLDS, UNKNOWN, NOT_HERE = State.FOUND, State.HOLDS, State.UNKNOWN, State.NOT_APPLICABLE


def field(name: str, boot: str | None, count: int | None = 4) -> dict[str, Finding]:
    text = (FIELD / f"lint-{name}.config").read_text()
    check_complete(text, name)
    return judged(from_config(text, name, parameters=boot, cpus=count))


@pytest.mark.parametrize(
    ("name", "boot", "rule", "state"),
    [
        ("kernel-3.12", None, "posix-timers", NOT_HERE),
        ("kernel-3.12", "isolcpus=1", "isolcpus-ignored", NOT_HERE),
        ("kernel-4.9", "isolcpus=3 irqaffinity=0-2", "isolcpus-ignored", NOT_HERE),
        ("kernel-4.9", "isolcpus=domain,3", "isolated-cpus", FOUND),  # flags came in 4.15
        ("governor-4.19", "cpufreq.default_governor=performance", "governor", FOUND),
        ("governor-4.19", "cpufreq.default_governor=performance", "parameters-ignored", FOUND),
        ("governor-4.19", "", "governor", FOUND),
        ("governor-4.19", "mitigations=off", "parameters-ignored", HOLDS),  # 4.19.71 has it
        ("governor-4.19", "isolcpus=managed_irq,domain,3", "isolated-cpus", FOUND),  # managed_irq came in 5.6
        ("efi-rt-5.15", "", "efi-runtime", HOLDS),
        ("efi-rt-5.15", "efi=runtime", "efi-runtime-at-boot", FOUND),
        ("idle-poll-on-arm", "idle=poll", "idle-states", UNKNOWN),
        ("idle-poll-on-arm", "idle=halt", "parameters-ignored", FOUND),
        ("idle-poll-on-arm", "cpuidle.off=1", "idle-states", HOLDS),
        ("idle-poll-on-arm", "nohlt", "idle-states", HOLDS),
        ("max-cstate", "intel_idle.max_cstate=0 processor.max_cstate=1", "idle-states", HOLDS),
        ("max-cstate", "intel_idle.max_cstate=0 processor.max_cstate=6", "idle-states", UNKNOWN),
        ("max-cstate", "intel_idle.max_cstate=1", "idle-states", HOLDS),
        ("max-cstate", "processor.max_cstate=1", "idle-states", UNKNOWN),  # not where intel_idle rules
        ("irqaffinity-overlaps", "isolcpus=managed_irq,domain,2-3 irqaffinity=0-3", "irq-affinity", FOUND),
        ("irqaffinity-overlaps", "isolcpus=3 irqaffinity=3", "irq-affinity", FOUND),
        ("irqaffinity-overlaps", "isolcpus=3 irqaffinity=0-2", "irq-affinity", HOLDS),
        ("irqaffinity-overlaps", "isolcpus=3", "irq-affinity", FOUND),
        ("isolcpus-without-domain", "isolcpus=managed_irq,2-3", "isolated-cpus", FOUND),
        ("isolcpus-without-domain", "isolcpus=nohz,2-3", "isolated-cpus", FOUND),
        ("isolcpus-without-domain", "isolcpus=2-3", "isolated-cpus", HOLDS),
        ("isolcpus-without-domain", "isolcpus=domain,managed_irq,2-3", "isolated-cpus", HOLDS),
        ("isolcpus-without-domain", "isolcpus=9", "cpu-lists", FOUND),
        ("isolcpus-without-domain", "isolcpus=0-3", "cpu-lists", FOUND),
        ("isolcpus-without-domain", "nohz_full=a-b", "cpu-lists", FOUND),
        ("isolcpus-without-domain", "isolcpus=1-N rcu_nocbs=all", "cpu-lists", HOLDS),
        ("isolcpus-without-domain", "isolcpus=3 rcu_nocbs=1", "rcu-nocbs-isolated", FOUND),
        ("isolcpus-without-domain", "isolcpus=3 rcu_nocbs=1-3", "rcu-nocbs-isolated", HOLDS),
        ("isolcpus-without-domain", "isolcpus=3 rcu_nocbs=2 nohz_full=3", "rcu-nocbs-isolated", HOLDS),
        ("isolcpus-without-domain", "isolcpus=3 nohz_full=1", "nohz-full-isolated", FOUND),
        ("dwc-otg-fiq", "", "usb-fast-interrupt", FOUND),
        ("dwc-otg-fiq", "dwc_otg.fiq_fsm_enable=1", "usb-fast-interrupt", FOUND),
        ("dwc-otg-fiq", "dwc_otg.fiq_enable=0 dwc_otg.fiq_fsm_enable=0", "usb-fast-interrupt", HOLDS),
        ("xenomai-4.19", None, "preempt-rt", NOT_HERE),
        ("xenomai-4.19", None, "frequency-scaling", NOT_HERE),
        ("xenomai-4.19", None, "governor", HOLDS),
        ("xenomai-4.19", None, "no-idle-states", NOT_HERE),
        ("xenomai-4.19", None, "dual-kernel-frequency", HOLDS),
        ("xenomai-4.19", None, "dual-kernel-idle", HOLDS),
    ],
)
def test_configurations_of_the_field(name: str, boot: str | None, rule: str, state: State) -> None:
    finding = field(name, boot)[rule]
    assert finding.state == state, finding.seen


def test_a_second_kernel_needs_what_its_makers_ask_for() -> None:
    text = (FIELD / "lint-xenomai-4.19.config").read_text()
    for core in ("XENOMAI", "EVL"):
        other = text.replace("CONFIG_XENOMAI=y", f"CONFIG_{core}=y").replace(
            "# CONFIG_CPU_FREQ is not set\n# CONFIG_CPU_IDLE is not set", "CONFIG_CPU_FREQ=y\nCONFIG_CPU_IDLE=y"
        )
        found = judged(from_config(other, core))
        assert (found["dual-kernel-frequency"].state, found["dual-kernel-idle"].state) == (FOUND, FOUND)
        assert found["preempt-rt"].state == NOT_HERE
        assert "CPU_FREQ=n" in found["dual-kernel-frequency"].fix.config


PI4 = {"/proc/interrupts": " 32:  0  0  PCIe-MSI 524288 Edge  xhci_hcd\n", "/sys/module/vc4/initstate": "live\n"}


@pytest.mark.parametrize("rule", ["usb-on-first-cpu", "pi-graphics"])
def test_a_raspberry_pi_s_usb_and_graphics_are_seen_at_work_or_not(rule: str) -> None:
    text = (
        "CONFIG_ARCH_BCM2835=y\nCONFIG_PCIE_BRCMSTB=y\nCONFIG_USB_XHCI_HCD=y\nCONFIG_DRM_VC4=m\nCONFIG_PREEMPT_RT=y\n"
    )
    config = from_config(text, "pi").config
    told = {"version": (6, 6), "architecture": "arm64", "cpus": 4}
    assert BY_ID[rule].judge(System("pi", config, None, **told)).state == FOUND
    assert BY_ID[rule].judge(System("pi", config, None, PI4, running=True, **told)).state == FOUND
    idle = dict.fromkeys(PI4, None) | {"/proc/interrupts": " 11: 5 arch_timer\n"}
    assert BY_ID[rule].judge(System("pi", config, None, idle, running=True, **told)).state == HOLDS


SYSTEMS = [
    System("made up", from_config(f"CONFIG_SMP=y\nCONFIG_{symbol}=y\n", "made up").config, {}, cpus=4,
           version=version, sublevel=0, architecture=architecture)
    for version, architecture, symbol in product(
        [(3, 2), (3, 12), (4, 4), (4, 9), (4, 14), (4, 19), (5, 4), (5, 10), (5, 15), (6, 1), (6, 6), (6, 12), (6, 18)],
        ["x86", "arm64", "arm"], ["PREEMPT_RT", "PREEMPT", "XENOMAI"],
    )
]  # fmt: skip


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda one: f"{one.version}-{one.architecture}-{one.kind}")
def test_advice_names_only_what_the_kernel_has(system: System) -> None:
    for rule in rules():
        fix = rule.fix_for(system)
        for text in fix.config:
            assert known.symbol(text.partition("=")[0]).lacking(system) == "", f"{rule.id}: {text}"
        boot = " ".join(fix.boot).replace("OTHER-CPUS", "0-2").replace("CPUS", "3")
        text = f"CONFIG_SMP=y\nCONFIG_{'PREEMPT_RT' if system.kind == 'rt' else 'PREEMPT'}=y\n"
        followed = from_config(text, "followed", parameters=boot, cpus=4)
        followed = System(
            **{**vars(followed), "version": system.version, "sublevel": 0, "architecture": system.architecture}
        )
        for name in ("parameters-ignored", "cpu-lists", *(["isolated-cpus"] if "isolcpus" in boot else [])):
            finding = BY_ID[name].judge(followed)
            assert finding.state == HOLDS, f"{rule.id} advises {boot}: {finding.seen}"


def test_no_rule_is_without_advice_everywhere() -> None:
    for rule in rules():
        fixes = [rule.fix_for(system) for system in SYSTEMS]
        assert any(fix.config or fix.boot or fix.remove or fix.run for fix in fixes), rule.id


def test_a_configuration_without_comments_is_whole_if_its_last_menu_is_there() -> None:
    lines = ["CONFIG_CC_IS_GCC=y", "CONFIG_X86=y", "CONFIG_SMP=y", "CONFIG_PREEMPT_RT=y", "CONFIG_HAS_IOMEM=y"]
    with pytest.raises(BadInput):
        check_complete("\n".join(lines), "cut")
    check_complete("\n".join([*lines, "CONFIG_FRAME_WARN=2048"]), "whole")


@pytest.mark.parametrize(
    ("text", "last", "expected"),
    [
        ("3", None, {3}), ("0-2,5", None, {0, 1, 2, 5}), ("0-7:1/4", None, {0, 4}), ("1-N", 3, {1, 2, 3}),
        ("all", 3, {0, 1, 2, 3}), ("all", None, None), ("", None, None), ("3-1", None, None), ("1,,2", None, None),
        ("x", None, None), ("1-99999", None, None), ("0-7:0/4", None, None),
    ],
)  # fmt: skip
def test_lists_of_cpus(text: str, last: int | None, expected: set[int] | None) -> None:
    assert cpus.parse(text, last) == expected
    if expected:
        assert cpus.parse(cpus.shown(expected)) == expected


@given(st.text(st.sampled_from("0123456789-,:/Nal "), max_size=24))
def test_any_list_of_cpus_is_read_or_none(text: str) -> None:
    found = cpus.parse(text, 3)
    assert found is None or (found and max(found) < 8192 and cpus.parse(cpus.shown(found)) == found)


def test_the_ages_are_of_what_the_rules_name() -> None:
    text = Path(known.__file__).with_name("lint.toml").read_text() + Path(lint_rules.__file__).read_text()
    table = Path(known.__file__).with_name("known.toml").read_text()
    for name in re.findall(r'^"?([\w.]+)"? = \{', table, re.MULTILINE):
        assert name in text, name
