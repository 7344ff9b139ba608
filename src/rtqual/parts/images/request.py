# SPDX-License-Identifier: MIT
"""From a mission and a candidate's name to what an image is made of."""

from pathlib import Path

from rtqual.base.apt import Package, fetch
from rtqual.base.architecture import ARCHITECTURES, ARMHF, Architecture, of_kernel
from rtqual.base.errors import BadInput
from rtqual.engine.mission import Mission
from rtqual.parts.images.assembly import Request
from rtqual.parts.images.known_good import ForBoard
from rtqual.protocols.part import keyed

_ARCHITECTURES = {architecture.name: architecture for architecture in ARCHITECTURES}


def request_for(
    mission: Mission,
    kernel: str,
    *,
    architecture: str,
    flavour: str,
    form: str,
    packages: tuple[str, ...] = (),
    modules: tuple[str, ...] = (),
    overlay: Path | None = None,
    firmware: Path | None = None,
    board: ForBoard | None = None,
) -> Request:
    """`kernel`: a candidate of the mission, or one of Debian's packages by its name."""
    wanted = _ARCHITECTURES[architecture]
    package, parameters = _kernel(mission, kernel, wanted)
    return Request(
        package,
        wanted,
        flavour=flavour,
        form=form,
        needs=mission.mission.needs,
        packages=packages,
        modules=modules,
        parameters=parameters,
        overlay=overlay,
        firmware=firmware,
        board=board,
    )


def _kernel(mission: Mission, name: str, wanted: Architecture) -> tuple[Package, tuple[str, ...]]:
    candidate = next((candidate for candidate in mission.candidates if candidate.name == name), None)
    if candidate is None:
        if not name.startswith("linux-image-"):
            known = ", ".join(candidate.name for candidate in mission.candidates)
            raise BadInput(f"--kernel {name}: no candidate of the mission ({known}), and no package linux-image-...")
        _check(name, name, of_kernel(name), wanted)
        return fetch(name, kernel=True, architecture=wanted), ()
    preempt = (f"preempt={candidate.preempt}",) if candidate.preempt else ()
    parameters = (*preempt, *candidate.boot)
    if candidate.package:
        _check(name, candidate.package, of_kernel(candidate.package), wanted)
        return fetch(candidate.package, kernel=True, architecture=wanted), parameters
    if candidate.tailor and candidate.architecture:
        _check(name, "a kernel built here", candidate.architecture, wanted)
        package_of = keyed("packages", candidate.kind.key, f"--kernel {name}")
        return package_of(candidate, mission), parameters
    raise BadInput(f"--kernel {name}: this candidate is no Linux kernel that an image can carry")


def _check(name: str, what: str, has: Architecture, wanted: Architecture) -> None:
    if has != wanted:
        flavour = "armmp" if wanted == ARMHF else wanted.name
        raise BadInput(
            f"--kernel {name}: {what} is for {has.name}, the image for {wanted.name}: "
            f"name another kernel, as linux-image-rt-{flavour}, or --architecture {has.name}"
        )
