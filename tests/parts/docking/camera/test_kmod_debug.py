# SPDX-License-Identifier: MIT
"""The camera's kernel modules on a kernel that looks for errors: addresses (KASAN), locks (lockdep), leaks (kmemleak),
sleeping where it must not, timers and work freed while armed, shifts and bounds (UBSAN), allocations that fail.

The kernel is tailored as a mission's are, PREEMPT_RT kept on. It is some ten times slower than the others, so the
camera does not keep its rate, and what is asked here is not whether frames are lost (test_kmod.py).
"""

import re
import subprocess
from collections.abc import Callable

import pytest

from rtqual.base.apt import fetch_closure
from rtqual.base.architecture import AMD64
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.candidates.module import build_modules
from rtqual.engine.initramfs.contents import TOOL_PACKAGES
from rtqual.engine.mission import Tailor
from rtqual.parts.tailor.built_headers import of_built
from rtqual.parts.tailor.tailored import KernelOrder, as_candidate
from rtqual.protocols.board import Command, Job, JobOutcome, Machine
from rtqual_docking.camera_files import camera_modules
from support.flight_programs import program
from support.kmod_guest import COMMON, FAULTS, KMOD, cycles, frames
from support.software_camera import programs as emulator_programs
from support.software_camera import values

pytestmark = pytest.mark.manual  # the kernel takes 22 minutes of a busy machine, and is kept; the tests 20

NEEDS = ("usb", "depth-camera")  # and not "realtime", which keeps checks out
CHECKED = Tailor(
    needs=("virtual-board",),
    require={
        **dict.fromkeys(("EXPERT", "PREEMPT_RT", "HIGH_RES_TIMERS", "NO_HZ_IDLE"), "y"),
        **dict.fromkeys(("DEBUG_KERNEL", "DEBUG_FS", "KALLSYMS"), "y"),
        **dict.fromkeys(("KASAN", "KASAN_GENERIC", "KASAN_INLINE", "KASAN_VMALLOC"), "y"),
        **dict.fromkeys(
            ("PROVE_LOCKING", "DEBUG_ATOMIC_SLEEP", "DEBUG_KMEMLEAK", "DEBUG_LIST", "DETECT_HUNG_TASK"), "y"
        ),
        **{f"DEBUG_OBJECTS{what}": "y" for what in ("", "_FREE", "_TIMERS", "_WORK", "_RCU_HEAD")},
        **dict.fromkeys(("UBSAN", "UBSAN_BOUNDS", "UBSAN_SHIFT"), "y"),
        **dict.fromkeys(("FAULT_INJECTION", "FAULT_INJECTION_DEBUG_FS", "FAILSLAB", "FAIL_PAGE_ALLOC"), "y"),
        **dict.fromkeys(("USB_VIDEO_CLASS", "USBIP_CORE", "USBIP_VHCI_HCD"), "m"),
    },
)
# A kernel that found an error of locks looks no further, and says so; kmemleak tells of a leak at its second look, and
# of allocations of its own that were made to fail.
BEFORE = """\
mount -t debugfs debugfs /sys/kernel/debug
leaks=/sys/kernel/debug/kmemleak
look() { usleep 6000000; { echo scan && echo scan; } > $leaks || exit 9; }
dmesg -c > /dev/null
"""
AFTER = """
look; sed 's/^/kernel leak /' $leaks
dmesg | grep -nE 'BUG|WARNING|INFO: |Oops|KASAN|UBSAN|ODEBUG|ERROR|possible|suspicious|kmemleak' |
    grep -v 'kmemleak: Cannot allocate a scan area' | sed 's/^/kernel /'
dmesg > told
grep -q 'debug_locks: *1$' /proc/lockdep_stats || echo kernel lockdep is off
"""
WRONG = {
    "leak": "unreferenced object .* \\(size 8192\\)",
    "freed": "KASAN: slab-use-after-free in wrong_init",
    "beyond": "KASAN: vmalloc-out-of-bounds in wrong_init",
    "order": "possible circular locking dependency detected",
    "sleep": "BUG: sleeping function called from invalid context",
    "object": "ODEBUG: free active .*timer_list",
}
CYCLES = 100
Guest = Callable[[str], JobOutcome]


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Guest:
    """Runs a shell script in a guest on that kernel; modules, emulator and readers are there."""
    folder = tmp_path_factory.mktemp("checked")
    made = KernelOrder("checked", CHECKED, NEEDS, AMD64).tailored()
    headers = of_built(made.tree, made.built)
    wrong = {f"wrong/{path.name}": path.read_bytes() for path in (KMOD / "test/wrong").iterdir()}
    modules = (*camera_modules(headers), *build_modules(headers, wrong, "wrong", ("wrong.ko",)))
    subprocess.run(["make", "-s", "-C", KMOD / "test", f"BUILD={folder}"], check=True)
    tools = [folder / "ds325_feed", folder / "ds325_ring", folder / "ds325_rounding", program("ds325-stream")]
    tools.append(emulator_programs() / "ds325-emulator")
    extra = {f"usr/bin/{tool.name}": tool for tool in tools} | {f"lib/rtqual/{m.name}": m for m in modules}
    kernel = as_candidate("checked", made.built, AMD64, boot=(), tools=fetch_closure(TOOL_PACKAGES), extra=extra)
    board = VirtualBoard(kernel, Machine(), folder)

    def run(script: str) -> JobOutcome:
        job = Job(
            measure=Command(("sh", "-c", COMMON + BEFORE + script + AFTER)),
            modules=("uvcvideo", "vhci-hcd"),
            collect=("told",),
        )
        outcome = board.run(job, seed=1, timeout_s=1800)
        assert outcome.exit_code == 0, outcome.stderr + outcome.stdout[-2000:]
        return outcome

    return run


def clean(outcome: JobOutcome) -> str:
    """What it printed, if the kernel has nothing to report."""
    reports = [line for line in outcome.stdout.splitlines() if line.startswith("kernel ")]
    assert not reports, "\n".join([*reports[:40], outcome.files["told"][:8000]])
    return outcome.stdout


@pytest.mark.parametrize("what", WRONG)
def test_each_kind_of_error_is_reported(what: str, checked: Guest) -> None:
    outcome = checked(f"insmod /lib/rtqual/wrong.ko what={what} 2> /dev/null\n")
    assert re.search(WRONG[what], outcome.stdout), outcome.stdout[-3000:]
    with pytest.raises(AssertionError):
        clean(outcome)


def test_a_kernel_without_a_fault_reports_nothing(checked: Guest) -> None:
    assert clean(checked("insmod /lib/rtqual/wrong.ko what=nothing 2> /dev/null\n")) == ""


@pytest.mark.parametrize("how", ["", "in_completion=1"])
def test_frames_through_the_driver(how: str, checked: Guest) -> None:
    script = (
        f"rmmod uvcvideo\nload {how}\nplug --unthrottled\nchecked --device=/dev/ds325-0 --frames=200\nunplug\nunload\n"
    )
    seen = values(clean(checked(script)))
    assert (seen["check_good"], seen["check_wrong"]) == (200, 0)


def test_frames_by_dma_buf(checked: Guest) -> None:
    script = (
        "insmod /lib/rtqual/ds325-ring.ko && insmod /lib/rtqual/ds325-dmabuf.ko || exit 1\nplug --unthrottled\n"
        "until [ -e /dev/video0 ]; do usleep 10000; done\n"
        "ds325_feed /dev/video0 /dev/ds325-dmabuf-0 220 60 70 & feed=$!\n"
        "checked --device=/dev/ds325-dmabuf-0 --frames=200\nwait $feed || exit 1\nunplug\n"
        "rmmod ds325_dmabuf && rmmod ds325_ring || exit 1\n"
    )
    seen = values(clean(checked(script)))
    assert (seen["check_good"], seen["check_wrong"]) == (200, 0)


def test_readers_of_every_kind(checked: Guest) -> None:
    script = (
        "rmmod uvcvideo\nload\nplug --unthrottled\npids=\n"
        'for way in poll eventfd read newest; do ds325_ring /dev/ds325-0 40 $way > $way & pids="$pids $!"; done\n'
        "for pid in $pids; do wait $pid || exit 1; done\ncat poll eventfd read newest\nunplug\nunload\n"
    )
    assert len(frames(clean(checked(script)))) == 160


def test_a_hundred_replugs_and_a_hundred_loads(checked: Guest) -> None:
    printed = clean(checked("rmmod uvcvideo\n" + cycles(CYCLES)))
    headers = re.findall(r"^header \d+ \d+ \d+ \d (\d+) ", printed, re.MULTILINE)
    assert [int(connections) for connections in headers] == [*range(1, CYCLES + 1)]
    assert "survived" in printed


@pytest.mark.parametrize("how", ["", "in_completion=1"])
def test_each_fault_of_the_camera(how: str, checked: Guest) -> None:
    script = "rmmod uvcvideo\n" + "".join(
        f"echo case {fault}\nload {how}\nplug --stamp --fault {fault}\n"
        "ds325_ring /dev/ds325-0 10 poll\nunplug\nunload\n"
        for fault in FAULTS
    )
    cases = clean(checked(script)).split("case ")[1:]
    assert [len(frames(case)) for case in cases] == [10] * len(FAULTS)


def test_wrong_descriptors(checked: Guest) -> None:
    kinds = "truncated total-length zero-length length intervals interval-0 size format no-format no-endpoint endpoint"
    script = (
        f"rmmod uvcvideo\nload\nfor kind in {kinds} no-unit loop class; "
        "do ds325-emulator --attach --daemon --replay ring --descriptors $kind || exit 1; "
        "timeout 1 cat /dev/ds325-0 > /dev/null; kill $(pidof ds325-emulator); gone; done\n"
        "plug\nchecked --device=/dev/ds325-0 --frames=5\nunplug\nunload\n"
    )
    seen = values(clean(checked(script)))
    assert (seen["check_good"], seen["check_wrong"]) == (5, 0)


def test_allocations_that_fail(checked: Guest) -> None:
    """The nth allocation fails, one n after the other: of loading, of meeting the camera, of opening and mapping.

    busybox's insmod tries a second time, in which no allocation fails any more; ds325_rounding does not.
    """
    failing = (
        "for way in failslab fail_page_alloc; do for key in ignore-gfp-wait verbose; do "
        "echo 0 > /sys/kernel/debug/$way/$key || exit 1; done; done\n"
        'failing() { sh -c \'echo $0 > /proc/self/fail-nth; exec "$@"\' "$@" > /dev/null 2>&1; }\n'
    )
    script = (
        f"rmmod uvcvideo\n{failing}n=1; loaded=0; refused=0\n"
        "while [ $n -lt 250 ]; do\n"
        "    for one in ring usb; do failing $n ds325_rounding /lib/rtqual/ds325-$one.ko ''; done\n"
        "    if rmmod ds325_usb 2> /dev/null; then loaded=$((loaded + 1)); else refused=$((refused + 1)); fi\n"
        "    rmmod ds325_ring 2> /dev/null; n=$((n + 1))\ndone\n"
        "echo loaded=$loaded; echo refused=$refused\n"
        "load; plug; at=/sys/bus/usb/drivers/ds325; until [ -e $at/*:1.0 ]; do usleep 10000; done\n"
        "camera=$(cd $at; echo *:1.0); n=1; met=0; unmet=0; opened=0\n"
        "while [ $n -lt 120 ]; do\n"
        "    echo $camera > $at/unbind\n"
        '    failing $n sh -c "echo $camera > $at/bind"\n'
        "    if [ -e $at/$camera ]; then met=$((met + 1)); else unmet=$((unmet + 1)); echo $camera > $at/bind; fi\n"
        "    failing $n ds325_ring /dev/ds325-0 1 eventfd && opened=$((opened + 1)); n=$((n + 1))\ndone\n"
        "echo met=$met; echo unmet=$unmet; echo opened=$opened\n"
        "checked --device=/dev/ds325-0 --frames=5\nunplug\nunload\n"
    )
    seen = values(clean(checked(script)))
    assert seen["loaded"] > 0 and seen["refused"] > 20
    assert seen["met"] > 0 and seen["unmet"] > 20 and seen["opened"] > 0
    assert (seen["check_good"], seen["check_wrong"]) == (5, 0)
