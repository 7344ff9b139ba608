# SPDX-License-Identifier: MIT
"""`rtqual doctor`: what is here is found, what is not here is told with what mends it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from rtqual.base.architecture import ARM64
from rtqual.base.errors import RunFailed
from rtqual.engine.boards.trial import try_guest
from rtqual.face.commands import doctor as cli
from rtqual.stages import doctor
from rtqual.stages.doctor import DoctorCheck, this_machine, tools

PROGRAMS = ("setpriv", "cpio", "depmod", "mke2fs", "dpkg-deb", "cyclictest", "hackbench", "sysbench", "stress-ng")
ANSWERS, ABORTS, HANGS = "exit 67", "echo 'no VM' >&2; kill -ABRT $$", "exec /bin/sleep 60"
Fake = Callable[[str, str], None]


def by_name(checks: list[DoctorCheck]) -> dict[str, DoctorCheck]:
    named = {check.name: check for check in checks}
    assert len(named) == len(checks)
    return named


def packages(name: str) -> list[str]:
    """Those of a list in the Makefile."""
    makefile = (Path(__file__).parents[2] / "Makefile").read_text().replace("\\\n", " ")
    (line,) = re.findall(rf"^{name} := (.*)$", makefile, re.MULTILINE)
    return [word.strip('"') for word in line.split()]


@pytest.fixture
def nothing_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without a single program."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(tools, "_SYSTEM_PATH", str(folder))
    return folder


@pytest.fixture
def fake(nothing_here: Path) -> Fake:
    """Puts a program there."""

    def put(program: str, script: str) -> None:
        (nothing_here / program).write_text(f"#!/bin/sh\n{script}\n")
        (nothing_here / program).chmod(0o755)

    return put


@pytest.mark.guest
def test_this_machine_can_run_the_demo() -> None:
    checks = doctor.diagnose()
    named = by_name(checks)
    assert doctor.demo_can_run(checks), [c for c in checks if c.state == "missing"]
    assert set(doctor.install_command(checks).split()[2:]) <= set(packages("GROUND_PACKAGES"))  # make ground-packages
    assert {check.state for check in checks if check.name.startswith("our programs for")} == {"ok"}
    assert named["QEMU"].state == ("ok" if named["QEMU"].found.startswith("7.2.") else "warning")
    for name in (*PROGRAMS, "rtqual-agent", "rtqual-clock.so", "instruction clock", "Pango"):
        assert named[name].state == "ok", named[name]
    assert re.match(r"\d+\.\d+\.\d+", named["QEMU"].found)
    assert named["CPUs"].found.startswith(str(len(os.sched_getaffinity(0))))
    assert named["kernel"].found.startswith(os.uname().release)
    assert all(c.found and c.matters for c in checks)

    console = Console(width=100)
    with console.capture() as shown:
        console.print(doctor.render(checks))
    text = shown.get()
    assert "The demo can run" in text
    assert all(check.name in text for check in checks)


@pytest.mark.guest
def test_everything_missing_is_named_with_one_command(
    nothing_here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli.doctor(as_json=True) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["demo_can_run"] is False
    named = {check["name"]: check for check in told["checks"]}
    for name in (*PROGRAMS, "QEMU"):
        assert named[name]["state"] == "missing"
        assert named[name]["fix"].endswith(f"apt-get install {named[name]['package']}")
        assert named[name]["package"] in told["install"].split()
    assert len(set(told["install"].split())) == len(told["install"].split())
    assert named["apt"]["state"] == named["instruction clock"]["state"] == "missing"
    assert "qemu-system-x86_64 is missing" in named["instruction clock"]["found"]

    assert cli.doctor() == 1
    assert "The demo cannot run" in capsys.readouterr().out
    checks = doctor.diagnose()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert doctor.install_command(checks).startswith("sudo apt-get install ")


def test_what_only_this_machine_needs_does_not_stop_the_demo() -> None:
    lacking = [
        DoctorCheck("cyclictest", "missing", "not found", "this machine", "apt-get install rt-tests", "rt-tests")
    ]
    assert doctor.demo_can_run(lacking)
    assert doctor.install_command(lacking).endswith("apt-get install rt-tests")
    assert not doctor.demo_can_run([*lacking, DoctorCheck("QEMU", "missing", "none", "virtual board", demo=True)])


def test_commands_can_be_pasted_from_a_narrow_terminal() -> None:
    packages = [f"a-package-{number}" for number in range(12)]
    checks = [DoctorCheck(name, "missing", "not found", "all", "apt-get install it", name) for name in packages]
    console = Console(width=80)
    with console.capture() as shown:
        console.print(doctor.render(checks))
    command = shown.get().split("Debian packages\n")[1].split("\n\n")[0]
    harmless = command.replace("sudo ", "").replace("apt-get", "echo")
    listed = subprocess.run(["sh", "-c", harmless], capture_output=True, text=True, check=True)
    assert listed.stdout.split() == ["install", *packages]


def test_apt_without_package_lists(fake: Fake) -> None:
    fake("apt-get", "exit 0")
    fake("apt-cache", "echo 'E: No packages found' >&2; exit 100")
    check = tools._apt()
    assert (check.state, check.demo) == ("missing", True)
    assert "linux-image-amd64" in check.found
    assert check.fix.endswith("apt-get update")


@pytest.mark.parametrize(
    ("script", "state", "found"),
    [
        ("echo 'QEMU emulator version 7.2.22 (Debian 1:7.2)'", "ok", "7.2.22"),
        ("echo 'QEMU emulator version 10.0.2'", "warning", "other figures"),
        ("exit 127", "missing", "no qemu-system-x86_64 that runs"),
    ],
)
def test_qemu_version(fake: Fake, script: str, state: str, found: str) -> None:
    fake("qemu-system-x86_64", script)
    check = tools._qemu()
    assert check.state == state
    assert found in check.found


@pytest.mark.guest
@pytest.mark.parametrize(
    ("script", "told"),
    [
        (ANSWERS, "ok: a guest with two CPUs answers in"),
        (ABORTS, "missing: a guest with two CPUs ended by signal 6: no VM"),
        ("exit 1", "missing: a guest with two CPUs ended with 1: QEMU said nothing"),
        (HANGS, "missing: a guest with two CPUs does not run: qemu-system-x86_64 did not end within 2 s"),
    ],
)
def test_the_instruction_clock_is_judged_by_a_guest(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, script: str, told: str
) -> None:
    fake("qemu-system-x86_64", script)
    monkeypatch.setattr(tools, "_TCG_TIMEOUT_S", 2.0)
    check = tools._instruction_clock()
    assert told in f"{check.state}: {check.found}"
    assert check.demo


def test_a_qemu_without_plugins_is_told(fake: Fake) -> None:
    fake("qemu-system-x86_64", "echo 'qemu-system-x86_64: -plugin: invalid option' >&2; exit 1")
    check = tools._instruction_clock()
    assert (check.state, check.demo) == ("missing", True)
    assert check.found.endswith("ended with 1: -plugin: invalid option")


@pytest.mark.guest
def test_the_real_guest_answers_and_its_absence_is_noticed() -> None:
    assert try_guest(["-accel", "tcg"], 20).failure == ""
    assert "did not end within 0.5 s" in try_guest(["-accel", "tcg", "-S"], 0.5).failure  # its CPU never starts


def test_real_time_priority_is_really_tried() -> None:
    command = ["prlimit", "--rtprio=0", sys.executable, "-c"]
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set=-sys_nice", *command]
    code = (
        "from rtqual.stages.doctor.this_machine import _realtime; check = _realtime(); print(check.state, check.found)"
    )
    denied = subprocess.run([*command, code], capture_output=True, text=True, check=True).stdout
    assert denied.startswith("warning SCHED_FIFO: Operation not permitted")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user without a name")
def test_a_user_without_a_name_is_told_what_a_container_needs() -> None:
    only = "-all,+dac_read_search"  # Python may lie in root's home
    command = ["setpriv", "--reuid=4321", "--clear-groups", f"--inh-caps={only}", f"--ambient-caps={only}"]
    command += ["prlimit", "--rtprio=0", sys.executable, "-c"]
    nameless = {name: text for name, text in os.environ.items() if name not in ("LOGNAME", "USER", "LNAME", "USERNAME")}
    code = "from rtqual.stages.doctor.this_machine import _realtime; print(_realtime().found)"
    done = subprocess.run([*command, code], env=nameless, capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout) == (
        "", "SCHED_FIFO: Operation not permitted; a container needs CAP_SYS_NICE and CAP_IPC_LOCK\n"
    )  # fmt: skip


def test_what_a_user_does_to_get_real_time_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(this_machine, "_TRY_REALTIME", "import sys; sys.exit('mlockall: Cannot allocate memory')")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("LOGNAME", "flyer")
    check = this_machine._realtime()
    assert (check.state, check.found) == ("warning", "mlockall: Cannot allocate memory")
    printed = subprocess.run(["sh", "-c", check.fix.split(" | ")[0]], capture_output=True, text=True, check=True)
    assert printed.stdout == "flyer - rtprio 99\nflyer - memlock unlimited\n"


@pytest.mark.parametrize(
    ("runtime", "state", "found"),
    [("-1", "ok", "off"), ("", "ok", "off"), ("950000", "ok", "950,000 us"), ("400000", "warning", "400,000 us")],
)
def test_throttling(monkeypatch: pytest.MonkeyPatch, runtime: str, state: str, found: str) -> None:
    monkeypatch.setattr(this_machine, "contents", lambda path: runtime if "runtime" in path else "1000000")
    check = this_machine._throttling()
    assert check.state == state
    assert found in check.found
    assert check.fix.endswith("sysctl kernel.sched_rt_runtime_us=950000") == (state == "warning")


@pytest.mark.parametrize(
    ("source", "resolution_ns", "state"),
    [("tsc", 1, "ok"), ("jiffies", 1, "warning"), ("tsc", 4_000_000, "warning"), ("unknown", 0, "warning")],
)
def test_clock(source: str, resolution_ns: int, state: str) -> None:
    assert this_machine._clock(source, resolution_ns).state == state


def test_governor_and_hypervisor() -> None:
    assert this_machine._governor(None).state == this_machine._governor("performance").state == "ok"
    assert "scaling_governor" in this_machine._governor("powersave").fix
    assert this_machine._hypervisor(None).state == "ok"
    assert this_machine._hypervisor("kvm").state == "warning"


def test_full_and_unusable_disks_stop_the_demo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert this_machine._disk("disk", tmp_path, 2**80, "records", "elsewhere").state == "missing"
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    check = this_machine._cache_disk()
    assert (check.state, check.demo) == ("missing", True)
    assert "XDG_CACHE_HOME" in check.fix


def test_pango_missing_names_its_packages(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(name: str) -> None:
        print("-----\nWeasyPrint could not import some external libraries.")  # as it does
        raise OSError(f"cannot load library 'libpango-1.0-0' for {name}\nand more")

    monkeypatch.setattr("importlib.import_module", broken)
    check = tools._pango()
    assert check.state == "missing"
    assert check.found.endswith("for weasyprint")
    assert "libpango-1.0-0" in check.fix.split()
    assert capsys.readouterr().out == ""


def test_make_installs_what_the_doctor_asks_for() -> None:
    asked = {tools._QEMU_PACKAGE, *(program.package for program in tools.programs())}
    asked |= {
        *tools._PANGO_PACKAGES.split(),
        tools._FONT_PACKAGE,
        *(name for some in tools._HEADERS.values() for name in some),
    }
    sets = ("PACKAGES", "ARM_PACKAGES", "GROUND_PACKAGES", "IMAGE_PACKAGES", "KERNEL_PACKAGES")
    assert asked <= {package for name in sets for package in packages(name)}
    assert "|".join(tools._CARGOS) in packages("ARM_PACKAGES")


def test_a_program_that_its_compiler_could_build_is_missing(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> Path:
        raise RunFailed(name)

    monkeypatch.setattr(tools, "guest_file", nothing)
    assert (tools._own_for(ARM64).state, tools._own_for(ARM64).fix) == ("warning", "make image-packages arm")
    fake("aarch64-linux-gnu-gcc", "exit 0")
    assert (tools._own_for(ARM64).state, tools._own_for(ARM64).fix) == ("missing", "make")


def test_programs_that_a_wheel_carries_need_no_compiler(
    nothing_here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "guest_file", tmp_path.joinpath)
    assert tools._own_for(ARM64).state == "ok"


@pytest.mark.parametrize(("names", "package"), [("cargo cargo-web", "cargo-web"), ("cargo", "cargo")])
def test_the_cargo_of_this_debian_is_named(
    fake: Fake, names: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake("apt-cache", f"printf '%s\\n' {names}")
    monkeypatch.setattr(tools, "cache_dir", lambda: Path("/nonexistent"))
    monkeypatch.delenv("FREERTOS_KERNEL_PATH", raising=False)
    check = tools._freertos()
    assert (check.package, check.fix.split()[-1]) == (package, package)


def test_no_path_is_cut() -> None:
    path = "/usr/bin/" + "a-long-name-" * 20
    console = Console(width=60)
    with console.capture() as shown:
        console.print(doctor.render([DoctorCheck("what", "ok", path, "all")]), soft_wrap=True)
    assert path in shown.get()
