# SPDX-License-Identifier: MIT
"""RTOS images that were linked elsewhere: what is taken of a file, and what is refused, without such a system."""

import os
import struct
import subprocess
from pathlib import Path

import pytest

from rtqual.base.cache import sha256_file
from rtqual.base.errors import BadInput
from rtqual.engine.boards.parts import part
from rtqual.engine.campaign.feasible import why_not
from rtqual.engine.candidates import linked
from rtqual.engine.mission import load_mission
from rtqual.engine.mission.candidate import Rtos
from support.freertos import MISSION, PLAN

MARK = "rtqual-probe image: NuttX 13.0.0 (4ebc8a7), a tick every 1000 us"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program for ARM that holds the text, linked as an image is; it does nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "image.c"
    source.write_text(
        f'const char mark[] = "{MARK}";\nint set = 1, zero[16];\n'
        '__asm__(".pushsection .work,\\"aw\\",%nobits\\n.space 1000000\\n.popsection");\n'  # as RTEMS's rest
        "int _start(void);\nint _start(void) { return mark[set] + zero[set]; }\n"
    )
    subprocess.run(["arm-none-eabi-gcc", "-nostdlib", "-o", tmp_path / "nuttx", source], check=True)
    return tmp_path / "nuttx"


@pytest.mark.guest  # the compiler for FreeRTOS, which `make test` installs
def test_an_image_is_known_by_its_contents_and_outlives_its_file(program: Path) -> None:
    found = linked.prepare("nuttx", Rtos.NUTTX, program)
    assert found.system == MARK.partition(": ")[2]
    sizes = {name: int(size) for name, size in found.sizes.items()}
    assert sizes["data_b"] >= 4 and 64 <= sizes["bss_b"] < 1_000
    assert sizes["image_size_b"] == sizes["text_b"] + sizes["data_b"] > len(MARK)
    sha256 = sha256_file(program)
    program.unlink()
    assert part("image", {"image": sha256}, ()) == found.image  # what reproduces a record finds it


@pytest.mark.guest  # the compiler for FreeRTOS, which `make test` installs
def test_what_is_no_image_with_the_probe_is_refused_in_one_line(program: Path) -> None:
    content = program.read_bytes()
    for replaced, told in (
        (content.replace(b"rtqual-probe image", b"another program..."), "has no rtqual-probe for NuttX in it"),
        (content.replace(b"NuttX 13.0.0 (4ebc8a7)", b"NuttX \x1b[31m (4ebc8a7)  "), "has no rtqual-probe for NuttX"),
        (_of_sections(content, 101), "is no linked ELF program for 32-bit ARM"),
        (content[:40], "is no linked ELF program for 32-bit ARM"),
        (content[:200], "is no linked ELF program for 32-bit ARM"),
        (Path("/bin/true").read_bytes(), "is no linked ELF program for 32-bit ARM"),
        (b"", "is no linked ELF program for 32-bit ARM"),
    ):
        program.write_bytes(replaced)
        with pytest.raises(BadInput, match=told) as caught:
            linked.prepare("nuttx", Rtos.NUTTX, program)
        assert str(caught.value).startswith("candidate nuttx: image ")
        assert str(caught.value).isprintable()
    program.unlink()
    os.mkfifo(program)
    with pytest.raises(BadInput, match=r"nuttx: is a pipe or a device, no file; it is what"):
        linked.prepare("nuttx", Rtos.NUTTX, program)
    program.unlink()
    with pytest.raises(BadInput, match=r"nuttx: No such file or directory; it is what NuttX was linked into"):
        linked.prepare("nuttx", Rtos.NUTTX, program)


@pytest.mark.guest  # the compiler for FreeRTOS, which `make test` installs
def test_the_image_of_another_system_is_refused(program: Path) -> None:
    with pytest.raises(BadInput, match=r"has no rtqual-probe for ChibiOS in it; link it in \(docs/chibios.md\)"):
        linked.prepare("c", Rtos.CHIBIOS, program)
    program.write_bytes(program.read_bytes().replace(b"NuttX 13.0.0 (4ebc8a7)", b"ChibiOS/RT 8.0.0 (abc)"))
    assert linked.prepare("c", Rtos.CHIBIOS, program).system.startswith("ChibiOS/RT 8.0.0 (abc), ")
    with pytest.raises(BadInput, match="has no rtqual-probe for NuttX in it"):
        linked.prepare("n", Rtos.NUTTX, program)


def _of_sections(content: bytes, number: int) -> bytes:
    """With so many of them, all alike, at the program's end."""
    at = len(content) + -len(content) % 4
    names = struct.pack("<10I", 0, 3, 2, 0, at + 40 * number, 8, 0, 0, 1, 0)  # of type SHT_STRTAB
    header = content[:32] + struct.pack("<I", at) + content[36:46] + struct.pack("<HHH", 40, number, 1)
    return header + content[52:].ljust(at - 52, b"\0") + names * number + bytes(8)


@pytest.mark.guest  # the compiler for FreeRTOS, which `make test` installs
def test_an_image_has_no_sections_without_end(program: Path) -> None:
    program.write_bytes(_of_sections(program.read_bytes(), 100))
    assert linked.prepare("nuttx", Rtos.NUTTX, program).system == MARK.partition(": ")[2]


@pytest.mark.guest  # the compiler for FreeRTOS, which `make test` installs
def test_a_mission_check_names_what_keeps_an_image_from_running(program: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(MISSION.format(candidate=f'rtos = "nuttx"\nimage = "{program}"', plan=PLAN))
    (candidate,) = load_mission(path).candidates
    assert (candidate.board, why_not(candidate)) == ("virtual-arm", "")
    program.write_bytes(b"no image")
    assert "is no linked ELF program" in why_not(candidate)


@pytest.mark.parametrize(
    ("candidate", "told"),
    [
        ('rtos = "nuttx"', '"nuttx" is built elsewhere: write image = "PATH" beside it, its image (docs/nuttx.md)'),
        (
            'rtos = "chibios"',
            '"chibios" is built elsewhere: write image = "PATH" beside it, its image (docs/chibios.md)',
        ),
        (
            'rtos = "freertos"\nimage = "x"',
            'image: names the image of rtos = "nuttx", rtos = "chibios" or rtos = "rtems"; leave',
        ),
        ('package = "linux-image-rt-armmp"\nimage = "x"', 'image: names the image of rtos = "nuttx"'),
        ('rtos = "nuttx"\nimage = "x"\nboot = ["quiet"]', "boot: cannot stand beside rtos"),
    ],
)
def test_a_mission_that_names_an_image_wrongly(tmp_path: Path, candidate: str, told: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(MISSION.format(candidate=candidate, plan=PLAN))
    with pytest.raises(BadInput) as caught:
        load_mission(path)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
