# SPDX-License-Identifier: MIT
"""Lists of CPUs as the kernel's command line has them (lib/bitmap.c; kernel/sched/isolation.c for isolcpus=)."""

import re
from collections.abc import Iterable

_MOST = 8192  # the largest NR_CPUS
_ITEM = re.compile(r"(\d{1,4}|N)(?:-(\d{1,4}|N)(?::(\d{1,4})/(\d{1,4}))?)?", re.ASCII)
FLAGS = ("nohz", "domain", "managed_irq")
SINCE_FLAGS, SINCE_MANAGED = (4, 15), (5, 6)


def parse(text: str, last: int | None = None) -> frozenset[int] | None:
    """The CPUs of a list as 1-3,6 or 0-15:2/4; None where it is none. `last`: the highest CPU, for `N` and `all`."""
    if text == "all":
        return None if last is None else frozenset(range(last + 1))
    found: set[int] = set()
    for item in text.split(","):
        match = _ITEM.fullmatch(item.strip())
        if match is None or ("N" in item and last is None):
            return None
        first, end = (last if word == "N" else int(word) for word in (match[1], match[2] or match[1]))
        assert first is not None and end is not None  # noqa: S101 - N was looked at
        used, group = (int(match[3]), int(match[4])) if match[3] else (1, 1)
        if first > end or end >= _MOST or not 0 < used <= group:
            return None
        found |= {cpu for cpu in range(first, end + 1) if (cpu - first) % group < used}
    return frozenset(found)


def flags_and_list(text: str) -> tuple[tuple[str, ...], str]:
    """isolcpus=[flag,]...list"""
    words = text.split(",")
    count = next((n for n, word in enumerate(words) if not re.fullmatch(r"[a-z_]+", word) or word == "all"), len(words))
    return tuple(words[:count]), ",".join(words[count:])


def shown(cpus: Iterable[int]) -> str:
    """As the kernel writes it: 0-2,5."""
    ranges: list[list[int]] = []
    for cpu in sorted(cpus):
        if ranges and cpu == ranges[-1][1] + 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ",".join(str(first) if first == end else f"{first}-{end}" for first, end in ranges)
