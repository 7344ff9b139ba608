# SPDX-License-Identifier: MIT
"""`rtqual explain` of an image of any system, by its symbols and its vectors alone."""

import re
import subprocess
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from rtqual.base.errors import BadInput
from rtqual.engine.boards.rtos_board import RtosBoard
from rtqual.engine.candidates import linked, rtos
from rtqual.engine.instruments.probe.families import PROBES, ProbeParameters
from rtqual.parts.explain.image import of_image
from rtqual.parts.explain.processor import FREERTOS
from rtqual.parts.explain.sections import Placed, SwitchedOff
from rtqual.parts.explain.stage import Asked, Explained, explain
from rtqual.parts.explain.timeline import TimeKind
from rtqual.parts.explain.words import print_explained
from support.late_guest import Run, recorded

WAKEUP = next(probe for probe in PROBES if probe.family == "wakeup")


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """FreeRTOS's octets, of which no symbol says that it is FreeRTOS."""
    path = tmp_path_factory.mktemp("strange") / "strange.elf"
    path.write_bytes(rtos.prepare("freertos").image.read_bytes().replace(b"\0pxCurrentTCB\0", b"\0somebodyRuns\0"))
    return path


@pytest.mark.guest
def test_a_system_without_a_name_here_is_told_to_the_function(strange: Path, tmp_path: Path) -> None:
    parameters = ProbeParameters(iterations=100)
    board = RtosBoard(linked.prepare("strange", strange))
    record = recorded(Run(board, "virtual-arm", WAKEUP, parameters, WAKEUP.job(parameters, cpus=1, seed=1)), tmp_path)
    (told,), again = (explain({record: Asked(worst=1)}) for _ in range(2))
    assert again == [told] and told.samples == 100
    (line,) = told.timelines
    assert line.parts[0].kind == TimeKind.DELIVERY and line.parts[1].kind == TimeKind.INTERRUPT
    assert {part.kind for part in line.parts[2:]} <= {TimeKind.SYSTEM, TimeKind.RETURN}
    assert line.parts[-1].kind == TimeKind.RETURN
    assert sum(part.duration_ns for part in line.parts) == line.sample.value_ns
    assert line.named == 1.0
    handler = line.parts[1]
    assert (handler.entry, handler.thread) == ("FreeRTOS_IRQ_Handler", "")
    assert {"FreeRTOS_Tick_Handler", "xTaskIncrementTick"} <= {*handler.chain}


def test_a_section_of_nobody_is_told_by_its_functions() -> None:
    section = SwitchedOff("interrupts off", 0, 5_618, "", 0, 0)
    told = Explained("a", Path("a"), "image", "none", 1, 1, 1, (), (), (Placed(section, ("handles", "tick")),), 1)
    console = Console(width=120, file=StringIO())
    print_explained(console, [told])
    assert isinstance(console.file, StringIO) and re.search(
        r"5,618 ns +interrupts off +tick < handles", console.file.getvalue()
    )


def program(folder: Path, vectors: str) -> bytes:
    source, image = folder / "image.S", folder / "image.elf"
    text = f"\t.arm\n\t.balign 32\n\t.global _start\n_start:\n{vectors}\n\t.ltorg\n"
    source.write_text(f"{text}\t.global handles\nhandles:\n\tb\thandles\n\t.type run, %function\nrun:\n\tb run\n")
    command = ["arm-none-eabi-gcc", "-nostdlib", "-Ttext=0x40400000", "-o", str(image), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    return image.read_bytes()


GOES = "\tldr\tpc, =run\n"


@pytest.mark.guest  # the compiler for FreeRTOS, which `make test` installs
@pytest.mark.parametrize("slot", ["\tldr\tpc, =handles\n", "\tb\thandles\n"])
def test_where_interrupts_begin_is_read_from_the_vectors(tmp_path: Path, slot: str) -> None:
    processor, symbols = of_image(program(tmp_path, GOES * 5 + "\tnop\n" + slot + GOES))
    assert dict(processor.entries) == {"handles": "I"} and not processor.threads
    assert "vectors" in [name for _, name in symbols.functions]


@pytest.mark.guest  # the compiler for FreeRTOS, which `make test` installs
@pytest.mark.parametrize("vectors", [GOES * 4 + "\tnop\n" * 4, GOES * 6 + "\tb\t.\n" + GOES, GOES])
def test_without_a_table_of_vectors_a_line_says_so(tmp_path: Path, vectors: str) -> None:
    with pytest.raises(BadInput, match="has no table of vectors"):
        of_image(program(tmp_path, vectors))


@pytest.mark.guest
def test_freertos_says_who_runs_and_a_stripped_image_nothing(strange: Path, tmp_path: Path) -> None:
    image = rtos.prepare("freertos").image
    assert of_image(image.read_bytes())[0] is FREERTOS
    assert of_image(strange.read_bytes())[0] is not FREERTOS
    stripped = tmp_path / "stripped.elf"
    subprocess.run(["arm-none-eabi-strip", str(strange), "-o", str(stripped)], check=True)
    told = re.escape("tells no addresses of its functions: link it with its symbols (docs/port.md)")
    with pytest.raises(BadInput, match=told):
        of_image(stripped.read_bytes())
