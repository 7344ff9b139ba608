# SPDX-License-Identifier: MIT
"""The kernel of a candidate, Debian's, one that is built here or was built elsewhere, ready to be booted."""

from collections.abc import Callable, Collection, Sequence

from rtqual.base.apt import Package
from rtqual.engine.candidates import debian, given
from rtqual.engine.mission import Candidate, Mission
from rtqual.parts.tailor import candidate as built
from rtqual.parts.tailor.account import Account
from rtqual.protocols.board.system import Kernel


def kernel_of(
    candidate: Candidate,
    mission: Mission,
    tools: Sequence[Package],
    *,
    tell: Callable[[str], None] = lambda _: None,
    programs: Collection[str] = (),
) -> tuple[Kernel, Account | None]:
    """With what instruments of these programs need in its guest; and how it came to be, if it is built here."""
    if candidate.tailor:
        needs, baseline = mission.mission.needs, mission.baseline(candidate)
        return built.prepare(candidate, needs, tools=tools, tell=tell, baseline=baseline, programs=programs)
    if candidate.built:
        tell(f"{candidate.name} ({candidate.built})")
        return given.prepare(candidate, tools=tools, programs=programs), None
    assert candidate.package is not None, "of a kernel"  # noqa: S101
    tell(f"{candidate.name} ({candidate.package})")
    kernel = debian.prepare(
        candidate.name,
        candidate.package,
        preempt=candidate.preempt,
        boot=candidate.boot,
        tools=tools,
        programs=programs,
    )
    return kernel, None
