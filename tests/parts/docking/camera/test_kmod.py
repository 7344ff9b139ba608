# SPDX-License-Identifier: MIT
"""The kernel path: modules built against Debian's headers, and the emulated camera's frames through them in guests."""

import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from rtqual.base.apt import fetch
from rtqual.engine.candidates.module import build_modules
from rtqual_docking.camera_files import MODULES
from support.flight_programs import program
from support.kmod_guest import FAULTS, KMOD, RING, Guest, boot, cycles, exact, frames, hashed, strict
from support.software_camera import programs as emulator_programs
from support.software_camera import values

sys.path.insert(0, str(Path(__file__).parents[4] / "docking/bench"))
KERNELS = ("linux-image-rt-amd64", "linux-image-amd64")


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Guest]:
    """Under one of Debian's kernels, with the emulator and readers."""
    folder = tmp_path_factory.mktemp("kmod")
    subprocess.run(["make", "-s", "-C", KMOD / "test", f"BUILD={folder}"], check=True)
    tools = [folder / "ds325_feed", folder / "ds325_ring", program("ds325-stream")]
    tools += [emulator_programs() / "ds325-emulator", fetch("util-linux").tree / "usr/bin/chrt"]
    return cache(lambda package: boot(package, folder, {tool.name: tool for tool in tools}))


@pytest.mark.full  # about 20 s for each kernel, half of it boot
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("how", ["", "in_completion=1"])
def test_every_range_is_the_scalar_decoders_and_no_frame_is_lost(
    kernel: str, how: str, guest: Callable[[str], Guest]
) -> None:
    seen = values(
        guest(kernel)(f"load {how}\nplug\nchecked --device=/dev/ds325-0 --frames=600\nunplug\nunload\n").stdout
    )
    assert (seen["check_good"], seen["check_wrong"]) == (600, 0)
    assert (seen["ring_missed"], seen["ring_lost"], seen["ring_refused"]) == (0, 0, 0)
    assert seen["frames_lost_without_urb"] == 0
    assert 9.9e9 < seen["elapsed_ns"] < 10.7e9  # 600 at 60 a second, and the time to find the camera


@pytest.mark.full
@pytest.mark.parametrize("way", ["uvcvideo", "driver"])
def test_lines_that_leave_as_they_are_read_out_are_ranges_sooner(way: str, guest: Callable[[str], Guest]) -> None:
    """Copied, and by the driver decoded, while the frame still comes. In the guest's time, which repeats."""
    from camera import PACES, latencies

    at_once, by_lines = (latencies(guest(KERNELS[0]), way, pace, frames=60) for pace in PACES.values())
    assert (at_once.lost, by_lines.lost) == (0, 0)
    assert max(by_lines.latency_ns) < min(at_once.latency_ns)


@pytest.mark.full
def test_a_thousand_frames_a_second_come_through_the_driver(tmp_path: Path) -> None:
    """With AVX2, the target at 1.2 m, unthrottled. In the guest's time, which repeats."""
    from camera import KERNEL, PROCESSORS, fastest
    from camera import programs as theirs

    assert fastest(boot(KERNEL, tmp_path, theirs(), cpu=PROCESSORS["AVX2"]), "1.2 m", 1).per_s >= 1000


@pytest.mark.full  # a minute
def test_the_drivers_decoding_is_bit_exact_on_ten_thousand_frames(
    guest: Callable[[str], Guest], tmp_path: Path
) -> None:
    """Through the code that takes bulk transfers, by vectors in slices and without; random words and edge cases."""
    for first in range(0, 10_000, 2500):
        assert hashed(2500, tmp_path, first=first) in guest(KERNELS[0])(exact("auto", 2500, first=first)).stdout
    script = exact("scalar", 30, first=400)
    script += "insmod /lib/rtqual/ds325-ring.ko decode=avx2 2> /dev/null && exit 1; dmesg | grep decode=\n"
    outcome = guest(KERNELS[0])(script)
    assert hashed(30, tmp_path, first=400) in outcome.stdout
    assert "decode=avx2: auto and scalar are there" in outcome.stdout  # the virtual board's processor has none


@pytest.mark.full
def test_frames_by_dma_buf_are_the_same_ranges(guest: Callable[[str], Guest]) -> None:
    script = (
        "insmod /lib/rtqual/ds325-ring.ko && insmod /lib/rtqual/ds325-dmabuf.ko || exit 1\nplug\n"
        "until [ -e /dev/video0 ]; do usleep 10000; done\n"
        "ds325_feed /dev/video0 /dev/ds325-dmabuf-0 300 60 70 & feed=$!\n"
        "checked --device=/dev/ds325-dmabuf-0 --frames=280\nwait $feed || exit 1\nunplug\n"
        "rmmod ds325_dmabuf && rmmod ds325_ring || exit 1\n"
    )
    outcome = guest(KERNELS[0])(script, modules=("uvcvideo", "vhci-hcd"))
    seen = values(outcome.stdout)
    assert (seen["check_good"], seen["check_wrong"], seen["ring_lost"], seen["ring_missed"]) == (280, 0, 0, 0)
    assert "fed=300 lost=0 refused=0 disconnections=0" in outcome.stdout


@pytest.mark.full
def test_a_reader_that_stops_stalls_nobody_and_learns_what_it_missed(guest: Callable[[str], Guest]) -> None:
    script = (
        'load\nplug\npids=\nfor way in poll eventfd read; do ds325_ring /dev/ds325-0 40 $way > $way & pids="$pids $!";'
        " done\nds325_ring /dev/ds325-0 40 poll > slow & slow=$!\nusleep 400000; kill -STOP $slow\n"
        "for pid in $pids; do wait $pid; done\nkill -CONT $slow; wait $slow\n"
        "for way in poll eventfd read slow; do echo reader; cat $way; done\nunplug\nunload\n"
    )
    outcome = guest(KERNELS[0])(script)
    readers = outcome.stdout.split("reader\n")[1:]
    for reader in readers[:3]:
        assert "missed 0 left 0" in reader
        assert [int(f[1]) for f in frames(reader)] == [
            *range(int(frames(reader)[0][1]), 40 + int(frames(reader)[0][1]))
        ]
    missed = re.search(r"missed (\d+) left 0", readers[3])
    assert missed
    assert int(missed[1]) > 0
    numbers = [int(f[0]) for f in frames(readers[3])]
    assert numbers[-1] - numbers[0] + 1 == len(numbers) + int(missed[1])
    # All saw the same four pictures: a reader that came late has no others.
    assert len({f[6] for f in frames(outcome.stdout)}) == RING
    assert values(outcome.stdout)["frames_lost_without_urb"] == 0


@pytest.mark.full
@pytest.mark.parametrize("how", ["", "in_completion=1"])
def test_each_loss_is_counted_where_it_happened(how: str, guest: Callable[[str], Guest]) -> None:
    script = "".join(
        f"echo case {fault}\nload {how}\nplug --stamp --fault {fault}\n"
        "ds325_ring /dev/ds325-0 10 poll\nunplug\nunload\n"
        for fault in FAULTS
    )
    cases = guest(KERNELS[0])(script).stdout.split("case ")[1:]
    for case, (fault, (lost, refused, connections)) in zip(cases, FAULTS.items(), strict=True):
        assert case.startswith(fault)
        seen = frames(case)
        gap = 5  # of a late frame too: it costs the next, but the silence that tells of the loss comes before it
        assert [int(f[1]) for f in seen] == [*range(gap), *range(gap + 1, 11)], fault
        assert [int(f[2]) for f in seen] == [0] * gap + [1] + [0] * (9 - gap), fault
        assert int(seen[-1][3]) == connections, fault
        assert re.search(rf"^header 1\d {lost} {refused} ", case, re.MULTILINE), (fault, case)


@pytest.mark.full  # about a minute for each kernel
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_hundred_replugs_and_a_hundred_loads_leave_no_warning(kernel: str, guest: Callable[[str], Guest]) -> None:
    outcome = guest(kernel)(cycles(100))
    headers = re.findall(r"^header (\d+) 0 \d+ \d (\d+) missed 0 left 0$", outcome.stdout, re.MULTILINE)
    assert [int(connections) for _, connections in headers] == [*range(1, 101)]
    assert "survived" in outcome.stdout


@pytest.mark.full
def test_wrong_descriptors_are_refused_without_harm(guest: Callable[[str], Guest]) -> None:
    kinds = "truncated total-length zero-length length intervals interval-0 size format no-format no-endpoint endpoint"
    script = (
        f"load\nfor kind in {kinds} no-unit loop class; do ds325-emulator --attach --daemon --replay ring"
        " --descriptors $kind || exit 1; timeout 1 cat /dev/ds325-0 > /dev/null; kill $(pidof ds325-emulator); gone;"
        " done\nplug\nchecked --device=/dev/ds325-0 --frames=5\nunplug\nunload\n"
    )
    seen = values(guest(KERNELS[0])(script).stdout)
    assert (seen["check_good"], seen["check_wrong"]) == (5, 0)


@pytest.mark.full
def test_only_the_cameras_rates_are_taken(guest: Callable[[str], Guest]) -> None:
    """Nor one that is 256 above one of these."""
    script = (
        "insmod /lib/rtqual/ds325-ring.ko || exit 1\n"
        "for rate in 0 24 256 281 286 306 316; do"
        " insmod /lib/rtqual/ds325-usb.ko rate=$rate 2> /dev/null && { echo taken $rate; rmmod ds325_usb; }; done\n"
        "for rate in 25 30 50 60; do insmod /lib/rtqual/ds325-usb.ko rate=$rate && rmmod ds325_usb || exit 1; done\n"
        "rmmod ds325_ring\n"
    )
    assert "taken" not in guest(KERNELS[0])(script).stdout


@pytest.mark.full
def test_a_camera_that_ends_right_after_a_stream_hangs_nobody(guest: Callable[[str], Guest]) -> None:
    """The USB host's threads have the lowest priority of all here: transfers are taken back before they were sent. If
    the connection ends meanwhile, vhci_hcd never gives them back; so the camera lets the host come to an end first."""
    script = (
        "i=0; while [ $i -lt 5 ]; do load\nds325-emulator --attach --daemon --replay ring --report report || exit 1\n"
        "usleep 400000\nds325-stream --method=ring --device=/dev/ds325-0 --priority=80 --frames=5 > out || exit 1\n"
        "unplug\nunload\ni=$((i + 1)); done\n"
    )
    assert guest(KERNELS[0])(script, fifo=1).stdout.count("report frames_sent ") == 5


@pytest.mark.guest
def test_no_bytes_make_the_payload_parser_fault(tmp_path: Path) -> None:
    """With sanitizers; and of frames cut anywhere the whole ones are published as they are, all others refused."""
    subprocess.run(["make", "-s", "-C", KMOD / "test", f"BUILD={tmp_path}", tmp_path / "payload_fuzz"], check=True)
    done = subprocess.run([tmp_path / "payload_fuzz", "1", "60"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    told = re.fullmatch(r"published (\d+) refused (\d+)\n", done.stdout)
    assert told
    assert int(told[1]) > 50


@pytest.mark.full  # about a minute for each the first time
@pytest.mark.parametrize("series", ["6.1", "6.12"])
@pytest.mark.parametrize("flavour", ["amd64", "rt-amd64"])
def test_they_build_against_debians_headers_without_a_warning(series: str, flavour: str) -> None:
    name = f"linux-image-{'' if series == '6.1' else series + '-'}{flavour}"
    shown = subprocess.run(["apt-cache", "depends", name], capture_output=True, text=True, check=True).stdout
    release = next(line.split("linux-image-")[1] for line in shown.splitlines() if "Depends: linux-image-" in line)
    for module in build_modules(release, strict(), "kmod", MODULES):
        assert b"vermagic=" + release.encode() in module.read_bytes()


@pytest.mark.full  # a minute, most of it to unpack the kernel's source
def test_the_source_passes_the_kernels_own_style_check(tmp_path: Path) -> None:
    assert shutil.which("perl"), "perl is missing"
    with tarfile.open(fetch("linux-source-6.12").tree / "usr/src/linux-source-6.12.tar.xz") as tar:
        wanted = ("checkpatch.pl", "spelling.txt", "const_structs.checkpatch")
        for member in tar:
            if member.name.startswith("linux-source-6.12/scripts/") and member.name.endswith(wanted):
                tar.extract(member, tmp_path, filter="data")
    checkpatch = tmp_path / "linux-source-6.12/scripts/checkpatch.pl"
    # One source is built for kernels before and after a change of their interface; and a node's operations name the
    # module that owns it, which differs.
    ignored = "--ignore=LINUX_VERSION_CODE,CONSTANT_COMPARISON,CONST_STRUCT"
    options = ["--no-tree", "--terse", "--max-line-length=120", ignored]
    done = subprocess.run(
        ["perl", checkpatch, *options, "--file", *sorted(KMOD.glob("*.[ch]"))],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
