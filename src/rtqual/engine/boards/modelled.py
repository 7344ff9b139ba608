# SPDX-License-Identifier: MIT
"""Models of a board's memory, which the plugin memory.c charges to the instruction clock (docs/memory.md).

A model is a file below models/, its numbers each with where they come from. PARALLEL has none: its CPUs run side by
side, and memory costs nothing.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from rtqual.base.cache import sha256_file
from rtqual.base.words import whole

PARALLEL = "parallel"
PLUGIN, LOG = "memory plugin", "memory"  # an artefact; the file with what went on
FACTS = "memory_"  # begins the names of a run's facts
BUSY = FACTS + "dram_busy"
NS_AN_INSTRUCTION = 1  # as QEMU counts where a model is: -icount shift=0
_FOLDER = Path(__file__).parent / "models"
_TICKS = 960  # of a ns, and
_WHOLE = 256  # of a share: the plugin counts in whole numbers (target/observers/caches.h)
_LINE_B = 64


class _Figure(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    value: float = Field(alias="is", ge=0)
    source: str = Field(alias="from", min_length=1)


class _Numbers(BaseModel):
    """A file: sizes in KiB, times in ns, shares of 1."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    title: str
    instruction_ns: _Figure
    l1i_kib: _Figure
    l1i_ways: _Figure
    l1d_kib: _Figure
    l1d_ways: _Figure
    l2_kib: _Figure
    l2_ways: _Figure
    l2_ns: _Figure
    dram_ns: _Figure
    line_ns: _Figure
    hidden: _Figure
    stores_pay: _Figure
    next_line_pays: _Figure

    def _sets(self, level: str) -> int:
        ways = int(getattr(self, f"{level}_ways").value)
        return int(getattr(self, f"{level}_kib").value) * 1024 // _LINE_B // ways

    @property
    def told(self) -> dict[str, int]:
        """The plugin's keys."""
        geometry = {
            f"{level}_{key}": number
            for level in ("l1i", "l1d", "l2")
            for key, number in (("sets", self._sets(level)), ("ways", int(getattr(self, f"{level}_ways").value)))
        }
        times = {"l2": self.l2_ns, "dram": self.dram_ns, "line": self.line_ns, "insn": self.instruction_ns}
        shares = {
            "load_share": 1 - self.hidden.value,
            "store_share": self.stores_pay.value,
            "next_line_share": self.next_line_pays.value,
        }
        return {
            **geometry,
            **{key: round(figure.value * _TICKS) for key, figure in times.items()},
            **{key: round(share * _WHOLE) for key, share in shares.items()},
        }


@dataclass(frozen=True)
class Model:
    """A model by its name."""

    name: str

    @property
    def _file(self) -> Path | None:
        return None if self.name == PARALLEL else _FOLDER / f"{self.name}.toml"

    @cached_property
    def _numbers(self) -> _Numbers | None:
        return _Numbers.model_validate(tomllib.loads(self._file.read_text())) if self._file else None

    @property
    def title(self) -> str:
        return self._numbers.title if self._numbers else "CPUs side by side, and memory that costs nothing"

    @property
    def sha256(self) -> str:
        """Of the file; that there is none has a name."""
        return sha256_file(self._file) if self._file else PARALLEL

    @property
    def told(self) -> dict[str, int]:
        """The plugin's keys."""
        return self._numbers.told if self._numbers else {"insn": NS_AN_INSTRUCTION * _TICKS}

    def facts(self, log: str) -> dict[str, str]:
        """What the plugin told of a run."""
        pairs = (line.split(" ") for line in log.splitlines())
        counted = {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and whole(pair[1]) is not None}
        facts = {FACTS + name: str(value) for name, value in counted.items()}
        if self._numbers and counted.get("awake_ns"):
            busy_ns = counted["dram_lines"] * self._numbers.line_ns.value
            facts[BUSY] = f"{busy_ns / counted['awake_ns']:.4f}"
        return facts


@cache
def models() -> Mapping[str, Model]:
    """All there are, by their names."""
    names = sorted(file.stem for file in _FOLDER.glob("*.toml"))
    return {name: Model(name) for name in (*names, PARALLEL)}
