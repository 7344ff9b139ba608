# SPDX-License-Identifier: MIT
"""`rtqual explain` on ARM: FreeRTOS and Debian's kernels."""

from pathlib import Path

import pytest

from rtqual.base.architecture import ARM64, ARMHF, Architecture
from rtqual.engine.boards.machine import why_no_guest
from rtqual.engine.boards.rtos_board import RtosBoard
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.candidates import rtos
from rtqual.engine.candidates.debian import prepare
from rtqual.engine.initramfs.contents import guest_tools
from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST, CyclictestParameters
from rtqual.engine.instruments.probe.families import PROBES, ProbeParameters
from rtqual.parts.explain.stage import Asked, explain
from rtqual.parts.explain.timeline import TimeKind
from rtqual.protocols.board import Machine
from support.late_guest import Run, recorded

WAKEUP = next(one for one in PROBES if one.family == "wakeup")


@pytest.mark.guest
def test_of_freertos_the_tick_is_the_sample(tmp_path: Path) -> None:
    parameters = ProbeParameters(iterations=100)
    run = Run(
        RtosBoard(rtos.prepare("freertos")), "virtual-arm", WAKEUP, parameters, WAKEUP.job(parameters, cpus=1, seed=1)
    )
    record = recorded(run, tmp_path)
    (told,), again = (explain({record: Asked(worst=1)}) for _ in range(2))
    assert again == [told]
    (line,) = told.timelines
    assert [part.kind for part in line.parts] == [
        TimeKind.DELIVERY,
        TimeKind.INTERRUPT,
        TimeKind.SCHEDULING,
        TimeKind.RETURN,
    ]
    assert sum(part.duration_ns for part in line.parts) == line.sample.value_ns
    assert line.named == 1.0
    _, handler, switch, back = line.parts
    assert (handler.entry, handler.thread) == ("FreeRTOS_IRQ_Handler", "IDLE (priority 0)")
    assert "FreeRTOS_Tick_Handler" in handler.chain and "switch_before_exit" in switch.chain
    assert back.thread == "sleeper (priority 4)"


@pytest.mark.parametrize(
    ("package", "architecture", "board", "entry"),
    [
        pytest.param("linux-image-rt-armmp", ARMHF, "virtual-arm", "__irq_", marks=pytest.mark.full),
        pytest.param("linux-image-rt-arm64", ARM64, "virtual-arm64", "el", marks=pytest.mark.manual),
    ],
)
def test_of_linux_on_arm(package: str, architecture: Architecture, board: str, entry: str, tmp_path: Path) -> None:
    """30 and 50 s; where the guest is not in the cache, a boot of 60 and 160 s more."""
    if why := why_no_guest(architecture):
        pytest.skip(why)
    parameters = CyclictestParameters(cycles=60)
    kernel = prepare("", package, preempt=None, boot=(), tools=guest_tools(architecture))
    guest = VirtualBoard(kernel, Machine(), tmp_path / "scratch")
    run = Run(guest, board, CYCLICTEST, parameters, CYCLICTEST.job(parameters, cpus=1, seed=1))
    record = recorded(run, tmp_path)
    (told,), again = (explain({record: Asked(worst=2)}) for _ in range(2))
    assert again == [told]
    for line in told.timelines:
        assert sum(part.duration_ns for part in line.parts) == line.sample.value_ns
        assert line.named >= 0.99
        assert any(part.kind == TimeKind.INTERRUPT and part.entry.startswith(entry) for part in line.parts)
        assert line.parts[-1].thread == "cyclictest (FIFO 80)"
        assert {TimeKind.SCHEDULING, TimeKind.OWN} <= {*line.causes}
