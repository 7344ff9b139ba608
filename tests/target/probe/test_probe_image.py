# SPDX-License-Identifier: MIT
"""An image of a system that rtqual has no name for, and images that lie: FreeRTOS's own with other words in it."""

import re
import subprocess
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.boards.rtos_board import RtosBoard
from rtqual.engine.candidates import linked, tried
from rtqual.engine.candidates.tried import try_out
from rtqual.protocols.board.system import Rtos
from support.command import Run
from support.freertos import MISSION

PLAN = 'instruments = ["probe-wakeup"]\nparameters.probe-wakeup.iterations = 50'


def tried_out(image: Rtos) -> Rtos:
    return try_out(image, RtosBoard(image))


@pytest.fixture
def strange(image: Rtos, tmp_path: Path) -> Path:
    """A system by another name; as many octets, so that nothing moves."""
    content = image.image.read_bytes()
    assert content.count(b"FreeRTOS V11") == 1 and content.count(b"system=FreeRTOS\n") == 1
    path = tmp_path / "strange.elf"
    path.write_bytes(content.replace(b"FreeRTOS V11", b"Oddities V11").replace(b"system=FreeRTOS", b"system=Oddities"))
    return path


@pytest.mark.guest
def test_a_system_without_a_name_here_is_measured_beside_freertos(rtqual: Run, tmp_path: Path, strange: Path) -> None:
    text = MISSION.format(candidate='rtos = "freertos"', plan=PLAN)
    odd = f'[[candidate]]\nname = "odd"\ntitle = "Oddities"\nimage = "{strange}"\n'
    (tmp_path / "m.toml").write_text(text.replace("[[scale", odd + "[[scale"))
    checked = rtqual("mission", "check", tmp_path / "m.toml")
    assert checked.returncode == 0 and "odd" not in checked.stdout
    done = rtqual("select", tmp_path / "m.toml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    shown = rtqual("show", tmp_path / "out").stdout
    figures = [re.search(rf"^{name} +(\d+) ns", shown, re.MULTILINE) for name in ("freertos", "odd")]
    assert all(figures) and len({figure[1] for figure in figures if figure}) == 1
    told = [(one / "manifest.json").read_text() for one in (tmp_path / "out/records").iterdir()]
    assert sum('"system": "Oddities"' in one for one in told) == sum('"system": "FreeRTOS"' in one for one in told) == 2


@pytest.mark.guest
@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (b"rtqual-probe 1\0", b"rtqual-probo 1\0", r"was tried, and its result: no line 'rtqual-probe 1'"),
        (
            b"V11.2.0, a tick",
            b"V11.2.9, a tick",
            r"says that it is Oddities V11.2.9, .* its mark says Oddities V11.2.0,",
        ),
        (b"1000 us", b"2000 us", "has timers that go by steps of 1000000 ns, and its mark says a tick every 2000 us"),
        (b"opt/rtqual/arguments", b"opt/rtqual/argumentz", "says: rtqual-probe: no such family of benchmarks"),
        (b"wakeup\0", b"woke\x1bp\0", "says: rtqual-probe: no such family of benchmarks: wakeup"),
        (b"end\0", b"eng\0", "was tried, and its result: line"),
        # PSCI's function: the board is not switched off.
        (
            b"\x08\0\0\x84",
            b"\x18\0\0\x84",
            r"hung and was ended at its deadline of 1 s; its last line: end#[0-9a-f]{8} ",
        ),
    ],
)
def test_a_lying_image_is_refused_in_a_line(
    tmp_path: Path, strange: Path, monkeypatch: pytest.MonkeyPatch, before: bytes, after: bytes, told: str
) -> None:
    monkeypatch.setattr(tried, "_DEADLINE_S", 1.0)
    content = strange.read_bytes()
    assert before in content
    strange.write_bytes(content.replace(before, after))
    with pytest.raises(BadInput, match=told) as caught:
        tried_out(linked.prepare("odd", strange))
    assert str(caught.value).startswith("candidate odd: its image ") and str(caught.value).isprintable()


@pytest.mark.guest
def test_an_image_that_prints_what_a_terminal_obeys_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, image = tmp_path / "image.c", tmp_path / "image.elf"
    source.write_text(
        "static void put(const char *text) { while (*text) *(volatile char *)0x09000000 = *text++; }\n"
        'void _start(void) { put("rtqual-probe: \\x1b[31m\\x9b2J no\\n"); for (;;); }\n'
    )
    subprocess.run(["arm-none-eabi-gcc", "-O2", "-nostdlib", "-Ttext=0x40410000", "-o", image, source], check=True)
    monkeypatch.setattr(tried, "_DEADLINE_S", 1.0)
    with pytest.raises(BadInput) as caught:
        tried_out(Rtos("loud", image, "Loud", {}))
    assert str(caught.value).isprintable() and "hung" in str(caught.value)
