# SPDX-License-Identifier: MIT
"""RTOS images: what is taken of a file, and what is refused, without such a system (docs/port.md)."""

import os
import random
import re
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from rtqual.base.cache import sha256_file
from rtqual.base.errors import BadInput
from rtqual.engine.boards.parts import part
from rtqual.engine.campaign.feasible import other_batteries, why_not
from rtqual.engine.campaign.plan import plan
from rtqual.engine.candidates import linked
from rtqual.engine.candidates.sources import battery_state, own_state, probe_sources
from rtqual.engine.mission import Mission, load_mission
from support.command import Run
from support.freertos import MISSION, PLAN
from support.probe_sources import PROBE

ROOT = PROBE.parents[1]

SAYS = 'RTQUAL_MARK("Oddity/2", "13.0.0 (4ebc8a7)", RTQUAL_TICK_US("1000"), RTQUAL_VIRT_A15, "128", {offers})'
NAME = "Oddity/2 13.0.0 (4ebc8a7), a tick every 1000 us"
OFFERS = 'RTQUAL_LICENCE("BSD 2") RTQUAL_USB("sources")'
# What mark.h needs of a port, and nothing else.
OBJECTS = ("thread", "semaphore", "mutex", "queue", "pipe", "event", "timer")
TYPES = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n" + "".join(
    f"struct port_{one} {{ int x; }};\n" for one in OBJECTS
)
NO_PROGRAM = "is no linked ELF program"


def build(folder: Path, *sources: str, at: str = "0x40400000", name: str = "image.elf") -> Path:
    """A program for ARM of files of C, linked as an image is; it does nothing."""
    (folder / "port_types.h").write_text(TYPES)
    for number, source in enumerate(sources):
        (folder / f"image{number}.c").write_text(source)
    files = [str(folder / f"image{number}.c") for number in range(len(sources))]
    include = [f"-I{one}" for one in (folder, PROBE / "rtos", PROBE)]
    command = ["arm-none-eabi-gcc", "-nostdlib", "-Wl,--gc-sections", f"-Wl,-Ttext-segment={at}", *include]
    subprocess.run([*command, "-ffunction-sections", "-fdata-sections", "-o", folder / name, *files], check=True)
    return folder / name


def marked(offers: str = OFFERS) -> str:
    return f'#include "mark.h"\n{SAYS.format(offers=offers)};\n'


START = (
    "int set = 1, zero[16]; const char *port_system(void);\n"
    '__asm__(".pushsection .work,\\"aw\\",%nobits\\n.space 1000000\\n.popsection");\n'  # as RTEMS's rest
    "int _start(void);\nint _start(void) { return port_system()[set] + zero[set]; }\n"
)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return build(tmp_path, marked(), START)


@pytest.mark.guest  # the compiler for FreeRTOS, which `make test` installs
def test_an_image_says_what_it_is_and_outlives_its_file(program: Path) -> None:
    found = linked.prepare("odd", program)
    assert (found.system, found.steps_ns) == (NAME, (1_000_000, 1_000_000))
    assert {"system": "Oddity/2", "licence": "BSD 2", "usb": "sources", "memory": "128"}.items() <= found.sizes.items()
    assert found.sizes["battery"] == own_state() and not {"wifi", "protection"} & set(found.sizes)
    sizes = {name: int(found.sizes[name]) for name in ("text_b", "data_b", "bss_b", "image_size_b")}
    assert sizes["data_b"] >= 4 and 64 <= sizes["bss_b"] < 1_000
    assert sizes["image_size_b"] == sizes["text_b"] + sizes["data_b"] > len(NAME)
    sha256 = sha256_file(program)
    program.unlink()
    assert part("image", {"image": sha256}, ()) == found.image  # what reproduces a record finds it


@pytest.mark.guest  # the compiler for FreeRTOS, which `make test` installs
def test_what_is_no_image_or_lies_is_refused_in_one_line(program: Path) -> None:
    content = program.read_bytes()

    def other(before: bytes, after: bytes) -> bytes:
        start = content.index(b"rtqual-probe image 2")
        text = content[start : content.index(b"\0", start)]
        changed = text.replace(before, after)
        assert before in text and len(changed) <= len(text)
        return content.replace(text, changed.ljust(len(text), b"\0"))

    for replaced, told in (
        (other(b"rtqual-probe image 2", b"another program here"), "has no mark of rtqual's probe in it"),
        (other(b"rtqual-probe image 2\n", b"rtqual-probe image: \0"), "has the mark of an older rtqual in it"),
        (content + b"rtqual-probe image 2\n\0", "has 2 marks in it"),
        (other(b"\nversion=13.0.0", b"\nversion=\x1b[31m"), r"has a mark whose version is '\\x1b\[31m"),
        (
            other(b"\nversion=", b"\nvershion"),
            r"has a mark with the line 'vershion13.0.0.*, which this rtqual does not",
        ),
        (other(b"\nlicence=", b"\nversion="), "has a mark with the line 'version=BSD 2', which stands twice"),
        (other(b"\nusb=sources", b"\nusb=source\xff"), r"has a mark whose usb is 'source\\xff'"),
        (
            other(b"tick=a tick every 1000 us", b"tick=a tick every 0000 us"),
            "has a mark whose tick is 'a tick every 0000",
        ),
        (other(b"memory=128", b"memory=999"), "needs 999 MiB by its mark; the board has 512"),
        (other(b"virt-a15", b"virt-a53"), "is for the machine virt-a53 by its mark; the boards here are virt-a15"),
        (other(b"battery=" + own_state().encode() + b"\n", b""), "has a mark that does not tell battery"),
        (content[:18] + b"\x28\x01" + content[20:], "is a program for "),
        (_of_sections(content, 101), NO_PROGRAM),
        (content[:40], NO_PROGRAM),
        (content[:200], NO_PROGRAM),
        (Path("/bin/true").read_bytes(), NO_PROGRAM),
        (b"", NO_PROGRAM),
    ):
        program.write_bytes(replaced)
        with pytest.raises(BadInput, match=told) as caught:
            linked.prepare("odd", program)
        assert str(caught.value).startswith("candidate odd: image ")
        assert str(caught.value).isprintable() and len(str(caught.value)) < 400
    program.unlink()
    os.mkfifo(program)
    with pytest.raises(BadInput, match=r"image.elf: is a pipe or a device, no file; it is the file that a system was"):
        linked.prepare("odd", program)
    program.unlink()
    with pytest.raises(
        BadInput, match=r"image.elf: No such file or directory; it is the file that a system was linked"
    ):
        linked.prepare("odd", program)


@pytest.mark.guest  # the compiler for FreeRTOS, which `make test` installs
def test_an_image_must_lie_in_the_memory_of_its_machine(program: Path) -> None:
    folder = program.parent
    with pytest.raises(BadInput, match=r"lies at 0x00010000; the machine's memory is 0x40000000 to 0x48000000"):
        linked.prepare("odd", build(folder, marked(), START, at="0x10000", name="low"))
    with pytest.raises(BadInput, match=r"lies at 0x48000000; the machine's"):
        linked.prepare("odd", build(folder, marked(), START, at="0x48000000", name="high"))
    content = program.read_bytes()
    program.write_bytes(content[:24] + struct.pack("<I", 0x47000000) + content[28:])
    with pytest.raises(BadInput, match=r"starts at 0x47000000, where nothing of it lies"):
        linked.prepare("odd", program)


@pytest.mark.guest  # the compiler for FreeRTOS, which `make test` installs
def test_damaged_images_end_in_a_line_or_are_read(program: Path) -> None:
    content, drawn = program.read_bytes(), random.Random(40)  # noqa: S311 - no secret
    headers = [*range(64), *range(len(content) - 40 * 12, len(content))]
    for _ in range(2_000):
        damaged = bytearray(content)
        for _ in range(drawn.randint(1, 4)):
            damaged[drawn.choice(headers) if drawn.random() < 0.7 else drawn.randrange(len(content))] = drawn.choice(
                (0, 1, 0x7F, 0x80, 0xFF, drawn.randrange(256))
            )
        try:
            linked.looked_at("odd", bytes(damaged), lambda _: program)
        except BadInput as error:
            assert str(error).isprintable()


@pytest.mark.guest  # the compiler for FreeRTOS, which `make test` installs
def test_what_a_mark_does_not_tell_is_nothing(program: Path) -> None:
    told = linked.prepare("odd", build(program.parent, marked("RTQUAL_NOT_TOLD"), START)).sizes
    assert not {"licence", "usb", "wifi", "protection"} & set(told)


def _of_sections(content: bytes, number: int) -> bytes:
    """With so many of them, all alike, at the program's end."""
    at = len(content) + -len(content) % 4
    names = struct.pack("<10I", 0, 3, 2, 0, at + 40 * number, 8, 0, 0, 1, 0)  # of type SHT_STRTAB
    header = content[:32] + struct.pack("<I", at) + content[36:46] + struct.pack("<HHH", 40, number, 1)
    return header + content[52:].ljust(at - 52, b"\0") + names * number + bytes(8)


@pytest.mark.guest  # the compiler for FreeRTOS, which `make test` installs
def test_an_image_has_no_sections_without_end(program: Path) -> None:
    program.write_bytes(_of_sections(program.read_bytes(), 100))
    assert linked.prepare("odd", program).system == NAME


# --- the battery ------------------------------------------------------------------------------------


def test_the_state_of_the_battery_is_the_one_that_images_get() -> None:
    """Where it is not: write what is expected here into target/probe/battery/state.h."""
    assert f'#define RTQUAL_BATTERY "{own_state()}"' in (PROBE / "battery/state.h").read_text()


def test_the_state_is_of_what_is_compiled() -> None:
    sources, name = probe_sources(), "probe/battery/wakeup.c"

    def state(content: bytes) -> str:
        return battery_state({**sources, name: content})

    content = sources[name]
    assert state(content + b"/* more\n * words */\n\n// and more\n") == state(content)
    assert state(content.replace(b"due_ns += ", b"due_ns  +=\n")) == state(content)
    assert state(content.replace(b'"latency"', b'"latency "')) != state(content)
    assert state(content.replace(b'"latency"', b'"lat//ency"')) != state(content)
    assert state(content.replace(b"do\n", b"do;\n")) != state(content)
    assert battery_state({**sources, "probe/rtems/timer.c": b"", "probe/battery/state.h": b""}) == state(content)


@pytest.mark.guest  # the compiler for FreeRTOS, which `make test` installs
def test_images_with_two_batteries_are_not_ranked_together(program: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.elf"
    other.write_bytes(program.read_bytes().replace(own_state().encode(), b"0123456789abcdef"))
    same, strange = f'image = "{program}"', f'image = "{other}"'
    told = r"its image has the battery's state [0-9a-f]{16} in it, others here [0-9a-f]{16}: link it"
    for candidates, refused in (
        ((same, strange), ["b"]),
        ((strange, same), ["b"]),
        ((strange, 'rtos = "freertos"'), ["a"]),
        ((strange, 'package = "linux-image-rt-armmp"'), ["a"]),
        ((same, 'rtos = "freertos"'), []),
        ((strange, strange), []),
    ):
        found = other_batteries([*plan(_mission(tmp_path, candidates), "demo")])
        assert list(found) == refused
        assert all(re.match(told, why) for why in found.values())


def _mission(folder: Path, candidates: Sequence[str]) -> Mission:
    path = folder / "m.toml"
    text = MISSION.format(candidate=candidates[0], plan=PLAN).replace('"freertos"\ntitle', '"a"\ntitle')
    more = "".join(
        f'[[candidate]]\nname = "{name}"\ntitle = "t"\n{one}\n' for name, one in zip("b", candidates[1:], strict=True)
    )
    path.write_text(text.replace("[[scale", more + "[[scale"))
    return load_mission(path)


# --- missions ---------------------------------------------------------------------------------------


@pytest.mark.guest  # the compiler for FreeRTOS, which `make test` installs
def test_a_mission_check_names_what_keeps_an_image_from_running(program: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(MISSION.format(candidate=f'image = "{program}"', plan=PLAN))
    (candidate,) = load_mission(path).candidates
    assert candidate.board == "virtual-arm"
    program.write_bytes(b"no image")
    assert why_not(candidate) == f"image {program} is no linked ELF program (docs/port.md)"


@pytest.mark.guest  # the compiler for FreeRTOS, which `make test` installs
def test_a_mission_may_say_which_system_its_image_is(program: Path) -> None:
    assert linked.prepare("odd", program, "oddity").system == NAME
    with pytest.raises(BadInput, match='is Oddity/2 by its mark, and the mission says rtos = "nuttx": leave that out'):
        linked.prepare("odd", program, "nuttx")


@pytest.mark.parametrize(
    ("candidate", "told"),
    [
        ('rtos = "nuttx"', 'rtos: "nuttx" is not built here: write image = "PATH", what it was linked into'),
        ('package = "linux-image-rt-armmp"\nimage = "x"', "package: cannot stand beside image"),
        ('this-machine = true\nimage = "x"', "cannot stand beside"),
        ('image = "x"\nboot = ["quiet"]', "boot: cannot stand beside image"),
    ],
)
def test_a_mission_that_names_an_image_wrongly(tmp_path: Path, candidate: str, told: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(MISSION.format(candidate=candidate, plan=PLAN))
    with pytest.raises(BadInput) as caught:
        load_mission(path)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


# --- the sources ------------------------------------------------------------------------------------


def test_the_sources_are_written_for_who_makes_a_port(rtqual: Run, tmp_path: Path) -> None:
    done = rtqual("probe", "--sources", tmp_path / "work")
    assert (done.returncode, done.stderr) == (0, "") and own_state() in done.stdout
    probe = tmp_path / "work/probe"
    for name in ("port.h", "port.md", "rtos/mark.h", "virt/startup.S", "chibios/Makefile", "battery/state.h"):
        assert (probe / name).is_file()
    assert all((probe / one).is_file() for one in (probe / "battery/sources.txt").read_text().split())
    again = rtqual("probe", "--sources", tmp_path / "work")
    assert (again.returncode, again.stderr.count("\n")) == (2, 1) and "is not empty" in again.stderr
    (tmp_path / "file").write_text("")
    for wrong in (tmp_path / "file", tmp_path / "file/below"):
        refused = rtqual("probe", "--sources", wrong)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1) and "cannot be written" in refused.stderr


def test_any_images_stand_beside_the_systems_of_one_board(tmp_path: Path) -> None:
    images = [tmp_path / "My System_2.elf", tmp_path / "zephyr"]
    for image in images:
        image.write_bytes(b"")
    made = subprocess.run([ROOT / "tools/one-board", *images], capture_output=True, text=True, check=True).stdout
    (tmp_path / "m.toml").write_text(made)
    mission = load_mission(tmp_path / "m.toml")
    named = {one.name: one.image for one in mission.candidates}
    assert named == {
        "freertos": None, "armmp-rt": None, "armmp": None, "my-system-2": str(images[0]), "zephyr": str(images[1])
    }  # fmt: skip
