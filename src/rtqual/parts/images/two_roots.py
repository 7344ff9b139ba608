# SPDX-License-Identifier: MIT
"""One kernel under two root systems, Debian's and the minimal one: what uninstalling software gains, measured.

The AAReST study's stage "uninstalled software". Both images are booted on the same machine; their kernels are the same
bytes, so what differs is the root.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from rtqual.base.errors import RunFailed
from rtqual.parts.images.assembly import FLAVOURS, Image, Request, build
from rtqual.parts.images.image_trial import Booted, boot


@dataclass(frozen=True)
class MeasuredImage:
    """An image, and its report after booting (None: not booted)."""

    image: Image
    booted: Booted | None

    def figures(self) -> dict[str, tuple[float, str]]:
        """Every figure with its unit. A size has one value, whoever builds the image. A figure of a boot is one sample,
        without an interval: a disk, which answers in the host's time, may change it a little.
        """
        image, up = self.image, self.booted
        sizes: dict[str, tuple[float, str]] = {
            "image": (image.image_b, "B"),
            "installed": (image.installed_b, "B"),
            "root": (image.root.content_b, "B"),
            "root files": (image.root.files, "1"),
            "kernel": (image.kernel_b, "B"),
            "initrd": (image.initrd_b, "B"),
            "modules": (image.modules.content_b, "B"),
            "module files": (image.modules.files, "1"),
            "packages": (image.packages, "1"),
        }
        if up:
            sizes["RAM in use after boot"] = (up.ram_used_b, "B")
            sizes["processes after boot"] = (up.processes, "1")
            if image.form == "initramfs":  # otherwise it is not counted by the instruction clock
                sizes["guest time until up"] = (up.uptime_s, "s")
        return sizes


def two_roots(request: Request, folder: Path, tell: Callable[[str], None] = lambda _: None) -> dict[str, MeasuredImage]:
    """Build and boot both flavours of `request` in `folder`, by flavour. Raises RunFailed where one does not boot."""
    found: dict[str, MeasuredImage] = {}
    for flavour in FLAVOURS:
        made = build(replace(request, flavour=flavour), folder / f"{flavour}.img", tell)
        tell(f"booting the {flavour} image")
        found[flavour] = MeasuredImage(made, boot(made))
    releases = {measured.booted.release for measured in found.values() if measured.booted}
    if len(releases) != 1:
        raise RunFailed(f"the two images ran different kernels: {', '.join(sorted(releases))}")
    return found
