# SPDX-License-Identifier: MIT
"""An image is run once before it is measured: a mark may lie, and what an image lacks shows in 20 ms of its time."""

from dataclasses import replace

from rtqual.base.errors import BadInput, RunFailed, SystemDied
from rtqual.base.words import clean
from rtqual.engine.instruments.probe.families import LOADED, lower_threads_percent
from rtqual.engine.instruments.probe.probe_output import ProbeOutput, Status, parse
from rtqual.protocols.board import Board, Command, Job
from rtqual.protocols.board.system import Rtos

_WORDS = ("rtqual-probe", "wakeup", "iterations=10")
_LOADED = ("rtqual-probe", LOADED, "iterations=1")
_DEADLINE_S = 5.0  # of the host's processor; it takes some 0.2 s
_ENDS_S = 3.0  # likewise; where it ends it takes some 0.4 s
STEP = "timer step"


def try_out(rtos: Rtos, board: Board) -> Rtos:
    """The image, once its board has run it, with what that showed.

    Raises BadInput that says what it lacks, or what its mark says and the image does not.
    """
    try:
        found = _tried(rtos, board)
    except SystemDied as error:
        found = f"was tried, and {error}"
    if isinstance(found, str):
        raise BadInput(f"candidate {rtos.candidate}: its image {clean(found)[:400]} (docs/port.md)")
    return found


def _tried(rtos: Rtos, board: Board) -> Rtos | str:
    """The image, or why it cannot be measured."""
    done = board.run(Job(Command(_WORDS), collect=("result",)), seed=1, timeout_s=_DEADLINE_S)
    if done.stderr:
        return f"was tried, and says: {done.stderr.splitlines()[0]}"
    if "result" not in done.files:
        return "was tried, and switched the board off without a word: its result leaves by the PL011"
    try:
        output = parse(done.files["result"], "its result")
    except RunFailed as error:
        return f"was tried, and {error}"
    return _lie(rtos, output) or replace(rtos, starves=lower_threads_percent(output) < 1 and not _ends(board))


def _ends(board: Board) -> bool:
    """Whether the battery's threads that work end, where a thread that sleeps leaves nothing to those of lower
    priority: with some steps of the timer it leaves them enough."""
    try:
        board.run(Job(Command(_LOADED), collect=("result",)), seed=1, timeout_s=_ENDS_S)
    except SystemDied:
        return False
    return True


def _lie(rtos: Rtos, output: ProbeOutput) -> str:
    if output.system != rtos.system:
        return f"says that it is {output.system}, and its mark says {rtos.system}: RTQUAL_MARK says both"
    first = next(iter(output.benchmarks), None)
    if first is None or output.family != _WORDS[1] or first.status is not Status.OK:
        return f"does not measure {_WORDS[1]}: {first.why if first else 'it has no benchmark'}"
    step_ns, _ = first.facts.get(STEP, (0, ""))
    least_ns, most_ns = rtos.steps_ns
    if not least_ns <= step_ns <= most_ns:
        return f"has timers that go by steps of {step_ns} ns, and its mark says {rtos.system.rpartition(', ')[2]}"
    return ""
