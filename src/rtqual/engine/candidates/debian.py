# SPDX-License-Identifier: MIT
"""Debian's kernels by package name, fetched through apt without installing them."""

from collections.abc import Collection, Sequence

from rtqual.base.apt import Package, fetch
from rtqual.base.architecture import of_kernel
from rtqual.base.errors import BadInput
from rtqual.engine.candidates.carried import carried
from rtqual.engine.candidates.headers import of_debian
from rtqual.engine.candidates.ready import config_of, image_of, make_ready
from rtqual.protocols.board.system import Kernel


def prepare(
    name: str,
    package: str,
    *,
    preempt: str | None,
    boot: Sequence[str],
    tools: Sequence[Package],
    programs: Collection[str] = (),
) -> Kernel:
    """Fetch a kernel and build the guest's file systems for it, with what instruments of these programs need.

    `preempt` selects the boot mode of a kernel with PREEMPT_DYNAMIC (Documentation/admin-guide/kernel-parameters).
    """
    architecture = of_kernel(package)
    kernel = fetch(package, kernel=True, architecture=architecture)
    _, release = image_of(name, kernel)
    if "CONFIG_PREEMPT_DYNAMIC=y" not in config_of(name, kernel, release) and preempt:
        raise BadInput(
            f"candidate {name}: {package} has no PREEMPT_DYNAMIC, so preempt = {preempt!r} would be ignored: remove it"
        )
    return make_ready(
        name,
        kernel,
        boot=(*([f"preempt={preempt}"] if preempt else []), *boot),
        tools=tools,
        architecture=architecture,
        extra=carried(programs, architecture, lambda: of_debian(release, architecture)),
    )
