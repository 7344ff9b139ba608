# SPDX-License-Identifier: MIT
"""The emulated camera under programs that others wrote for V4L2 cameras, in a guest: GStreamer and v4l2-compliance."""

import re
from collections.abc import Callable

import pytest

from rtqual.base.apt import fetch, fetch_closure
from rtqual.base.architecture import AMD64
from rtqual.engine.initramfs.contents import copy_program, find
from rtqual.protocols.board import JobOutcome
from support.camera_guest import camera_guest
from support.software_camera import FRAME_BYTES

RING = 4
PLUGINS = f"usr/lib/{AMD64.triplet}/gstreamer-1.0"
LIBRARIES = ("gstreamer1.0-tools", "v4l-utils", "libgstreamer-plugins-base1.0-0", "libgudev-1.0-0")

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., JobOutcome]:
    folder = tmp_path_factory.mktemp("guest")
    standard = folder / "standard"
    (standard / "usr/bin").mkdir(parents=True)
    packages = [package.tree for package in fetch_closure(LIBRARIES)]
    packages.append(fetch("gstreamer1.0-plugins-good").tree)  # one plugin of it, which needs none of its libraries
    for name in ("gst-launch-1.0", "v4l2-compliance"):
        copy_program(name, standard, packages, AMD64.triplet)
    for name in ("libgstcoreelements.so", "libgstvideo4linux2.so"):
        copy_program(find(packages, (PLUGINS,), name), standard, packages, AMD64.triplet)
    files = {str(p.relative_to(standard)): p for p in standard.rglob("*") if p.is_file() and not p.is_symlink()}
    common = f"ds325-emulator --write ring --frames {RING} --step 6\n"
    return camera_guest(folder / "scratch", files, common=common)


def test_gstreamer_gets_every_byte(run: Callable[..., JobOutcome]) -> None:
    """Frames go round: each is the one after the one before."""
    caps = "video/x-raw,format=YUY2,width=640,height=240,framerate=60/1"
    outcome = run(
        "plug --replay ring\nexport GST_PLUGIN_SYSTEM_PATH=/usr/bin GST_REGISTRY=registry GST_REGISTRY_FORK=no\n"
        f"gst-launch-1.0 -q v4l2src device=/dev/video0 num-buffers=60 ! {caps} ! filesink location=got || exit 1\n"
        "unplug\n"
        "sums() { n=0; while [ $n -lt $2 ]; do"
        f" echo $1 $(dd if=$1 bs={FRAME_BYTES} skip=$n count=1 2> /dev/null | md5sum); n=$((n + 1)); done; }}\n"
        f"sums ring {RING}; sums got 60; echo bytes $(wc -c < got)\n"
    )
    sums = {name: re.findall(rf"^{name} (\w+)", outcome.stdout, re.MULTILINE) for name in ("ring", "got")}
    assert f"bytes {60 * FRAME_BYTES}" in outcome.stdout
    assert (len(set(sums["ring"])), len(sums["got"])) == (RING, 60)
    order = [sums["ring"].index(one) for one in sums["got"]]
    assert order == [(order[0] + n) % RING for n in range(60)]


def test_v4l2_compliance_finds_only_what_it_finds_of_every_camera_of_uvcvideo(run: Callable[..., JobOutcome]) -> None:
    """That driver answers STREAMON without buffers as if it had some, whatever the camera: it does not use the kernel's
    helpers for that (known upstream since 2021, open in 6.12)."""
    outcome = run("plug --replay ring\nv4l2-compliance -d /dev/video0 -s5 > told 2>&1\ncat told\nunplug\n")
    failed = re.findall(r"^\s*fail: \S+\(\d+\): (.+)$", outcome.stdout, re.MULTILINE)
    assert failed == ["node->streamon(q.g_type()) != EINVAL"] * 3, outcome.stdout[-6000:]
    tests = re.findall(r"^.*\btest (MMAP|USERPTR) \((.+?)\): (\w+)", outcome.stdout, re.MULTILINE)
    assert [(how, poll) for how, poll, result in tests if result == "FAIL"] == [
        ("MMAP", "no poll"),
        ("MMAP", "select"),
        ("MMAP", "epoll"),
    ]
    assert ("USERPTR", "select", "OK") in tests
    assert re.search(r"Failed: 3, ", outcome.stdout)
