# SPDX-License-Identifier: MIT
"""An RTOS image on QEMU's ARM board with the instruction clock.

There is nothing to boot once: the image starts in microseconds, does what its command line says (QEMU's fw_cfg
device), and writes the result to the board's serial port. It has no files, loads or priorities of Linux, so of a job
only the measuring program's words reach it.
"""

import re
import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from rtqual import __version__
from rtqual.base.cache import sha256_file
from rtqual.base.errors import BadInput, RunFailed, SystemDied
from rtqual.base.scratch import scratch
from rtqual.engine.boards.job_programs import Starved, emulator, too_busy, wait
from rtqual.engine.boards.machine import ARM
from rtqual.engine.boards.parts import part
from rtqual.protocols.board import Board, Job, JobOutcome, Left, Machine, Rebuilt, Recorded
from rtqual.protocols.board.system import Rtos

_LEFT_OUT = ("out", "priority")  # of the words: the image has no files, and priorities of its own
_COMPLAINT = re.compile(r"^rtqual-probe: .*\n?", re.MULTILINE)
_END_B = 4096
_MOST_B = 128 << 20  # of a result: eleven octets a sample, and no board here has memory for so many


class RtosBoard(Board):
    """One image. An outcome's command leaves the result in the file `result`. `watch`: as virtual.py's."""

    instruction_clock = True

    def __init__(self, rtos: Rtos, watch: Sequence[str] = ()) -> None:
        self.rtos = rtos
        self._watch = watch
        self._machine = Machine()

    @property
    def where(self) -> str:
        return f"{self.rtos.candidate} on the virtual ARM board"

    def artefacts(self) -> dict[str, str]:
        return {
            "image": sha256_file(self.rtos.image),
            "qemu": ARM.version(),
            "machine": shlex.join(ARM.options(self._machine)),
            "clock": sha256_file(ARM.plugin("rtqual-clock")),
        }

    def run(self, job: Job, *, seed: int, timeout_s: float) -> JobOutcome:  # noqa: ARG002 the words carry it
        words = self._words(job)
        started = time.monotonic()
        with scratch() as folder:
            text = self._emulate(folder, words, timeout_s)
        facts = {"kernel": self.rtos.system, "hypervisor": f"QEMU {ARM.version()}, TCG"}
        took_s = time.monotonic() - started
        return outcome(text, job.collect, facts=facts, wall_s=took_s, command=self._command("result", words))

    def by_hand(self, job: Job) -> tuple[str, ...]:
        return self._command("result", self._words(job))

    def _words(self, job: Job) -> str:
        """The image's command line."""
        program, *words = job.measure.argv
        if program != "rtqual-probe" or job.loads or job.modules or job.setup:
            raise BadInput(
                f"{self.where}: an RTOS image carries only rtqual's probe, and no loads: give it a plan of its own"
            )
        return " ".join(word for word in words if word.partition("=")[0] not in _LEFT_OUT)

    def _command(self, result: str, words: str) -> tuple[str, ...]:
        plugin, result, words, *watch = (
            text.replace(",", ",,") for text in (str(ARM.plugin("rtqual-clock")), result, words, *self._watch)
        )  # in QEMU's options commas part
        return (
            ARM.qemu,
            *ARM.options(self._machine),
            *("-plugin", f"file={plugin}"),
            *(("-plugin", ",".join(watch)) if watch else ()),
            *("-serial", f"file:{result}"),
            *("-kernel", str(self.rtos.image), "-fw_cfg", f"name=opt/rtqual/arguments,string={words}"),
        )

    def _emulate(self, folder: Path, words: str, timeout_s: float) -> str:
        """What came through the serial port."""
        result, complaints = folder / "result", folder / "stderr"
        try:
            with (
                complaints.open("wb") as stderr,
                emulator(self._command(str(result), words), stdout=stderr, stderr=stderr) as process,
            ):
                code = wait(process, timeout_s, lambda: result.exists() and result.stat().st_size > _MOST_B)
        except Starved:
            raise RunFailed(too_busy(self.where, timeout_s)) from None
        except TimeoutError:
            said = _last_line(result)
            raise SystemDied(f"{self.where} hung and was ended at its deadline of {timeout_s:.0f} s; {said}") from None
        except OSError as error:
            raise RunFailed(f"{self.where}: cannot start QEMU: {error}") from None
        if code is None:
            raise SystemDied(f"{self.where} printed more than {_MOST_B >> 20} MiB and was ended; {_last_line(result)}")
        if code:
            words_said = complaints.read_text(errors="replace").strip().splitlines()[-1:] or [f"exit code {code}"]
            raise RunFailed(f"{self.where}: QEMU failed: {words_said[0]}; {_last_line(result)}")
        return _text(result)


def outcome(
    text: str, collect: Sequence[str], *, facts: Mapping[str, str], wall_s: float, command: Sequence[str]
) -> JobOutcome:
    """What came through the serial port, as the outcome of a job that was to leave its result in the file `collect`."""
    complaints = "".join(_COMPLAINT.findall(text))
    output = _COMPLAINT.sub("", text) if complaints else text
    code = 3 if complaints else 0
    return JobOutcome(
        exit_code=code,
        stdout=output,
        stderr=complaints,
        files={name: output for name in collect if output},
        facts={"clocksource": "CNTVCT", "clock_resolution_ns": "1", "cpus": "1", **facts},
        status={"exit": code},
        version=f"rtqual-probe {__version__}",
        threads=(),
        console="",
        wall_s=wall_s,
        command=tuple(command),
    )


def anew(run: Recorded, *, watch: Sequence[str] = ()) -> RtosBoard:
    """The board of a recorded job. Raises BadInput where the image is not here."""
    return RtosBoard(Rtos("its image", part("image", run.artefacts, run.named), "", {}), watch)


def rebuilt(run: Recorded) -> Rebuilt:
    """Raises BadInput where the image is not here."""
    board = anew(run)
    return Rebuilt(board.artefacts(), board.by_hand(run.job))


def again(left: Left) -> JobOutcome:
    text = left.content.decode("latin-1")
    return outcome(text, left.collect, facts=left.facts, wall_s=0.0, command=left.command)


def _text(result: Path) -> str:
    """As bytes came: a damaged one must stay visible to who checks them."""
    return result.read_bytes().decode("latin-1") if result.exists() else ""


def _last_line(result: Path) -> str:
    """Of its end alone: it may be long."""
    with suppress(OSError), result.open("rb") as file:
        file.seek(max(0, result.stat().st_size - _END_B))
        if lines := file.read(_END_B).decode("latin-1").strip().splitlines():
            return f"its last line: {lines[-1][:160]}"
    return "it printed nothing"
