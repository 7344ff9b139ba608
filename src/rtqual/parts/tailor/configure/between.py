# SPDX-License-Identifier: MIT
"""The way from one configuration to another in steps: the settings in which they differ, and a configuration with some
of them changed that the kernel's own program agrees with.

Only what menuconfig asks is a step; what it does not ask follows. What is chosen among others is one step.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.kernel.config import Config, lines_of, parse
from rtqual.parts.tailor.configure.kconfig import Kconfig
from rtqual.parts.tailor.configure.resolve import resolve_wishes
from rtqual.parts.tailor.configure.rules import ASKED, Wish
from rtqual.parts.tailor.configure.start import buildable, start_from, symbol_of
from rtqual.parts.tailor.configure.tree import Tree

_DISTRIBUTED = "CONFIG_DEBUG_INFO_BTF=y"  # as Debian's kernels have it


@dataclass(frozen=True)
class Setting:
    """What menuconfig asks once: a symbol, or those of a choice."""

    before: Mapping[str, str]  # symbol -> y, m, n, a number or a text
    after: Mapping[str, str]

    def __str__(self) -> str:
        left = [name for name, value in self.before.items() if value != "n" and self.after[name] == "n"]
        chosen = [name for name, value in self.after.items() if value != "n"] or left
        was = f" in place of {left[0]}" if left and left[0] not in chosen else ""
        return f"{chosen[0]}={self.after[chosen[0]]}{was}"


class Between:
    """Two configurations in one tree. Raises BadInput where one of them is none."""

    def __init__(self, tree: Tree, before: str, after: str, folder: Path) -> None:
        self.tree, self.folder = tree, folder
        self.kconfig = Kconfig(tree)
        self.texts = [self._completed(name, text) for name, text in (("before", before), ("after", after))]
        first, last = (parse(text, "a configuration") for text in self.texts)
        self.settings = self._settings(first, last)

    def config(self, some: Iterable[Setting]) -> str:
        """The first configuration with these settings as the second has them, and what they need of the tree."""
        wanted = {name: value for setting in some for name, value in setting.after.items()}
        if not wanted:
            return self.texts[0]
        if len(wanted) == sum(len(setting.after) for setting in self.settings):
            return self.texts[1]
        place = self.folder / "step"
        place.mkdir(parents=True, exist_ok=True)
        lines = [line for line in lines_of(self.texts[0]) if symbol_of(line) not in wanted]
        # What only the second asks and has not: a step that is asked it too would have it by its default.
        asked = {*map(symbol_of, lines), *wanted}
        off = [line for line in lines_of(self.texts[1]) if line.endswith(" is not set")]
        lines += [line for line in off if symbol_of(line) not in asked]
        lines += [self._line(name, value) for name, value in wanted.items()]
        start = place / "start"
        start.write_text("\n".join(lines) + "\n")
        switches = {name: value for name, value in wanted.items() if self.kconfig.is_switch(name)}
        completed = start_from(start, self.tree).complete(self.tree, {}, place)
        if any(completed.get(name, "n") != value for name, value in switches.items()):
            wishes = [Wish(name, value, ASKED, "a step on the way") for name, value in switches.items()]
            try:
                resolve_wishes(self.tree, wishes, start=start, removals=(), folder=place)
            except (BadInput, RunFailed):  # two of them cannot stand together: what the kernel's program makes of it
                start_from(start, self.tree).complete(self.tree, {}, place)
        return (place / ".config").read_text()

    def differing(self, text: str) -> int:
        """In how many symbols a configuration differs from the first."""
        config, other = (parse(some, "a configuration") for some in (self.texts[0], text))
        return sum(config.get(name) != other.get(name) for name in {**config, **other} if name in self.kconfig)

    def _completed(self, name: str, text: str) -> str:
        place = self.folder / name
        place.mkdir(parents=True, exist_ok=True)
        start = place / "start"
        start.write_text(buildable(text) if _DISTRIBUTED in text else text)
        start_from(start, self.tree).complete(self.tree, {}, place)
        return (place / ".config").read_text()

    def _settings(self, first: Config, last: Config) -> list[Setting]:
        shown: dict[str, set[str]] = {}
        for name in ("before", "after"):
            self.kconfig.read(self.folder / name / ".config")
            shown[name] = {name for name in self.kconfig if self.kconfig[name].visibility}
        groups: dict[object, list[str]] = {}
        for name in self.kconfig:
            if first.get(name, "n") == last.get(name, "n") or name not in shown["before"] | shown["after"]:
                continue
            if not self.kconfig.is_switch(name) and name not in last:
                continue  # a number or a text that goes with what asked for it
            choice = self.kconfig[name].choice
            groups.setdefault(name if choice is None else choice, []).append(name)
        return [
            Setting({name: first.get(name, "n") for name in names}, {name: last.get(name, "n") for name in names})
            for names in groups.values()
        ]

    def _line(self, name: str, value: str) -> str:
        if value == "n" and self.kconfig.is_switch(name):
            return f"# CONFIG_{name} is not set"
        if self.kconfig.is_text(name):
            escaped = value.replace("\\", "\\\\").replace('"', '\\"')
            return f'CONFIG_{name}="{escaped}"'
        return f"CONFIG_{name}={value}"
