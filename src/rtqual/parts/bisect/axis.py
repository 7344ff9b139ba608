# SPDX-License-Identifier: MIT
"""The way from a good candidate to a bad one: changes in an order, and the candidate that some of them make."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rtqual.base import unlinked
from rtqual.base.architecture import Architecture
from rtqual.base.errors import BadInput
from rtqual.engine.mission import Candidate, Tailor
from rtqual.parts.bisect.ends import Ends
from rtqual.protocols.part import keyed

_CONFIGS = "configs"


@dataclass(frozen=True)
class AxisParameter:
    """A kernel parameter that the ends have differently, every time that they give it; empty where one has none."""

    before: tuple[str, ...]
    after: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.after) or f"without {' '.join(self.before)}"


class MakesSteps(Protocol):
    """What another part makes of a tree and two configurations."""

    settings: tuple[Any, ...]

    def config(self, some: Iterable[Any]) -> str:
        """Return the configuration that has these settings."""

    def built(self, name: str, config: Path) -> Tailor:
        """Build the kernel of a configuration. Raises RunFailed where it does not build."""


class Packages:
    """Kernels' packages, one after another: a step has the kernel after so many of them."""

    chain, builds = True, False

    def __init__(self, ends: Ends) -> None:
        good, bad = ends.good.candidate, ends.bad.candidate
        if good.package is None or bad.package is None:
            raise BadInput(f"{good.name} and {bad.name}: not both are packages: name the kernels' tree with --source")
        if ends.good.parameters != ends.bad.parameters:
            raise BadInput(
                f"{good.name} and {bad.name}: other packages and other kernel parameters: measure a third candidate "
                "that has the one's package and the other's parameters, and bisect twice"
            )
        self._good = good
        self.packages = (good.package, *ends.asked.through, bad.package)
        if len(set(self.packages)) != len(self.packages):
            raise BadInput("--through: names a package twice, or one of the ends")
        self.changes: tuple[str, ...] = self.packages[1:]

    def candidate(self, some: frozenset[int]) -> Candidate:
        return self._good.model_copy(update={"name": f"step-{len(some)}", "package": self.packages[len(some)]})


class SettingsAxis:
    """Kernel parameters, and settings of the configuration where there is a tree: a step has any of them."""

    chain = False

    def __init__(self, ends: Ends, folder: Path, work: Path, tell: Callable[[str], None]) -> None:
        """`folder`: for the configurations of the steps; `work`: for as long as it is used."""
        good, bad, source = ends.good.candidate, ends.bad.candidate, _source(ends)
        self._good, self._folder = ends.good, folder
        self._steps: MakesSteps | None = None
        changes: list[Any] = [*parameters_between(ends.good.parameters, ends.bad.parameters)]
        if source:
            steps = keyed("steps", "settings", f"{good.name} and {bad.name}: kernels between two configurations")
            self._steps = steps(source, _architecture(ends), (ends.good.config, ends.bad.config), work, tell)
            changes += self._steps.settings
        if not changes:
            raise BadInput(f"{good.name} and {bad.name}: the same kernel with the same parameters: nothing to bisect")
        self._changes = tuple(changes)
        self.changes = tuple(map(str, changes))
        self.builds = self._steps is not None

    def candidate(self, some: frozenset[int]) -> Candidate:
        """Raises RunFailed where its kernel does not build."""
        chosen = [self._changes[at] for at in sorted(some)]
        parameters = [item for item in chosen if isinstance(item, AxisParameter)]
        update: dict[str, object] = {"preempt": None, "boot": with_parameters(self._good.parameters, parameters)}
        if self._steps is None:
            named = _digest(map(str, parameters))
            return self._good.candidate.model_copy(update={**update, "name": f"step-{named}"})
        text = self._steps.config([item for item in chosen if not isinstance(item, AxisParameter)])
        named = _digest([text, *map(str, parameters)])
        name = f"{_CONFIGS}/{_digest([text])}.config"
        unlinked.write(self._folder, name, text.encode())
        tailor = self._steps.built(f"step-{named}", (self._folder / name).absolute())
        root = self._good.candidate.root
        return Candidate(name=f"step-{named}", title="A step", tailor=tailor, boot=update["boot"], root=root)


def axis_of(ends: Ends, folder: Path, work: Path, tell: Callable[[str], None]) -> Packages | SettingsAxis:
    """Raises BadInput where there is no way from the one to the other, saying what to add."""
    if ends.asked.source and ends.asked.through:
        raise BadInput("--source and --through: settings of one tree, or one package after another: give one")
    candidate, other = ends.good.candidate, ends.bad.candidate
    if candidate.root != other.root:
        raise BadInput(
            f"{candidate.name} and {other.name}: measured in other roots: {candidate.root or 'none'}, "
            f"{other.root or 'none'}"
        )
    if ends.asked.through or (candidate.package != other.package and not ends.asked.source):
        return Packages(ends)
    return SettingsAxis(ends, folder, work, tell)


def _source(ends: Ends) -> str:
    """The tree that both kernels can be built from; none where they are the same kernel."""
    if ends.asked.source:
        path = Path(ends.asked.source)
        return str(path.absolute()) if path.is_dir() or "/" in ends.asked.source else ends.asked.source
    good, bad = ends.good.candidate, ends.bad.candidate
    named = f"{good.name} and {bad.name}"
    for candidate in (good, bad):
        if candidate.tailor and "/" in candidate.tailor.source:
            # A campaign's folder may be a stranger's, and a tree's makefiles run as the user: its word is not enough.
            raise BadInput(
                f"{named}: the campaign says that {candidate.name} was built from the tree {candidate.tailor.source}: "
                "name it with --source where it is yours"
            )
    if good.tailor is None or bad.tailor is None or ends.good.config == ends.bad.config:
        if ends.good.kernels != ends.bad.kernels:
            raise BadInput(
                f"{named}: measured with other kernels: measure candidates whose packages name a version, or name with "
                "--source the tree that both can be built from"
            )
        return ""
    if (good.tailor.source, good.tailor.patches) != (
        bad.tailor.source,
        bad.tailor.patches,
    ) or good.tailor.patches:
        raise BadInput(f"{named}: built from other sources: name one tree for both with --source")
    return good.tailor.source


def _architecture(ends: Ends) -> Architecture:
    architecture, other = ends.good.candidate.architecture, ends.bad.candidate.architecture
    if architecture is None or architecture != other:
        raise BadInput(f"{ends.good.candidate.name} and {ends.bad.candidate.name}: kernels for other processors")
    return architecture


def parameters_between(good: Sequence[str], bad: Sequence[str]) -> list[AxisParameter]:
    table, other = _by_name(good), _by_name(bad)
    names = [name for name in {**table, **other} if table.get(name) != other.get(name)]
    return [AxisParameter(table.get(name, ()), other.get(name, ())) for name in names]


def with_parameters(good: Sequence[str], changed: Sequence[AxisParameter]) -> tuple[str, ...]:
    gone = {text for parameter in changed for text in parameter.before}
    return (*(text for text in good if text not in gone), *(text for parameter in changed for text in parameter.after))


def _by_name(parameters: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """In the kernel's eyes: `console` may come twice, and `-` is `_`."""
    found: dict[str, tuple[str, ...]] = {}
    for text in parameters:
        name = text.partition("=")[0].replace("-", "_")
        found[name] = (*found.get(name, ()), text)
    return found


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]
