# SPDX-License-Identifier: MIT
"""Procedures from their files, checked against the program's dictionary; or one line on what is wrong."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from rtqual.engine.dialogue.dialogue_script import compiled, silent
from rtqual.engine.dialogue.language import Language
from rtqual.engine.dialogue.model import Dialogue
from rtqual.engine.mission.explain import Problem, suggest
from rtqual.engine.procedure.described import Wanted
from rtqual.engine.procedure.procedure_files import checked, files_of
from rtqual.protocols.dictionary import AnyDictionary


def load_procedure(path: Path, language: Language) -> Dialogue:
    """Raises BadInput, one line: `FILE:LINE: key: what is wrong; what is allowed`."""
    procedure = checked(path, Dialogue, lambda procedure: problems(procedure, language)).named(path.stem)
    compiled(procedure, language, str(path))
    return procedure


def load_procedures(folder: Path, language: Language) -> tuple[Dialogue, ...]:
    """All of a folder, by name. Raises BadInput for the first that is wrong."""
    return tuple(load_procedure(path, language) for path in files_of(folder))


def problems(procedure: Dialogue, language: Language) -> Iterator[Problem]:
    """What only the dictionary knows: names that are none, answers that the program never gives."""
    commands, reports = language.dictionary.commands, language.dictionary.reports
    for number, step in enumerate(procedure.steps):
        at = ("step", number)
        if step.send and step.send not in commands:
            yield Problem((*at, "send"), f"there is no command {step.send!r:.80}; {suggest(step.send, commands)}")
        for key in ("expect", "forbid", "is"):
            for place, match in enumerate(getattr(step, "is_" if key == "is" else key)):
                if match.report and match.report not in reports:
                    message = f"there is no report {match.report!r:.80}; {suggest(match.report, reports)}"
                    yield Problem((*at, key, place, "report"), message)
                for why in _never_met(match.report, match.values, language.dictionary) if match.report else ():
                    yield Problem((*at, key, place, "values"), f"{match.report} {why}")
                event = None if key == "is" else match.event
                if event and not any(row.name for row in language.rows) and event not in reports:
                    message = f"there is no event {event!r:.80}; {suggest(event, reports)}"
                    yield Problem((*at, key, place, "event"), message)
                for name in ("answer", "since") if key == "expect" else ("answer",) if key == "forbid" else ():
                    stage = getattr(match, name)
                    if stage and stage not in language.told:
                        message = f"no row of meanings says {str(stage)!r}: this program has no word for it"
                        yield Problem((*at, key, place, name), message)
    for number in silent(procedure, language):
        message = "has no answer that must come, and asks nothing; write expect, forbid or is"
        yield Problem(("step", number, "send"), message)


def _never_met(report: str, values: Mapping[str, Wanted], dictionary: AnyDictionary) -> Iterator[str]:
    """Why values can be none of a report's: what forbids them would always pass."""
    fields = dictionary.fields(report)
    for name, wanted in values.items():
        labels = dictionary.labels(report, name)
        if fields and name not in fields:
            yield f"has no field {name!r:.80}; {suggest(name, fields)}"
        elif isinstance(wanted, str):
            if labels and wanted not in labels.values():
                yield f"{name}: there is no {wanted!r:.80}; {suggest(wanted, labels.values())}"
        elif isinstance(wanted, int | float) and wanted in labels:
            yield f"{name}: {wanted:g} is told as {labels[int(wanted)]!r:.80}: write that"
