# SPDX-License-Identifier: MIT
"""Which functions of a kernel were entered, object by object, from the addresses of the code that ran."""

import re
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence

from rtqual.base.errors import RunFailed
from rtqual.parts.tailor.trim.objects import Code

Entered = Mapping[str, frozenset[str]]  # object -> its functions that were entered

_CODE = re.compile(r"^([0-9a-f]{8,16}) [tTwW] (\S+)$", re.MULTILINE | re.ASCII)
_END = re.compile(r"^([0-9a-f]{8,16}) . (?:_etext|_einittext)$", re.MULTILINE | re.ASCII)
_ADDRESS_B = 8


def entered(log: bytes, system_map: str, objects: Mapping[str, Code]) -> Entered:
    """The functions that the addresses in `log` lie in; log: as target/observers/used.c writes it.

    Addresses in loadable modules, which System.map does not know, are left out. The kernel must run where it was
    linked to (nokaslr). Raises RunFailed where nothing of it ran.
    """
    places = sorted((int(address, 16), name) for address, name in _CODE.findall(system_map))
    limit = max((int(address, 16) for address in _END.findall(system_map)), default=0)
    if not places or not limit:
        raise RunFailed("System.map: names no code of a kernel; build the kernel again")
    starts = sorted({address for address, _ in places})
    words = array("Q")
    words.frombytes(log[: len(log) // _ADDRESS_B * _ADDRESS_B])  # QEMU may be killed while it writes
    executed = set(words)
    ran = {starts[bisect_right(starts, number) - 1] for number in executed if starts[0] <= number < limit}
    if not ran:
        raise RunFailed(f"none of {len(executed)} noted addresses lies in the kernel: was it run with nokaslr?")
    copies: dict[str, list[bool]] = defaultdict(list)  # function -> for each of that name, by address: did it run?
    for address, name in places:
        copies[name].append(address in ran)
    return _by_object(copies, objects)


def _by_object(copies: Mapping[str, Sequence[bool]], objects: Mapping[str, Code]) -> Entered:
    """Functions of one name lie in the image in the order in which their objects are linked, where they are in the
    same section. If they are not, and one of them was used, all count as used."""
    holders: dict[str, list[str]] = defaultdict(list)
    for name, code in objects.items():
        for function in code.sections:
            holders[function].append(name)
    found: dict[str, set[str]] = defaultdict(set)
    for function, having in holders.items():
        ran = copies.get(function, ())
        apart = len(ran) == len(having) and len({objects[name].sections[function] for name in having}) == 1
        for number, name in enumerate(having):
            if ran[number] if apart else any(ran):
                found[name].add(function)
    return {name: frozenset(functions) for name, functions in found.items()}
