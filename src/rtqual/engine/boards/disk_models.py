# SPDX-License-Identifier: MIT
"""Models of a virtual board's disks: when the guest's clock says that a request is done (disks.toml, disk.c)."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rtqual.base.cache import sha256_of

PLUGIN = "rtqual-disk"
KNOWN = "7.2."  # disk.c reads what QEMU keeps for itself
_FILE = Path(__file__).with_name("disks.toml")
_TIMES, _SPEEDS = ("read_ns", "write_ns", "flush_ns"), ("read_mb_s", "write_mb_s")
_NS_PER_KIB = 1024 * 1000  # at one MB/s


@dataclass(frozen=True)
class DiskModel:
    """A disk's: times in ns, speeds in MB/s, by the names that the file has."""

    title: str
    figures: Mapping[str, float]

    def told(self, name: str) -> str:
        """The plugin's option."""
        times = [round(self.figures[key]) for key in _TIMES]
        kib_ns = [round(_NS_PER_KIB / self.figures[key]) for key in _SPEEDS]
        return f"disk={name}:{':'.join(map(str, (*times, *kib_ns)))}"


@cache
def disk_models() -> Mapping[str, DiskModel]:
    """Each disk's, by the names that the board has for them."""
    tables = tomllib.loads(_FILE.read_text())
    return {
        name: DiskModel(table["title"], {key: float(table[key]["is"]) for key in (*_TIMES, *_SPEEDS)})
        for name, table in tables.items()
    }


def sha256() -> str:
    """Of what the models say; titles and sources take no part."""
    return sha256_of("\n".join(model.told(name) for name, model in sorted(disk_models().items())).encode())
