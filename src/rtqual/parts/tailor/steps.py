# SPDX-License-Identifier: MIT
"""Kernels between two configurations of one tree, for who looks for the setting that matters."""

from collections.abc import Callable, Iterable
from pathlib import Path

from rtqual.base.architecture import Architecture
from rtqual.engine.mission import Tailor
from rtqual.parts.tailor import tailored
from rtqual.parts.tailor.configure.between import Between, Setting
from rtqual.parts.tailor.configure.rules import removals


class SettingSteps:
    """Each has some of the settings in which the second configuration differs from the first."""

    def __init__(
        self, source: str, architecture: Architecture, configs: tuple[str, str], work: Path, tell: Callable[[str], None]
    ) -> None:
        """`work`: a folder for as long as it is used."""
        self._architecture, self._tell = architecture, tell
        keep = tuple(removal.id for removal in removals())
        self._tailor = Tailor(source=source, architecture=architecture.name, needs=(), keep=keep)
        self._tree = tailored.source_of(self._tailor, architecture)
        tell("the settings in which the two configurations differ")
        self._between = Between(self._tree, *configs, work)
        self.settings: tuple[Setting, ...] = tuple(self._between.settings)

    def config(self, some: Iterable[Setting]) -> str:
        """Return the configuration that has these settings."""
        return self._between.config(some)

    def built(self, name: str, config: Path) -> Tailor:
        """Build the kernel of a configuration. Raises RunFailed where it does not build."""
        tailor = self._tailor.model_copy(update={"start": str(config)})
        # Steps differ by little: each is built from the object files of the one before.
        objects = tailored.kept_objects(self._tree, "-bisect")
        tailored.KernelOrder(name, tailor, (), self._architecture, self._tell).tailored(objects)
        return tailor
