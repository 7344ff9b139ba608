# SPDX-License-Identifier: MIT
"""The kernel of a candidate, ready to be booted: each kind of candidates that parts bring prepares its own."""

from collections.abc import Callable, Collection, Mapping, Sequence

from rtqual.base.apt import Package
from rtqual.engine.candidates import debian, given
from rtqual.engine.mission import Candidate, Mission
from rtqual.protocols.board.system import Kernel
from rtqual.protocols.part import keyed

Made = tuple[Kernel, Mapping[str, object]]  # and what annexes keep of how it came to be, by their files


def kernel_of(
    candidate: Candidate,
    mission: Mission,
    tools: Sequence[Package],
    *,
    tell: Callable[[str], None] = lambda _: None,
    programs: Collection[str] = (),
) -> Made:
    """With what instruments of these programs need in its guest. Raises BadInput where no part makes such kernels."""
    prepare = keyed("kernels", candidate.kind.key, f"{candidate.name}: a kernel of {candidate.kind.example}")
    made: Made = prepare(candidate, mission, tools, tell=tell, programs=programs)
    return made


def packaged(
    candidate: Candidate,
    _: Mission,
    tools: Sequence[Package],
    *,
    tell: Callable[[str], None],
    programs: Collection[str],
) -> Made:
    """Debian's own."""
    assert candidate.package is not None, "of its kind"  # noqa: S101
    tell(f"{candidate.name} ({candidate.package})")
    kernel = debian.prepare(
        candidate.name,
        candidate.package,
        preempt=candidate.preempt,
        boot=candidate.boot,
        tools=tools,
        programs=programs,
    )
    return kernel, {}


def built_elsewhere(
    candidate: Candidate,
    _: Mission,
    tools: Sequence[Package],
    *,
    tell: Callable[[str], None],
    programs: Collection[str],
) -> Made:
    """One that a folder holds."""
    tell(f"{candidate.name} ({candidate.built})")
    return given.prepare(candidate, tools=tools, programs=programs), {}
