# SPDX-License-Identifier: MIT
"""What differs between the candidates of a board besides the kernel, so that nobody takes it for the kernel's doing."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rtqual.base.words import clean, count, listed, under
from rtqual.engine.analysis.figure.comparable import HARMLESS
from rtqual.engine.analysis.figure.model import Group, LostRun
from rtqual.protocols.record.schema import MODEL, SEALED, Record

_HASHES = "hashes"  # of a program's files: what a candidate is
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
# Artefacts that take part in how a run comes out, and are no candidate's own.
_MADE = {"qemu": "QEMU", "machine": "emulated machine", "clock": "the emulator's clock", MODEL: "model of memory"}


@dataclass(frozen=True)
class Besides:
    """What a board's candidates have besides their kernels."""

    differs: tuple[str, ...] = ()  # a sentence for each thing that they do not have in common
    alike: tuple[str, ...] = ()  # what was compared, and is the same

    @property
    def text(self) -> str:
        """What of it is the same, so that a reader sees what was looked at; empty of one candidate."""
        if not self.alike:
            return ""
        nothing = "Otherwise alike" if self.differs else "Besides their kernels the records show no difference"
        return f"{nothing}: {listed(list(self.alike))} are the same for all candidates."


def differing(grouped: Mapping[Group, Sequence[Record]], lost: Sequence[LostRun] = ()) -> dict[str, Besides]:
    """Of each board with several candidates. `lost`: runs that gave no record, which are no difference of plans."""
    boards: defaultdict[str, dict[str, list[Record]]] = defaultdict(dict)
    for group, records in grouped.items():
        boards[group.board].setdefault(group.candidate, []).extend(records)
    recorded = {(group, record.inputs.seed) for group, records in grouped.items() for record in records}
    gone = Counter(group for group, seed in {(run.group, run.seed) for run in lost} - recorded if seed is not None)
    return {board: _besides(grouped, board, of, gone) for board, of in boards.items() if len(of) > 1}


def _besides(
    grouped: Mapping[Group, Sequence[Record]],
    board: str,
    candidates: Mapping[str, Sequence[Record]],
    gone: Mapping[Group, int],
) -> Besides:
    differs: list[str] = []
    alike: list[str] = []
    for title, of in _compared(candidates):
        if len({*of.values()}) > 1:
            said = "; ".join(f"{name} {_shown(text)}" for name, text in of.items())
            differs.append(f"{title[0].upper()}{title[1:]}: {said}")
        elif any(of.values()):
            alike.append(title)
    old = [name for name, records in candidates.items() if any(r.manifest.schema_version < SEALED for r in records)]
    if old:
        differs.append(f"Records of version 1, whose problems and clock no hash holds: {listed(old)}")
    shared = len({group.cell for group in grouped if group.board == board}) < sum(g.board == board for g in grouped)
    runs = "runs begun of each cell" if any(group.board == board for group in gone) else "runs of each cell"
    for what, told in (("settings", _settings(grouped, board)), (runs, _runs(grouped, board, gone))):
        differs += told
        alike += [what] if shared and not told else []
    return Besides(tuple(differs), tuple(alike))


def _compared(candidates: Mapping[str, Sequence[Record]]) -> Iterator[tuple[str, dict[str, str]]]:
    """What it is, and what each candidate has of it; of words those that not all have."""
    yield "boot parameters", _own({name: _boot(records) for name, records in candidates.items()})
    for fact, title in _SET.items():
        yield title, {name: _values(records, _fact(fact)) for name, records in candidates.items()}
    for artefact, title in _MADE.items():
        values = {name: _values(records, _artefact(artefact)) for name, records in candidates.items()}
        yield title, _own({name: text.split() for name, text in values.items()})
    programs = set.intersection(*({*_programs(records)} for records in candidates.values()))
    yield (
        "programs that measure and load",
        _own({
            name: [f"{program} {version}" for program, version in _versions(records) if program in programs]
            for name, records in candidates.items()
        }),
    )  # fmt: skip


def _own(words: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Of each candidate those that not all have; what all have where that is the same."""
    if len({tuple(sorted(some)) for some in words.values()}) == 1:
        return {name: " ".join(sorted(some)) for name, some in words.items()}
    common = set.intersection(*(set(some) for some in words.values()))
    return {name: " ".join(word for word in some if word not in common) for name, some in words.items()}


def _boot(records: Sequence[Record]) -> list[str]:
    every = [word for record in records for word in (record.manifest.provenance.kernel_cmdline or "").split()]
    return [word for word in dict.fromkeys(every) if not word.startswith(_OWN)]


def _fact(name: str) -> Callable[[Record], str]:
    return lambda record: record.manifest.provenance.facts.get(name, "") or record.inputs.artefacts.get(name, "")


def _artefact(name: str) -> Callable[[Record], str]:
    return lambda record: record.inputs.artefacts.get(name, "")


def _versions(records: Sequence[Record]) -> list[tuple[str, str]]:
    return list(dict.fromkeys(item for record in records for item in record.manifest.provenance.tools.items()))


def _programs(records: Sequence[Record]) -> list[str]:
    return [program for program, _ in _versions(records)]


def _values(records: Sequence[Record], read: Callable[[Record], str]) -> str:
    return ", ".join(dict.fromkeys(filter(None, map(read, records))))


def _shown(text: str) -> str:
    shown = clean(" ".join(text.split()))
    return (shown if len(shown) <= _LONGEST else shown[: _LONGEST - 3] + "...") or "none of its own"


def _settings(grouped: Mapping[Group, Sequence[Record]], board: str) -> list[str]:
    """What two candidates tell of an instrument's settings, and tell otherwise."""
    cells: defaultdict[tuple[str, str, str, int], dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for group, records in grouped.items():
        if group.board == board:
            cells[group.cell][group.candidate] = records[0].inputs.parameters
    found = []
    for (instrument, load, _, cpus), of in cells.items():
        shared = set.intersection(*({*told} for told in of.values())) - HARMLESS - {_HASHES}
        apart = sorted(name for name in shared if len({repr(told[name]) for told in of.values()}) > 1)
        if apart:
            said = "; ".join(f"{name} {_shown(_settings_text(told, apart))}" for name, told in of.items())
            found.append(f"Settings of {instrument} {under(load)} on {count(cpus, 'CPU')}: {said}")
    return found


def _settings_text(told: Mapping[str, Any], names: Sequence[str]) -> str:
    return ", ".join(f"{name} {told[name]}" for name in names)


def _runs(grouped: Mapping[Group, Sequence[Record]], board: str, gone: Mapping[Group, int]) -> list[str]:
    """Of runs that were made: those that gave no record are told as lost."""
    cells: defaultdict[tuple[str, str, str, int], dict[str, int]] = defaultdict(dict)
    for group, records in grouped.items():
        if group.board == board:
            cells[group.cell][group.candidate] = len(records) + gone.get(group, 0)
    found = []
    for (instrument, load, _, cpus), runs in cells.items():
        if len({*runs.values()}) > 1:
            told = listed([f"{name} {count(n, 'run')}" for name, n in runs.items()])
            found.append(f"Runs of {instrument} {under(load)} on {count(cpus, 'CPU')}: {told}")
    return found
