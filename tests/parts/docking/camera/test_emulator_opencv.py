# SPDX-License-Identifier: MIT
"""The emulated camera under OpenCV's VideoCapture, in a guest with Debian's Python and the wheels that PyPI has."""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from rtqual.base.apt import fetch_closure
from rtqual.base.architecture import AMD64
from rtqual.engine.initramfs.contents import copy_program, find, needed
from rtqual.protocols.board import Machine
from support.camera_guest import camera_guest
from support.software_camera import FRAME_BYTES

RING, FRAMES = 4, 60
WHEELS = ("cv2", "opencv_python_headless.libs", "numpy", "numpy.libs")
PYTHON = "python3.11"  # Debian 12's, and that of the environment whose wheels are taken
PROGRAM = f"""\
import hashlib
import cv2

def told(name, content):
    print(name, hashlib.md5(content).hexdigest())

with open("ring", "rb") as ring:
    for _ in range({RING}):
        told("ring", ring.read({FRAME_BYTES}))
camera = cv2.VideoCapture("/dev/video0", cv2.CAP_V4L2)
assert camera.isOpened() and camera.set(cv2.CAP_PROP_CONVERT_RGB, 0)
for _ in range({FRAMES}):
    good, frame = camera.read()
    assert good and frame.nbytes == {FRAME_BYTES}, frame
    told("got", frame.tobytes())
"""


def files(folder: Path, site: Path) -> Iterator[tuple[str, Path]]:
    """Path in the guest, file: Python with its modules, the wheels among them, and the libraries that these need."""
    (folder / "usr/bin").mkdir(parents=True)
    trees = [package.tree for package in fetch_closure((f"{PYTHON}-minimal", f"lib{PYTHON}-stdlib", "libstdc++6"))]
    copy_program(PYTHON, folder, trees, AMD64.triplet)
    own = {file.name: file for wheel in WHEELS for file in (site / wheel).rglob("*.so*")}
    places = (f"lib/{AMD64.triplet}", f"usr/lib/{AMD64.triplet}", "lib64")
    for name in {name for file in own.values() for name in needed(file)} - {*own}:
        yield f"lib/{AMD64.triplet}/{name}", find(trees, places, name).resolve()
    modules = [(tree / f"usr/lib/{PYTHON}", "") for tree in trees]
    modules += [(site / wheel, wheel) for wheel in WHEELS]
    for root, below in ((folder, "/"), *modules):
        for file in root.rglob("*"):
            place = file.relative_to(root)
            if file.is_file() and not file.is_symlink() and not {"__pycache__", "tests"} & {*place.parts}:
                yield str(place if below == "/" else Path("usr/lib", PYTHON, below, place)), file


@pytest.mark.full
def test_opencv_gets_every_byte(tmp_path: Path) -> None:
    """Frames go round: each is the one after the one before."""
    found = find_spec("cv2")
    if found is None or found.origin is None:
        pytest.skip("OPENCV WAS NOT TRIED ON THE CAMERA: `make .venv/.opencv` installs it")
    (tmp_path / "program").write_text(PROGRAM)
    extra = dict(files(tmp_path / "standard", Path(found.origin).parents[1])) | {"program": tmp_path / "program"}
    common = f"ds325-emulator --write ring --frames {RING} --step 6\n"
    machine = Machine(memory_mib=1536)
    # numpy's wheel needs vectors that the board's own processor lacks.
    run = camera_guest(tmp_path / "scratch", extra, common=common, machine=machine, cpu="Haswell")
    outcome = run(f"plug --replay ring\n{PYTHON} /program > told 2>&1; cat told\nunplug\n")
    sums = {name: re.findall(rf"^{name} (\w+)", outcome.stdout, re.MULTILINE) for name in ("ring", "got")}
    assert (len(set(sums["ring"])), len(sums["got"])) == (RING, FRAMES), outcome.stdout
    order = [sums["ring"].index(one) for one in sums["got"]]
    assert order == [(order[0] + n) % RING for n in range(FRAMES)]
