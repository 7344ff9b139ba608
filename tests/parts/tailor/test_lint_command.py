# SPDX-License-Identifier: MIT
"""`rtqual lint`, on files and on systems that run."""

import gzip
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rtqual.base.apt import fetch_closure
from rtqual.base.architecture import AMD64
from rtqual.base.errors import BadInput
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.initramfs.contents import TOOL_PACKAGES
from rtqual.engine.kernel.lint.judged_system import from_config, parse_parameters
from rtqual.engine.kernel.lint.lint_rules import Severity, State, lint, rules
from rtqual.parts.tailor.configure.tree import debian_tree
from rtqual.parts.tailor.lint.stage import _job, observe, of_file, of_fragment, of_kernel_in_guest, of_this_machine
from rtqual.parts.tailor.lint.stage import lint as lint_command
from rtqual.parts.tailor.make.build import build
from rtqual.parts.tailor.tailored import as_candidate
from rtqual.protocols.board.system import Kernel
from support.command import Run
from support.kernel_trees import tiny_config, write_tree
from support.lint_findings import DOCKING, TEXT, judged, states

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
        (("--running", "--boot", "quiet"), "has its own boot parameters"),
        (("--running", "--board", "virtual"), "one system at a time"),
        (("x", "--running"), "neither a file nor --cpus"),
        (("x", "--cpus", "0"), "--cpus 0: write 1 to 256"),
        (("--tree", "."), "give its file, and no other system"),
        (("x", "--architecture", "arm64"), "for which processor --tree is read"),
        (("--board", "farm"), "farm"),
    ],
)  # fmt: skip
def test_bad_input(fails: Callable[..., str], arguments: tuple[str, ...], told: str) -> None:
    assert told in fails(2, "lint", *arguments)


def test_a_fragment_is_judged_as_the_tree_completes_it_or_not_at_all(
    rtqual: Run, fails: Callable[..., str], tmp_path: Path
) -> None:
    fragment = tmp_path / "fragment"
    fragment.write_text("CONFIG_WANTED=y\nCONFIG_NOT_THERE=y\nCONFIG_HIGH_RES_TIMERS=y\n# CONFIG_FUTEX_PI is not set\n")
    assert "a fragment of 3 symbols, not judged" in fails(2, "lint", fragment)
    timers = 'config HIGH_RES_TIMERS\n    bool "timers"\nconfig WANTED\n    bool "wanted"\n    select FUTEX_PI\n'
    tree = write_tree(tmp_path / "tree", timers + "config FUTEX_PI\n    bool\nconfig CC_IS_GCC\n    def_bool y\n")
    done = rtqual("lint", fragment, "--tree", tree.path, "--json")
    found = json.loads(done.stdout)
    assert found["remark"] == "Linux 6.12.5 does not take all of its symbols as they are: NOT_THERE and FUTEX_PI"
    seen = {one["id"]: one["state"] for one in found["findings"]}
    assert (seen["high-res-timers"], seen["futex-pi"], seen["preempt-rt"]) == ("holds", "holds", "found")
    assert "has no arch/arm/Kconfig" in fails(2, "lint", fragment, "--tree", tree.path, "--architecture", "armhf")
    place = tmp_path / "tree/arch/arm64/configs/mine_defconfig"
    place.parent.mkdir(parents=True)
    place.write_text(fragment.read_text())
    assert "has no arch/arm64/Kconfig" in fails(2, "lint", place, "--tree", tree.path)


def test_a_configuration_that_is_cut_off_is_not_judged(tmp_path: Path) -> None:
    """What judges locks that are checked stands at its end: a file without it would be better than the whole one."""
    config, head = (
        tmp_path / "config",
        "# Linux/x86 6.12.1 Kernel Configuration\nCONFIG_PREEMPT_RT=y\n# end of General setup\n",
    )
    config.write_text(f"{head}CONFIG_PROVE_LOCKING=y\n# end of Kernel hacking\n")
    assert states(of_file(config))["lock-debugging"] == State.FOUND
    old = head.replace("6.12.1", "4.19.1").replace("# end of General setup\n", "CONFIG_CC_IS_GCC=y\n")
    for cut in (
        head,
        re.sub("# .*\n", "CONFIG_CC_IS_GCC=y\n", head),
        old,
        head.replace("# end of General setup\n", ""),
    ):
        config.write_text(cut)
        with pytest.raises(BadInput, match="is cut off, not judged"):
            of_file(config)
    for whole in (f"{head}# end of Kernel hacking\n".replace("\n", "\r\n"), f"{old}CONFIG_HAS_IOMEM=y\n"):
        config.write_bytes(whole.encode())
        assert of_file(config).realtime


def test_a_pipe_is_no_configuration_and_a_processor_that_is_not_known_is_not_judged(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match=r"pipe: cannot be read \(is a pipe or a device"):
        of_file(tmp_path / "pipe")
    place = tmp_path / "arch/mips/configs/malta_defconfig"
    place.parent.mkdir(parents=True)
    place.write_text("CONFIG_MIPS_MALTA=y\n")
    with pytest.raises(
        BadInput, match="malta_defconfig: is for mips, which is not known here; add --architecture amd64"
    ):
        of_fragment(place, str(tmp_path), None)


def test_a_tree_that_is_none_is_told_at_once(tmp_path: Path) -> None:
    def told() -> str:
        with pytest.raises(BadInput) as error:
            of_fragment(fragment, str(tree), None)
        return str(error.value)

    fragment, tree = tmp_path / "fragment", tmp_path / "tree"
    fragment.write_text("CONFIG_WANTED=y\n")
    (tree / "arch/x86").mkdir(parents=True)
    (tree / "arch/x86/Kconfig").write_text("config WANTED\n")
    os.mkfifo(tree / "Makefile")
    assert "it has no Makefile" in told()
    (tree / "Makefile").unlink()
    (tree / "Makefile").symlink_to("/dev/zero")
    assert "it has no Makefile" in told()
    (tree / "Makefile").unlink()
    odd = "olddefconfig:\n\tprintf '\\377CONFIG_WANTED=y\\n' > $(O)/.config\n"
    (tree / "Makefile").write_text(f"VERSION = 6\nPATCHLEVEL = 12\n{odd}")
    assert "line 1: not a line of a kernel configuration" in told()


# --- real systems ---------------------------------------------------------------------------------------------------


def test_this_machine_is_judged(rtqual: Run) -> None:
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
def test_what_may_not_be_read_is_neither_present_nor_absent(tmp_path: Path) -> None:
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
    version = tuple(map(int, board.kernel.release.split(".")[:2]))
    assert (system.cpus, system.version, system.architecture, system.realtime) == (1, version, "x86", True)
    for name in ("preempt-rt", "clock-resolution", "high-res-active", "high-res-timers", "clocksource-tick"):
        assert found[name] == State.HOLDS, judged(system)[name]
    assert found["idle-states"] == found["mitigations"] == State.UNKNOWN
    assert found["rt-throttling"] == (State.FOUND if version < (6, 12) else State.NOT_APPLICABLE)


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


@pytest.mark.full  # 5 s
def test_a_boards_defconfig_is_completed_for_its_processor() -> None:
    """Of bcm2835_defconfig alone the rules would say that it has no priority inheritance."""
    tree = debian_tree().path
    path = tree / "arch/arm/configs/bcm2835_defconfig"
    linted = lint_command(path, board=None, candidate=None, boot=None, cpus=None, tree=str(tree))
    found = {one.rule.id: one.state for one in linted.findings}
    assert (linted.system.version, linted.system.architecture) == ((6, 12), "arm")
    assert (found["futex-pi"], found["high-res-timers"], found["preempt-rt"]) == (
        State.HOLDS,
        State.HOLDS,
        State.FOUND,
    )


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
