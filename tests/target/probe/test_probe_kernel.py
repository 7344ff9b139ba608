# SPDX-License-Identifier: MIT
"""The probe in kernel space: one battery built against Debian's kernels, loaded and unloaded in real guests."""

import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.apt import fetch, fetch_closure
from rtqual.base.errors import RunFailed
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.candidates.debian import prepare
from rtqual.engine.candidates.module import MODULE, MODULE_PATH, build_module
from rtqual.engine.initramfs.contents import TOOL_PACKAGES, build
from rtqual.engine.instruments.probe.families import ProbeParameters
from rtqual.protocols.board import Command, Job, Machine
from rtqual.protocols.board.system import Kernel
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.record.schema import samples_digest
from support.probe_sources import PROBE

KERNEL_WAKEUP = all_instruments()["probe-kernel-wakeup"]


PRIMITIVES = all_instruments()["probe-primitives"]


IN_KERNEL = all_instruments()["probe-kernel-primitives"]


FEW = ProbeParameters(iterations=100)


@pytest.fixture(scope="module")
def with_module(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], VirtualBoard]:
    boards: dict[str, VirtualBoard] = {}

    def board(package: str) -> VirtualBoard:
        if package not in boards:
            kernel = prepare(
                package, package, preempt=None, boot=(), tools=fetch_closure(TOOL_PACKAGES), programs=(MODULE,)
            )
            boards[package] = VirtualBoard(kernel, Machine(), tmp_path_factory.mktemp(package))
        return boards[package]

    return board


def shell(script: str) -> Job:
    return Job(measure=Command(("sh", "-c", script)), version=("rtqual-probe", "--version"))


def test_every_port_is_built_from_the_one_list_of_sources() -> None:
    sources = (PROBE / "battery/sources.txt").read_text().split()
    assert len(sources) > 10
    assert all((PROBE / source).exists() for source in sources)
    assert {f"battery/{path.name}" for path in (PROBE / "battery").glob("*.c")} == {*sources} - {"run.c"}
    for port in ("linux/Makefile", "kernel/Kbuild", "freertos/Makefile", "xenomai/Makefile", "nuttx/Makefile"):
        assert "battery/sources.txt" in (PROBE / port).read_text(), port


@pytest.mark.guest
def test_what_a_kernel_offers_is_measured_and_repeats(with_module: Callable[[str], VirtualBoard]) -> None:
    board = with_module("linux-image-rt-amd64")
    runs = [board.run(IN_KERNEL.job(FEW, cpus=1, seed=1), seed=1, timeout_s=120) for _ in range(2)]
    one, two = (IN_KERNEL.read(FEW, run, cpus=1) for run in runs)
    assert one.problems == ()
    assert one.absent == {}
    assert samples_digest(one.series, one.scalars) == samples_digest(two.series, two.scalars)
    user = PRIMITIVES.read(FEW, board.run(PRIMITIVES.job(FEW, cpus=1, seed=1), seed=1, timeout_s=120), cpus=1)
    assert [s.info.name for s in one.series] == [s.info.name for s in user.series]
    assert all(s.total == FEW.iterations for s in one.series)
    mutex = {s.info.name: s.values for s in one.series}["mutex acquisition"]
    assert mutex.max() < {s.info.name: s.values for s in user.series}["mutex acquisition"].min()  # no system call


@pytest.mark.guest
def test_a_loop_of_few_cycles_has_memory_for_its_stages(with_module: Callable[[str], VirtualBoard]) -> None:
    loop, few = all_instruments()["probe-kernel-loop"], ProbeParameters(iterations=10)
    run = with_module("linux-image-rt-amd64").run(loop.job(few, cpus=1, seed=1), seed=1, timeout_s=120)
    measured = loop.read(few, run, cpus=1)
    assert {one.total for one in measured.series} == {10}
    assert list(measured.absent) == ["loop by network"]


@pytest.mark.guest
def test_a_wrong_parameter_is_refused_and_told(with_module: Callable[[str], VirtualBoard]) -> None:
    board = with_module("linux-image-rt-amd64")
    told = board.run(shell(f"insmod {MODULE_PATH} family=nonsense; dmesg | tail -1"), seed=1, timeout_s=120).stdout
    assert "family=nonsense" in told
    job = replace(KERNEL_WAKEUP.job(FEW, cpus=1, seed=1), measure=Command(("insmod", MODULE_PATH, "priority=99")))
    with pytest.raises(RunFailed, match="no result"):
        KERNEL_WAKEUP.read(FEW, board.run(job, seed=1, timeout_s=120), cpus=1)


@pytest.mark.full  # half a minute
def test_a_module_of_another_kernel_is_refused_by_name(
    kernel: Callable[..., Kernel], with_module: Callable[[str], VirtualBoard], tmp_path: Path
) -> None:
    package, tools = fetch("linux-image-rt-amd64", kernel=True), fetch_closure(TOOL_PACKAGES)
    real_time = kernel("debian-rt")
    stock = {MODULE_PATH.lstrip("/"): build_module(kernel("debian").release)}
    image = build(package, real_time.release, tools, disks=False, extra=stock)
    board = VirtualBoard(replace(real_time, initramfs=image), Machine(), tmp_path)
    outcome = board.run(KERNEL_WAKEUP.job(FEW, cpus=1, seed=1), seed=1, timeout_s=120)
    with pytest.raises(RunFailed, match=r"no result.*invalid module format"):
        KERNEL_WAKEUP.read(FEW, outcome, cpus=1)


@pytest.mark.guest
def test_a_kernel_without_headers_in_apt_is_named() -> None:
    with pytest.raises(Exception, match=r"linux-headers-9\.9\.9-none"):
        build_module("9.9.9-none")


@pytest.mark.full  # about a minute for each kernel
@pytest.mark.parametrize("package", ["linux-image-rt-amd64", "linux-image-amd64"])
def test_it_loads_and_unloads_a_hundred_times_without_a_warning(
    package: str, with_module: Callable[[str], VirtualBoard]
) -> None:
    times = (
        f"insmod {MODULE_PATH} family=wakeup iterations=2 && cat /proc/rtqual-probe > /dev/null && rmmod rtqual_probe"
    )
    script = f"dmesg -c > boot; i=0; while [ $i -lt 100 ]; do {times} || exit 1; i=$((i + 1)); done; dmesg"
    outcome = with_module(package).run(shell(script), seed=1, timeout_s=300)
    assert outcome.exit_code == 0, outcome.stderr
    lines = [line for line in outcome.stdout.splitlines() if "taint" not in line]  # it is not of the kernel's own tree
    assert [line for line in lines if any(sign in line for sign in ("WARNING", "BUG", "Oops", "Call Trace"))] == []
    assert len(lines) < 10, lines
    assert not (PROBE / "kernel").joinpath("rtqual-probe.ko").exists()  # nothing is built in the sources


@pytest.mark.full  # about two minutes
@pytest.mark.parametrize("series", ["6.1", "6.12"])
@pytest.mark.parametrize("flavour", ["amd64", "rt-amd64"])
def test_it_builds_against_debians_headers_without_a_warning(series: str, flavour: str) -> None:
    name = f"linux-image-{'' if series == '6.1' else series + '-'}{flavour}"
    shown = subprocess.run(["apt-cache", "depends", name], capture_output=True, text=True, check=True).stdout
    release = next(line.split("linux-image-")[1] for line in shown.splitlines() if "Depends: linux-image-" in line)
    assert release.startswith(f"{series}.")
    module = build_module(release)
    assert b"vermagic=" + release.encode() in module.read_bytes()


@pytest.mark.full  # a minute, most of it to unpack the kernel's source
def test_the_modules_source_passes_the_kernels_own_style_check(tmp_path: Path) -> None:
    assert shutil.which("perl"), "perl is missing"
    source = fetch("linux-source-6.12").tree / "usr/src/linux-source-6.12.tar.xz"
    with tarfile.open(source) as tar:
        wanted = ("checkpatch.pl", "spelling.txt", "const_structs.checkpatch")
        for member in tar:
            if member.name.startswith("linux-source-6.12/scripts/") and member.name.endswith(wanted):
                tar.extract(member, tmp_path, filter="data")
    checkpatch = tmp_path / "linux-source-6.12/scripts/checkpatch.pl"
    files = sorted((PROBE / "kernel").glob("*.[ch]"))
    options = [
        "--no-tree",
        "--terse",
        "--max-line-length=120",
        # The contract has a yield and a semaphore, which new code in the kernel should not use; and one source is
        # built for kernels before and after a change of their interface.
        "--ignore=YIELD,CONSIDER_COMPLETION,LINUX_VERSION_CODE,CONSTANT_COMPARISON",
    ]
    done = subprocess.run(
        ["perl", checkpatch, *options, "--file", *files], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout
