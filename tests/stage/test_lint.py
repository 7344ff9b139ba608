# SPDX-License-Identifier: MIT
"""The real-time lint: rules against configurations, command lines and systems that run."""

import gzip
import json
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtqual.base.apt import fetch_closure
from rtqual.base.architecture import AMD64
from rtqual.base.errors import BadInput
from rtqual.board.system import Kernel
from rtqual.board.virtual import VirtualBoard
from rtqual.candidate.built import as_candidate
from rtqual.initramfs.guest import TOOL_PACKAGES
from rtqual.kernel.configure.config import Config
from rtqual.kernel.configure.tree import debian_tree
from rtqual.kernel.lint.judge import Check, Finding, Rule, Severity, State, lint, readings, rules
from rtqual.kernel.lint.system import System, from_config, parse_parameters
from rtqual.kernel.make.build import build
from rtqual.mission import load_mission
from rtqual.stage.lint import _job, observe, of_kernel_in_guest, of_this_machine
from support.command import Run
from support.kernel_trees import tiny_config

DOCKING = str(Path(__file__).parents[2] / "missions/docking.toml")
BY_ID = {rule.id: rule for rule in rules()}
TEXT = """\
#
# Automatically generated file; DO NOT EDIT.
# Linux/x86 6.12.1 Kernel Configuration
#
CONFIG_X86=y
CONFIG_SMP=y
CONFIG_PREEMPT_RT=y
# CONFIG_HIGH_RES_TIMERS is not set
CONFIG_HZ=100
CONFIG_FUTEX_PI=y
CONFIG_LOCALVERSION=""
"""
# A tinyconfig of Linux 6.12 with PREEMPT_RT, and what the virtual board boots: no high-resolution timers, one CPU.


def judged(system: System) -> dict[str, Finding]:
    return {finding.rule.id: finding for finding in lint(system)}


def states(system: System) -> dict[str, State]:
    return {name: finding.state for name, finding in judged(system).items()}


# --- the rules ------------------------------------------------------------------------------------


def test_rules_are_whole() -> None:
    assert len(BY_ID) == len(rules()) >= 60
    for rule in rules():
        assert any((rule.fix.config, rule.fix.boot, rule.fix.remove, rule.fix.run)), rule.id
        assert rule.reason and re.search(r"Documentation/|Kconfig|kernel/", rule.source), rule.id


def test_effects_name_what_gives_them_again() -> None:
    missions = Path(DOCKING).parent.parent
    stated = [rule.effect for rule in rules() if rule.effect]
    assert stated
    for effect in stated:
        path, _, candidates = effect.source.partition(", ")
        known = {one.name for one in load_mission(missions / path).candidates}
        assert set(candidates.split(" and ")) <= known and re.match(r"[\d,]+ wake-ups in \d+ runs", effect.n)


def bad_value(check: Check) -> str:
    """A symbol's value that a check does not accept."""
    if check.at_least is not None:
        return str(check.at_least - 1)
    if check.at_most is not None:
        return str(check.at_most + 1)
    assert check.allowed
    return "y" if "n" in check.allowed else "n"


def violating(rule: Rule, subject: str) -> System:
    """A system that does not run, about which a rule complains as far as its configuration or parameters go."""
    symbols = {"SMP": "y", "X86": "y", "PREEMPT_RT": "y" if rule.kernel == "rt" else "n"}
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
def test_the_fix_in_the_configuration_mends(rule: Rule) -> None:
    system = violating(rule, "symbol")
    checked = [check for check in rule.check if check.symbol]
    expected = State.UNKNOWN if all(check.enough for check in checked) else State.FOUND
    assert rule.judge(system).state == expected
    assert system.config is not None
    mended = {**system.config.symbols, **dict(one.split("=", 1) for one in rule.fix.config)}
    config = Config({symbol: value for symbol, value in mended.items() if value != "n"})
    assert rule.judge(replace(system, config=config)).state == State.HOLDS


@pytest.mark.parametrize("rule", OF_PARAMETERS, ids=lambda r: r.id)
def test_the_fix_on_the_command_line_mends(rule: Rule) -> None:
    system = violating(rule, "parameter")
    assert rule.judge(system).state in (State.FOUND, State.UNKNOWN)
    assert system.parameters is not None
    kept = {name: value for name, value in system.parameters.items() if name not in rule.fix.remove}
    parameters = {**kept, **parse_parameters(" ".join(rule.fix.boot))}
    assert rule.judge(replace(system, parameters=parameters)).state == State.HOLDS


def test_nothing_known_is_never_a_pass() -> None:
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
    text = 'CONFIG_X86=y\nCONFIG_CMDLINE="highres=off quiet"\n'
    assert states(from_config(text, "one"))["high-res-switched-off"] == State.UNKNOWN
    assert states(from_config(text, "one", parameters="debug"))["high-res-switched-off"] == State.FOUND
    overriding = from_config(text + "CONFIG_CMDLINE_OVERRIDE=y\n", "one", parameters="highres=on")
    assert overriding.parameters == {"highres": "off", "quiet": ""}


# --- reading ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("quiet  skew_tick=1\n", {"quiet": "", "skew_tick": "1"}),
        ("rcu-nocbs=1 rcu_nocbs=2-3", {"rcu_nocbs": "2-3"}),
        ('dyndbg="file a +p" "b=c d" last', {"dyndbg": "file a +p", "b": "c d", "last": ""}),
        ("a=1 -- nohz_full=1", {"a": "1"}),
        ('open="to the end', {"open": "to the end"}),
        ("a=b=c", {"a": "b=c"}),
    ],
)  # fmt: skip
def test_command_lines(text: str, expected: dict[str, str]) -> None:
    assert parse_parameters(text) == expected


@settings(deadline=None)
@given(st.text())
def test_any_command_line_is_read(text: str) -> None:
    for name, value in parse_parameters(text).items():
        assert "-" not in name and not value.startswith('"')


_WORDS = st.text(st.characters(codec="ascii", exclude_categories=["C", "Z"], exclude_characters='"='), min_size=1)


@settings(deadline=None)
@given(st.dictionaries(_WORDS.filter(lambda word: not word.startswith("-")), _WORDS))
def test_command_lines_round_trip(parameters: dict[str, str]) -> None:
    kept = {name.replace("-", "_"): value for name, value in parameters.items()}
    text = " ".join(f'{name}="{value} x"' for name, value in kept.items())
    assert parse_parameters(text) == {name: f"{value} x" for name, value in kept.items()}


@pytest.fixture(scope="session")
def fuzz_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "config"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(content=st.one_of(st.binary(), st.text().map(str.encode)), packed=st.booleans())
def test_any_file(rtqual: Run, fuzz_file: Path, content: bytes, packed: bool) -> None:
    fuzz_file.write_bytes(gzip.compress(content) if packed else content)
    done = rtqual("lint", fuzz_file)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_mutated_configurations(data: st.DataObject) -> None:
    """Other characters in a line still give a judgement, or one line that says where it is wrong."""
    lines = (TEXT + 'CONFIG_CMDLINE="quiet highres=off"\nCONFIG_CMDLINE_OVERRIDE=y\n').splitlines()
    number = data.draw(st.integers(0, len(lines) - 1))
    place = data.draw(st.integers(0, len(lines[number])))
    lines[number] = lines[number][:place] + data.draw(st.text(max_size=3)) + lines[number][place + 1 :]
    try:
        assert len(lint(from_config("\n".join(lines), "fuzz"))) == len(BY_ID)
    except BadInput as error:
        assert re.match(r"fuzz, line \d+: .+|fuzz: no kernel configuration", str(error))


def test_a_number_that_is_none_is_not_known() -> None:
    assert states(from_config("CONFIG_X86=y\nCONFIG_HZ=2:00\n", "one"))["hz"] == State.UNKNOWN


def test_damaged_gzip(fails: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "config.gz"
    whole = gzip.compress(TEXT.encode())
    path.write_bytes(whole[:-9])
    assert "damaged gzip file" in fails(2, "lint", path)
    path.write_bytes(gzip.compress(b"\n" * 2**25))
    assert "more than 16 MiB" in fails(2, "lint", path)


# --- the command -------------------------------------------------------------------------------------------------


def test_levels_and_exit_codes(rtqual: Run, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(TEXT)
    done = rtqual("lint", path, env={"COLUMNS": "80"})
    assert done.returncode == 1
    told = done.stdout.splitlines()
    assert told[0] == f"Real-time lint: {path} (Linux 6.12, x86)"
    assert all(len(line) <= 80 for line in told[1:])
    assert "  high-res-timers: CONFIG_HIGH_RES_TIMERS is off" in told
    assert re.search(r"^    config CONFIG_HIGH_RES_TIMERS=y *$", done.stdout, re.MULTILINE)
    places = [done.stdout.index(word) for word in ("ERRORS", "WARNINGS", "NOTES", "NOT KNOWN")]
    assert places == sorted(places)
    path.write_text(TEXT.replace("# CONFIG_HIGH_RES_TIMERS is not set", "CONFIG_HIGH_RES_TIMERS=y"))
    assert rtqual("lint", path).returncode == 0
    packed = tmp_path / "config.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert rtqual("lint", packed).returncode == 0
    off = rtqual("lint", packed, "--boot", "highres=off", "--json")
    found = {one["id"] for one in json.loads(off.stdout)["findings"] if one["state"] == "found"}
    assert (off.returncode, "high-res-switched-off" in found) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "what is to be judged?"),
        (("no-such-file",), "no-such-file: cannot be read"),
        ((".",), "cannot be read"),
        ((DOCKING,), "line 6: not a line of a kernel configuration"),
        ((DOCKING, "--board", "virtual"), "give --candidate with one of: debian-rt, debian,"),
        ((DOCKING, "--board", "virtual", "--candidate", "this-machine"), "to boot"),
        ((DOCKING, "--candidate", "debian"), "add --board virtual"),
        (("--running", "--boot", "quiet"), "tells its boot parameters itself"),
        (("--running", "--board", "virtual"), "one system at a time"),
        (("x", "--running"), "neither a file nor --cpus"),
        (("x", "--cpus", "0"), "--cpus 0: write 1 to 256"),
        (("--board", "farm"), "farm"),
    ],
)  # fmt: skip
def test_bad_input(fails: Callable[..., str], arguments: tuple[str, ...], told: str) -> None:
    assert told in fails(2, "lint", *arguments)


# --- real systems ---------------------------------------------------------------------------------------------------


def test_this_machine(rtqual: Run) -> None:
    """What it says is what the files say."""
    system = of_this_machine()
    path = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    for name in (path, "/proc/swaps", "/proc/sys/kernel/sched_rt_runtime_us"):
        assert (system.readings[name] or "").split() == Path(name).read_text().split()
    assert system.parameters == parse_parameters(Path("/proc/cmdline").read_text())
    assert system.cpus == int(subprocess.run(["nproc", "--all"], capture_output=True, text=True, check=True).stdout)
    assert system.readings["clock_resolution_ns"]
    found = [finding for finding in lint(system) if finding.state == State.FOUND]
    errors = any(finding.rule.severity == Severity.ERROR for finding in found)
    done = rtqual("lint", "--running", "--json")
    assert done.returncode == int(errors)
    assert {one["id"] for one in json.loads(done.stdout)["findings"] if one["state"] == "found"} == {
        finding.rule.id for finding in found
    }


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may read less")
def test_what_may_not_be_read_is_neither_there_nor_absent(tmp_path: Path) -> None:
    """/proc/timer_list is root's (kernel/time/timer_list.c): anybody else learns nothing of it."""
    files = {"/proc/timer_list": "denied", "/proc/swaps": "read", "/proc/sys/no-such": "gone", "/nowhere/x": "lost"}
    tmp_path.chmod(0o777)
    script = _job(files).measure.argv
    subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", *script], cwd=tmp_path, check=True)
    assert (tmp_path / "read").read_text() == Path("/proc/swaps").read_text()
    assert (tmp_path / "absent").read_text() == "gone\n"
    assert not (tmp_path / "denied").exists() and not (tmp_path / "lost").exists()


def test_debian_rt_and_stock(kernel: Callable[..., Kernel]) -> None:
    rt, stock = (states(from_config(kernel(name).config, name)) for name in ("debian-rt", "debian"))
    assert rt["preempt-rt"] == rt["high-res-timers"] == State.HOLDS
    assert stock["preempt-rt"] == stock["huge-pages"] == stock["preempt-mode"] == State.FOUND
    for name in ("lock-debugging", "memory-checkers", "debug-preempt", "latency-tracers", "function-tracer"):
        assert rt[name] == stock[name] == State.HOLDS


def test_a_guest_says_what_its_clock_does(board: VirtualBoard) -> None:
    system = observe(board, "guest", board.kernel.config)
    found = states(system)
    assert (system.cpus, system.version, system.architecture, system.realtime) == (1, (6, 1), "x86", True)
    for name in ("preempt-rt", "clock-resolution", "high-res-active", "high-res-timers", "clocksource-tick"):
        assert found[name] == State.HOLDS, judged(system)[name]
    assert found["idle-states"] == found["mitigations"] == State.UNKNOWN
    assert found["rt-throttling"] == State.FOUND


@pytest.mark.full
def test_a_guest_without_high_resolution_timers(kernel: Callable[..., Kernel]) -> None:
    """Debian's RT kernel with highres=off: 10 s. Its configuration is good, its clock is not."""
    system = of_kernel_in_guest(kernel("debian-rt", "highres=off"))
    found = judged(system)
    assert found["high-res-timers"].state == State.HOLDS
    for name in ("clock-resolution", "high-res-active", "high-res-switched-off"):
        assert found[name].state == State.FOUND
    assert system.readings["clock_resolution_ns"] == "4000000"  # 250 Hz


@pytest.mark.manual
def test_a_tinyconfig_with_rt_has_no_high_resolution_timers(tmp_path: Path) -> None:
    """The trap of a first tailored kernel, seen in its configuration and in its guest. The build takes minutes."""
    tree = debian_tree()
    config = tiny_config(tree, tmp_path)
    told = judged(from_config(config, "tiny"))
    assert told["preempt-rt"].state == State.HOLDS
    assert told["high-res-timers"].state == State.FOUND

    kernel = as_candidate("tiny", build(tree, config), AMD64, boot=(), tools=fetch_closure(TOOL_PACKAGES))
    system = of_kernel_in_guest(kernel)
    found = judged(system)
    assert found["preempt-rt"].state == State.HOLDS
    for name in ("high-res-timers", "clock-resolution", "high-res-active"):
        assert found[name].state == State.FOUND
    assert int(system.readings["clock_resolution_ns"] or 0) >= 1_000_000


@pytest.mark.full
def test_what_the_rules_name_is_in_linux_6_12() -> None:
    """Every symbol, boot parameter and document; 10 s, and more where the tree is not unpacked yet."""
    tree = debian_tree().path
    listed = subprocess.run(
        ["grep", "-rhoE", "--include=Kconfig*", r"^\s*(menu)?config \w+", str(tree)],
        capture_output=True,
        text=True,
        check=True,
    )
    symbols = {line.split()[-1] for line in listed.stdout.splitlines()}
    parameters = (tree / "Documentation/admin-guide/kernel-parameters.txt").read_text()
    for rule in rules():
        checks = (*rule.check, *rule.when)
        named = {symbol for check in checks for symbol in check.symbol} | {one.split("=")[0] for one in rule.fix.config}
        assert named <= symbols, (rule.id, named - symbols)
        documents = [
            tree / path for path in re.findall(r"\b(?:Documentation|kernel|init|lib|mm)/[\w./-]*\w", rule.source)
        ]
        documented = parameters + "".join(path.read_text() for path in documents if path.is_file())
        for name in (check.parameter for check in checks if check.parameter and check.parameter != "slub_debug"):
            assert re.search(rf"(?:^\t|``){re.escape(name)}\b", documented, re.MULTILINE), (rule.id, name)
        assert all(path.exists() for path in documents), (rule.id, documents)
