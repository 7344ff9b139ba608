# SPDX-License-Identifier: MIT
"""The first page: what is decided, in one table and one plot, what that rests on, and what would change it."""

from collections.abc import Iterator

from rtqual.base.words import count, listed, under
from rtqual.engine.analysis.verdict.judge import ACCEPTED_LINE, INSTRUCTIONS_CAVEAT
from rtqual.engine.analysis.verdict.model import Verdict
from rtqual.engine.mission import PUBLISHED, Requirement
from rtqual.protocols.load.own import own_loads
from rtqual.reports.chapter.distributions import decisive
from rtqual.reports.chapter.measured_with import parameters
from rtqual.reports.chapter.verdicts import gate_matrix
from rtqual.reports.material import Material
from rtqual.reports.page.document import Beside, Block, Paragraph, VerdictBox, bullets
from rtqual.reports.page.text import TIMING_NOTE, VIRTUAL, number, prose

_MOST_BESIDE, _LONG = 2, 18  # candidates whose columns fit in half of the page, and characters of their names
_MOST_ROWS = 9  # requirements on the first page; those that are not simply met come first
_MOST_TURNS = 6  # sentences on what would change it; all of them stand in the conclusion
_MOST_NAMED = 4  # requirements in a sentence
_MOST_OF_SETTINGS = 120  # characters; all stand with the test tools
_MOST = 6  # candidates on the first page; every one stands among the evidence


def decision(material: Material) -> VerdictBox | None:
    answer = material.evidence.answer
    if answer is None:
        return None
    deciding = [verdict for _, verdict in material.evidence.headed[: len(answer.boards)]]
    blocks = [*_goals(material), *(block for verdict in deciding for block in _blocks(material, verdict))]
    return VerdictBox("Decision", answer.fly is not None, prose(answer.headline), tuple(blocks))


def _goals(material: Material) -> Iterator[Block]:
    for goals in material.evidence.goals:
        if goals.places:
            yield Paragraph(prose(f"{goals.title}: {goals.text}"))


def _blocks(material: Material, verdict: Verdict) -> Iterator[Block]:
    accepted = [differ for differ in verdict.differs if differ == ACCEPTED_LINE]
    yield from (Paragraph(f"{name}.") for name in accepted)
    yield from bullets(
        "The candidates differ in more than the kernel",
        (differ for differ in verdict.differs if differ not in accepted),
        "open",
    )
    table = gate_matrix(material, verdict, most=_MOST, rows=_MOST_ROWS)
    plots = decisive(material, verdict)
    narrow = len(verdict.standings) <= _MOST_BESIDE and all(
        len(standing.candidate) <= _LONG for standing in verdict.standings
    )
    beside = plots and narrow
    yield Beside((table,), plots) if plots and beside else table
    rests_on = (*_rests_on(material, verdict), *_needs(material, verdict), *_own_loads(material, verdict))
    said = {note.text for note in table.notes}  # by the marks of its figures
    caveats = (c for c in verdict.caveats if c != INSTRUCTIONS_CAVEAT or TIMING_NOTE[VIRTUAL] not in said)
    yield from bullets("What it rests on", (*rests_on, *caveats))
    turns, more = verdict.would_change[:_MOST_TURNS], verdict.would_change[_MOST_TURNS:]
    yield from bullets("What would change it", (*turns, *([f"{len(more)} more in the conclusion."] if more else ())))
    if plots and not beside:
        yield plots


def _rests_on(material: Material, verdict: Verdict) -> Iterator[str]:
    """The counts behind every measured requirement; candidates and requirements with equal ones share a sentence."""
    told: dict[str, dict[str, None]] = {}
    for requirement in material.mission.requirements:
        counted: dict[str, list[str]] = {}
        for standing in verdict.standings:
            for gate in standing.gates:
                if gate.requirement == requirement.name and gate.measured:
                    samples = f"{number(gate.measured.n)} samples" if requirement.statistic else ""
                    runs = count(gate.measured.runs, "run")
                    counted.setdefault(f"{samples} in {runs}" if samples else runs, []).append(standing.candidate)
        for counts, names in counted.items():
            where = f"{requirement.instrument} {under(requirement.load)} on the {verdict.board} board"
            where += _settings(material, verdict, requirement)
            whose = f"{listed(names)}, {counts}{' each' if len(names) > 1 else ''} of {where}."
            told.setdefault(whose, {})[requirement.name] = None
    for whose, requirements in told.items():
        names = [*requirements]
        yield f"{listed(names) if len(names) <= _MOST_NAMED else count(len(names), 'requirement')}: {whose}"
    if told and material.every_run_ended:
        yield "No run failed or hung."


def _settings(material: Material, verdict: Verdict, requirement: Requirement) -> str:
    """' (cycles = 300, interval = 1 ms, priority = 80)', where a line holds them."""
    records = [record for record in material.of_board(verdict.board) if record.inputs.load == requirement.load]
    found = parameters(material, requirement.instrument, records)
    return f" ({found})" if found != "-" and len(found) <= _MOST_OF_SETTINGS else ""


def _needs(material: Material, verdict: Verdict) -> Iterator[str]:
    """Where the needs come from, which no run shows."""
    if material.mission.mission.needs and verdict.board != PUBLISHED:
        needs = count(len(material.mission.mission.needs), "need")
        yield f"{needs}: read from each kernel's configuration, which says what was built and not that it works."


def _own_loads(material: Material, verdict: Verdict) -> Iterator[str]:
    """What loads are that the mission brings, in its own words."""
    asked = {requirement.load for requirement in material.mission.requirements}
    own = {*own_loads(material.mission.loads)}
    for name in dict.fromkeys(record.inputs.load for record in material.of_board(verdict.board)):
        if name in asked & own:
            yield prose(
                f"The load {name} is the mission's own: {material.load(name)}; its commands stand with the test tools."
            )
