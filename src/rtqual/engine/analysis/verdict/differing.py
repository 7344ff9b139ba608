# SPDX-License-Identifier: MIT
"""What differs between the candidates of a board besides the kernel, so that nobody takes it for the kernel's doing."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from rtqual.base.words import clean, count, listed, under
from rtqual.engine.analysis.figure.model import Group
from rtqual.protocols.record.schema import SEALED, Record

_LONGEST = 160  # characters of what a candidate has, as somebody's kernel wrote it
_OWN = ("rtqual.", "BOOT_IMAGE=", "root=", "initrd=")  # boot parameters that tell where a system lies, not what it does
# Facts of a machine that somebody set, each as a reader knows it.
_SET = {
    "governor": "governor",
    "isolated_cpus": "isolated CPUs",
    "nohz_full_cpus": "CPUs without ticks",
    "rcu_nocbs_cpus": "CPUs without RCU callbacks",
    "idle_states_off": "idle states off",
    "sched_rt_runtime_us": "limit of real-time CPU time",
    "irq_affinity": "CPUs that take interrupts",
    "kernel_threads": "priorities of kernel threads",
    "tuned": "tuning",
}


def differing(grouped: Mapping[Group, Sequence[Record]]) -> dict[str, list[str]]:
    """Board -> a sentence for each thing that its candidates do not have in common."""
    boards: defaultdict[str, dict[str, list[Record]]] = defaultdict(dict)
    for group, records in grouped.items():
        boards[group.board].setdefault(group.candidate, []).extend(records)
    several = {board: candidates for board, candidates in boards.items() if len(candidates) > 1}
    found = {board: [*_of(candidates), *_runs(grouped, board)] for board, candidates in several.items()}
    return {board: sentences for board, sentences in found.items() if sentences}


def _of(candidates: Mapping[str, Sequence[Record]]) -> Iterator[str]:
    words = {name: _boot(records) for name, records in candidates.items()}
    common = set.intersection(*(set(some) for some in words.values()))
    own = {name: " ".join(word for word in some if word not in common) for name, some in words.items()}
    yield from _sentence("Boot parameters", own)
    for fact, title in _SET.items():
        values = {name: _values(records, _fact(fact)) for name, records in candidates.items()}
        yield from _sentence(title[0].upper() + title[1:], values)
    old = [name for name, records in candidates.items() if any(r.manifest.schema_version < SEALED for r in records)]
    if old:
        yield f"Records of version 1, whose problems and clock no hash holds: {listed(old)}"


def _boot(records: Sequence[Record]) -> list[str]:
    every = [word for record in records for word in (record.manifest.provenance.kernel_cmdline or "").split()]
    return [word for word in dict.fromkeys(every) if not word.startswith(_OWN)]


def _fact(name: str) -> Callable[[Record], str]:
    return lambda record: record.manifest.provenance.facts.get(name, "") or record.inputs.artefacts.get(name, "")


def _values(records: Sequence[Record], read: Callable[[Record], str]) -> str:
    return ", ".join(dict.fromkeys(filter(None, map(read, records))))


def _sentence(what: str, of: Mapping[str, str]) -> Iterator[str]:
    if len({*of.values()}) > 1:
        yield f"{what}: {'; '.join(f'{name} {_shown(text)}' for name, text in of.items())}"


def _shown(text: str) -> str:
    shown = clean(" ".join(text.split()))
    return (shown if len(shown) <= _LONGEST else shown[: _LONGEST - 3] + "...") or "none of its own"


def _runs(grouped: Mapping[Group, Sequence[Record]], board: str) -> Iterator[str]:
    cells: defaultdict[tuple[str, str, str, int], dict[str, int]] = defaultdict(dict)
    for group, records in grouped.items():
        if group.board == board:
            cells[group.cell][group.candidate] = len(records)
    for (instrument, load, _, cpus), runs in cells.items():
        if len({*runs.values()}) > 1:
            told = listed([f"{name} {count(n, 'run')}" for name, n in runs.items()])
            yield f"Runs of {instrument} {under(load)} on {count(cpus, 'CPU')}: {told}"
