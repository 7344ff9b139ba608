# SPDX-License-Identifier: MIT
"""Parts of samples in words, on a terminal and in a report."""

from collections.abc import Sequence

from rtqual.base.units import format_ns
from rtqual.base.words import clean, share
from rtqual.parts.explain.timeline import Stretch, Timeline

_CALLS = 4  # of a chain, the innermost
_FROM_THE_KERNEL = ("entry_SYSCALL_64_after_hwframe", "do_syscall_64")


def cause(line: Timeline) -> str:
    """The sentence: 'mostly interrupts off, 17.5 us (62 %): blake2s < ... in hackbench'."""
    kind, ns = next(iter(line.causes.items()))
    largest = max(
        (part for part in line.parts if part.kind == kind), key=lambda part: (not part.turn, part.duration_ns)
    )
    turns = f"; {format_ns(line.turns_ns)} of the sample are other CPUs' turns" if line.turns_ns else ""
    return clean(f"mostly {kind}, {format_ns(ns)} ({share(ns, line.sample.value_ns)} of it): {_own(largest)}{turns}")


def described(part: Stretch) -> str:
    return "; ".join(filter(None, [f"{part.turn}; meanwhile {part.kind}" if part.turn else "", _own(part)]))


def _own(part: Stretch) -> str:
    words = []
    if part.thread:
        words.append(f"in {part.thread}" if not part.entry else f"{part.entry} in {part.thread}")
    elif part.entry:
        words.append(part.entry)
    if part.chain:
        words.append(calls(part.chain))
    elif part.user:
        words.append("user space")
    if part.off_at:
        before = f", {format_ns(part.off_before_ns)} before" if part.off_before_ns else ""
        words.append(f"off in {part.off_at}{before}")
    return "; ".join(words)


def calls(chain: Sequence[str]) -> str:
    """The innermost first."""
    shown = [plain(name) for name in chain if name not in _FROM_THE_KERNEL] or chain
    return " < ".join(reversed(shown[-_CALLS:]))


def plain(name: str) -> str:
    """Without what compilers append."""
    function, _, module = name.partition(" ")
    return f"{function.partition('.')[0]} {module}".rstrip()
