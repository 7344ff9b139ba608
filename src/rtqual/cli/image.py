# SPDX-License-Identifier: MIT
"""`rtqual image`."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from rtqual.cli.app import LITERAL, Json, print_json, tell
from rtqual.mission import load_mission


def image(
    mission: Path,
    /,
    *,
    kernel: str,
    out: Path,
    flavour: Literal["minimal", "debian", "both"] = "minimal",
    architecture: Literal["amd64", "arm64"] = "amd64",
    form: Literal["disk", "initramfs"] = "disk",
    package: tuple[str, ...] = (),
    module: tuple[str, ...] = (),
    overlay: Path | None = None,
    firmware: Path | None = None,
    boot: Annotated[bool, Parameter(negative="")] = False,
    as_json: Json = False,
) -> int:
    """Make a system image for a flight disk, with a list of what is inside (docs/image.md).

    Parameters
    ----------
    mission
        The mission file; its needs say which drivers and packages go in.
    kernel
        A candidate of the mission, or a Debian package of a kernel.
    out
        The image's file; with --flavour both, the folder of the two.
    flavour
        The root: busybox only, Debian, or both of them, booted and compared.
    architecture
        arm64 is laid out for the Raspberry Pi 3 and 4.
    form
        A disk with a boot partition and a root, or an initial RAM file system alone.
    package
        A further Debian package; may be repeated.
    module
        A further kernel module, loaded at boot; may be repeated.
    overlay
        A folder whose files are laid over the root: flight software, keys.
    firmware
        The Raspberry Pi's: a folder, or Debian's package raspi-firmware.
    boot
        Boot the image in QEMU and say how much memory it takes.
    """
    from rtqual.image import comparison, trial  # noqa: PLC0415
    from rtqual.image.request import request_for  # noqa: PLC0415
    from rtqual.image.system import build  # noqa: PLC0415
    from rtqual.terminal.image import as_dict, print_images  # noqa: PLC0415

    request = request_for(
        load_mission(mission),
        kernel,
        architecture=architecture,
        flavour="minimal" if flavour == "both" else flavour,
        form=form,
        packages=package,
        modules=module,
        overlay=overlay,
        firmware=firmware,
    )
    if flavour == "both":
        measured = comparison.two_roots(request, out, tell)
    else:
        made = build(request, out, tell)
        measured = {flavour: comparison.Measured(made, trial.boot(made) if boot else None)}
    if as_json:
        print_json(as_dict(measured))
    else:
        print_images(LITERAL, measured)
    return 0
