# SPDX-License-Identifier: MIT
"""The real-time lint's rules against configurations, command lines and systems made up for them."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtqual.engine.kernel.config import Config
from rtqual.engine.kernel.lint.judged_system import System, from_config, parse_parameters
from rtqual.engine.kernel.lint.lint_rules import LintCheck, LintRule, State, lint, readings, rules
from rtqual.engine.mission import load_mission
from support.lint_findings import BY_ID, DOCKING, judged, states

# --- the rules ------------------------------------------------------------------------------------


def test_rules_are_whole() -> None:
    assert len(BY_ID) == len(rules()) >= 60
    for rule in rules():
        assert any((rule.fix.config, rule.fix.boot, rule.fix.remove, rule.fix.run)), rule.id
        assert rule.reason and re.search(r"Documentation/|Kconfig|kernel/", rule.source), rule.id


def test_effects_name_the_mission_that_measures_them_again() -> None:
    missions = Path(DOCKING).parents[2]
    stated = [rule.effect for rule in rules() if rule.effect]
    assert stated
    for effect in stated:
        path, _, candidates = effect.source.partition(", ")
        known = {one.name for one in load_mission(missions / path).candidates}
        assert set(candidates.split(" and ")) <= known and re.match(r"[\d,]+ wake-ups in \d+ runs", effect.n)


def bad_value(check: LintCheck) -> str:
    """A symbol's value that a check does not accept."""
    if check.at_least is not None:
        return str(check.at_least - 1)
    if check.at_most is not None:
        return str(check.at_most + 1)
    assert check.allowed
    return "y" if "n" in check.allowed else "n"


def violating(rule: LintRule, subject: str) -> System:
    """A system that does not run, about which a rule complains as far as its configuration or parameters go."""
    symbols = {"SMP": "y", "X86": "y", "PREEMPT_RT": "y" if "rt" in rule.kernel else "n"}
    if rule.kernel == ("dual",):
        symbols["EVL"] = "y"
    parameters: dict[str, str] = {}
    for condition in rule.when:
        symbols |= dict.fromkeys(condition.symbol, "y")
        if condition.parameter:
            parameters[condition.parameter] = "1"
    for check in rule.check:
        if check.symbol:
            symbols |= dict.fromkeys(check.symbol, bad_value(check))
        elif check.parameter and subject == "parameter" and check.forbidden:
            parameters[check.parameter] = check.forbidden[0]
        elif check.parameter and subject == "parameter" and check.absent == "holds":
            parameters[check.parameter] = "1"
        elif check.relation in ("covers", "meets"):
            parameters[check.parameter] = "2"
    config = Config({name: value for name, value in symbols.items() if value != "n"})
    known = parameters if subject == "parameter" or rule.when else None
    return System("made up", config, known, cpus=4, version=(6, 12), architecture="x86")


OF_SYMBOLS = [rule for rule in rules() if rule.fix.config and any(check.symbol for check in rule.check)]
OF_PARAMETERS = [
    rule
    for rule in rules()
    if any(check.parameter for check in rule.check) and (rule.fix.boot or rule.fix.remove) and rule.id != "idle-states"
]


@pytest.mark.parametrize(
    "rule", [one for one in OF_SYMBOLS if one.id not in ("ksm", "clock-resolution")], ids=lambda r: r.id
)
def test_the_fix_in_the_configuration_mends(rule: LintRule) -> None:
    system = violating(rule, "symbol")
    checked = [check for check in rule.check if check.symbol]
    expected = State.UNKNOWN if all(check.enough for check in checked) else State.FOUND
    assert rule.judge(system).state == expected
    assert system.config is not None
    mended = {**system.config.symbols, **dict(one.split("=", 1) for one in rule.fix_for(system).config)}
    config = Config({symbol: value for symbol, value in mended.items() if value != "n"})
    assert rule.judge(replace(system, config=config)).state == State.HOLDS


@pytest.mark.parametrize("rule", OF_PARAMETERS, ids=lambda r: r.id)
def test_the_fix_on_the_command_line_mends(rule: LintRule) -> None:
    system = violating(rule, "parameter")
    assert rule.judge(system).state in (State.FOUND, State.UNKNOWN)
    assert system.parameters is not None
    fix = rule.fix_for(system)
    kept = {name: value for name, value in system.parameters.items() if name not in fix.remove}
    boot = " ".join(fix.boot).replace("OTHER-CPUS", "0,2-3").replace("CPUS", "1")
    parameters = {**kept, **parse_parameters(boot)}
    assert rule.judge(replace(system, parameters=parameters)).state == State.HOLDS


def test_an_unknown_reading_is_never_a_pass() -> None:
    assert set(states(System("nothing"))) == set(BY_ID)
    assert State.HOLDS not in states(System("nothing")).values()
    running = System("mute", running=True, cpus=2, version=(6, 1), architecture="x86")
    assert set(states(running).values()) == {State.UNKNOWN, State.NOT_APPLICABLE}


def test_an_emulated_processor_says_nothing_of_the_real_one() -> None:
    said = dict.fromkeys(readings(), "0")
    real, emulated = (System("guest", readings=said, running=True, cpus=4, emulated=one) for one in (False, True))
    assert states(real)["smt"] == State.HOLDS
    assert states(emulated)["smt"] == State.UNKNOWN


@settings(deadline=None)
@given(st.sets(st.sampled_from(readings())), st.text(max_size=40), st.booleans())
def test_any_reading_is_judged(known: set[str], text: str, gone: bool) -> None:
    said: Mapping[str, str | None] = dict.fromkeys(known, None if gone else text)
    system = System("fuzz", readings=said, running=True, cpus=2, version=(6, 12), architecture="x86")
    assert len(lint(system)) == len(BY_ID)


# --- one case each of what a rule depends on --------------------------------------------------------------------


def test_the_running_system_knows_better_than_the_configuration() -> None:
    path = "/sys/kernel/mm/transparent_hugepage/enabled"
    system = from_config("CONFIG_TRANSPARENT_HUGEPAGE_ALWAYS=y\n", "one")
    assert judged(system)["huge-pages"].seen == "CONFIG_TRANSPARENT_HUGEPAGE_ALWAYS is y"
    for text, state in (("always madvise [never]", State.HOLDS), ("[always] madvise never", State.FOUND)):
        running = replace(system, running=True, readings={path: text})
        assert states(running)["huge-pages"] == state
    assert states(replace(system, parameters={"transparent_hugepage": "never"}))["huge-pages"] == State.HOLDS


def test_every_processor_has_to_be_good() -> None:
    path = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
    system = System("two", readings={path: "performance\nschedutil\n"}, running=True)
    assert judged(system)["governor"].state == State.FOUND
    assert states(replace(system, readings={path: "performance\nperformance\n"}))["governor"] == State.HOLDS


def test_some_rules_need_several_cpus() -> None:
    system = from_config("CONFIG_SMP=y\nCONFIG_X86=y\n", "one")
    assert states(system)["rcu-nocb"] == State.FOUND  # nobody said that there is only one
    assert states(replace(system, cpus=1))["rcu-nocb"] == State.NOT_APPLICABLE
    assert states(from_config("CONFIG_X86=y\n", "no SMP"))["rcu-nocb"] == State.NOT_APPLICABLE


def test_versions() -> None:
    system = System("one", running=True, readings={"/proc/sys/kernel/sched_rt_runtime_us": "950000"})
    assert states(system)["rt-throttling"] == State.UNKNOWN
    assert states(replace(system, version=(6, 1)))["rt-throttling"] == State.FOUND
    assert states(replace(system, version=(6, 12)))["rt-throttling"] == State.NOT_APPLICABLE


def test_a_parameter_that_the_kernel_ignores_is_told() -> None:
    system = from_config("CONFIG_SMP=y\n", "one", parameters="nohz_full=1-3 isolcpus=1-3")
    found = states(system)
    assert found["nohz-full-ignored"] == found["isolcpus-ignored"] == found["irq-affinity"] == State.FOUND


def test_parameters_built_into_the_kernel() -> None:
    text = 'CONFIG_X86=y\nCONFIG_CMDLINE_BOOL=y\nCONFIG_CMDLINE="highres=off quiet"\n'
    assert states(from_config(text, "one"))["high-res-switched-off"] == State.UNKNOWN
    assert states(from_config(text, "one", parameters="debug"))["high-res-switched-off"] == State.FOUND
    overriding = from_config(text + "CONFIG_CMDLINE_OVERRIDE=y\n", "one", parameters="highres=on")
    assert overriding.parameters == {"highres": "off", "quiet": ""}


def test_a_device_trees_kernel_takes_its_own_parameters_if_none_are_passed_or_after_them() -> None:
    text = 'CONFIG_ARM64=y\nCONFIG_CMDLINE="highres=off nowatchdog"\n'
    assert from_config(text, "one", parameters="quiet").parameters == {"quiet": ""}
    assert from_config(text, "one", parameters="").parameters == {"highres": "off", "nowatchdog": ""}
    extended = from_config(text + "CONFIG_CMDLINE_EXTEND=y\n", "one", parameters="quiet highres=on")
    assert extended.parameters == {"quiet": "", "highres": "off", "nowatchdog": ""}


@pytest.mark.parametrize("off", ["off", "OFF", "Off", "oF", "0", "n", "No", "false", "F"])
def test_a_switch_is_read_as_the_kernel_reads_it(off: str) -> None:
    def state(rule: str, parameters: str) -> State:
        return states(from_config("CONFIG_X86=y\nCONFIG_EFI=y\n", "one", parameters=parameters))[rule]

    assert state("high-res-switched-off", f"highres={off}") == State.FOUND
    for other in ("on", "ON", "1", "yes", "maybe", ""):
        assert state("high-res-switched-off", f"highres={other}") == State.HOLDS
    assert state("page-debugging-at-boot", "debug_pagealloc=1") == State.FOUND
    assert state("page-debugging-at-boot", f"debug_pagealloc={off}") == State.HOLDS
    assert state("efi-runtime-at-boot", "efi=debug,runtime") == State.FOUND
    assert state("efi-runtime", "efi=debug,noruntime") == State.HOLDS


def test_real_time_patches_of_old_kernels_are_known_by_their_name() -> None:
    old = states(from_config("# Linux/x86 4.9.0 Kernel Configuration\nCONFIG_PREEMPT_RT_FULL=y\n", "one"))
    assert (old["preempt-rt"], old["futex-pi"]) == (State.HOLDS, State.NOT_APPLICABLE)


def test_a_line_ends_where_the_kernel_ends_it() -> None:
    hidden = "# CONFIG_PREEMPT_RT is not set\nCONFIG_X86=y\n# note{}CONFIG_PREEMPT_RT=y\n"
    for sign in ("\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\r"):
        assert not from_config(hidden.format(sign), "one").realtime
    assert from_config('CONFIG_X86=y\r\nCONFIG_LOCALVERSION="a\u2028b"\r\nCONFIG_PREEMPT_RT=y\r\n', "one").realtime
