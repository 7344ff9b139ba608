# SPDX-License-Identifier: MIT
"""An image is run once before it is measured: a mark may lie, and what an image lacks shows in 20 ms of its time."""

from rtqual.base.errors import BadInput, RunFailed, SystemDied
from rtqual.base.words import clean
from rtqual.engine.instruments.probe.probe_output import ProbeOutput, Status, parse
from rtqual.protocols.board import Board, Command, Job
from rtqual.protocols.board.system import Rtos

_WORDS = ("rtqual-probe", "wakeup", "iterations=10")
_DEADLINE_S = 5.0  # of the host's processor; it takes some 0.2 s
STEP = "timer step"


def try_out(rtos: Rtos, board: Board) -> Rtos:
    """The image, as it is, once its board has run it.

    Raises BadInput that says what it lacks, or what its mark says and the image does not.
    """
    try:
        why = _why_not(rtos, board)
    except SystemDied as error:
        why = f"was tried, and {error}"
    if why:
        raise BadInput(f"candidate {rtos.candidate}: its image {clean(why)[:400]} (docs/port.md)")
    return rtos


def _why_not(rtos: Rtos, board: Board) -> str:
    done = board.run(Job(Command(_WORDS), collect=("result",)), seed=1, timeout_s=_DEADLINE_S)
    if done.stderr:
        return f"was tried, and says: {done.stderr.splitlines()[0]}"
    if "result" not in done.files:
        return "was tried, and switched the board off without a word: its result leaves by the PL011"
    try:
        output = parse(done.files["result"], "its result")
    except RunFailed as error:
        return f"was tried, and {error}"
    return _lie(rtos, output)


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
