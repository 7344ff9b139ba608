# SPDX-License-Identifier: MIT
"""rtqual's own flight program as the judge knows it: the packets of flight/packets.toml, its link and its files."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rtqual.base.errors import BadInput
from rtqual.engine.dialogue.hearing import judge as judge_any
from rtqual.engine.dialogue.language import Got, Language
from rtqual.engine.mission.language_table import Framing, Spoken
from rtqual.engine.mission.verify_table import Verify
from rtqual.engine.procedure.judging import Anchor, Judgement
from rtqual.engine.procedure.line import Line
from rtqual.engine.procedure.log import Entry, What
from rtqual.protocols.dictionary import Encoded, Refused, Report, Several
from rtqual_docking.packets.codec import telecommand, telemetry
from rtqual_docking.packets.definition import EVENT_NUMBERS, Definition
from rtqual_docking.procedures import sound
from rtqual_docking.procedures.model import Expect, Match, Procedure, Step
from rtqual_docking.procedures.script import CLOSING_NS, HOUSEKEEPING, compiled

ACCEPT_NS, COMPLETE_NS = 100 * 10**6, 10**9  # what a telecommand has where its step does not say
_ACCEPTANCE = {"1.1", "1.2", "ACCEPTED", "NOT_ACCEPTED"}
_END = {"1.2", "1.4", "1.7", "1.8", "NOT_ACCEPTED", "NOT_STARTED", "COMPLETED", "FAILED"}
_SPOKEN = Spoken(
    format="packets",
    files=("packets.toml",),
    check=("ccsds-length", "crc16-ccitt", "ccsds-sequence"),
    meanings="pus-1",
    unknown="fails",
)
_VERIFY = Verify.model_construct(
    candidate="", procedures="", requirements=(), dictionary=_SPOKEN, framing=Framing.DATAGRAMS
)  # the ground cuts the stream
_LINK = {What.LOST: "lost", What.RESET: "lost", What.UP: "up"}


class _Labelled(int):
    """A number that has a name."""

    label: str

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class Packets:
    """The definition as any program's dictionary."""

    definition: Definition

    @property
    def commands(self) -> Collection[str]:
        return self.definition.commands

    @property
    def reports(self) -> Collection[str]:
        return self.definition.reports

    def sample(self, command: str) -> Mapping[str, Any]:
        raise Refused(f"{command} has procedures of its own")

    def fields(self, report: str) -> Collection[str]:
        described = self.definition.reports[report]
        return [field.name for field in (*described.fields, *described.entries)]

    def labels(self, report: str, field: str) -> Mapping[int, str]:
        """Its procedures are read with the words."""
        return {}

    def bits(self, report: str, field: str) -> None:
        """No counter of these comes round within a procedure."""

    def encode(self, name: str, arguments: Mapping[str, Any], fill: Mapping[str, Any]) -> Encoded:
        try:
            return Encoded(telecommand(self.definition, name, arguments, **{"sequence": 0, **fill}))
        except BadInput as why:
            raise Refused(str(why)) from None

    def decode(self, octets: bytes) -> Sequence[Report]:
        try:
            told = telemetry(self.definition, octets)
        except (BadInput, ValueError) as why:
            raise Refused(str(why)) from None
        values = {name: value for name, value in told.fields.items() if name != "entries"}
        for name in EVENT_NUMBERS:
            labels = self.definition.labels("", name, str(values.get("event")))
            label = next((label for label, number in labels.items() if number == values.get(name)), None)
            if label is not None:
                values[name] = _Labelled(values[name])
                values[name].label = label
        rows = told.fields.get("entries", ())
        for name in {name for row in rows for name in row}:
            own = (values[name],) if name in values else ()
            values[name] = Several((*own, *(row[name] for row in rows if name in row)))
        return (Report(told.name, {**values, "service": told.service, "subtype": told.subtype}),)


class OwnLanguage(Language):
    """With what only this program has: types of reports, the link's coming and going, files."""

    def implied(self, step: Step | None) -> Iterator[Expect]:
        if step is None:
            for report in ("1.1", *(f"HK_{name}" for name in HOUSEKEEPING), "1.7"):
                yield Expect(report=report, within=CLOSING_NS)
            return
        said = {expect.report for expect in step.expect}
        if not said & _ACCEPTANCE:
            yield Expect(report="1.1", within=ACCEPT_NS)
        if not said & _END:
            yield Expect(report="1.7", within=COMPLETE_NS)

    def fits(self, match: Match, anchor: Anchor, got: Got) -> bool:
        name, values = got.report.name, got.report.values
        if isinstance(match, Expect) and match.happens:
            return name == match.happens and values.get("begun", got.place) > anchor.place
        if "service" not in values:
            return False
        request = anchor.line.packet[:4] if anchor.line else b""
        return (
            match.report in (None, name, f"{values['service']}.{values['subtype']}")
            and (values["service"] != sound.ANSWERS or values["request"] == request)
            and (match.event is None or (values["service"] == sound.EVENTS and values.get("event") == match.event))
            and (match.failure is None or values.get("failure") == match.failure)
        )

    def happened(self, entries: Sequence[Entry]) -> Sequence[Got]:
        """The link's changes, and files that came whole."""
        found: list[Got] = []
        begun = 0
        for place, entry in enumerate(entries):
            if entry.what is What.BEGUN:
                begun = place
            elif entry.what in _LINK:
                found.append(Got(place, entry.at_ns, Report(f"link {_LINK[entry.what]}"), None))
            elif entry.file and not entry.file.wrong:
                values = {**vars(entry.file), "begun": begun}
                found.append(Got(place, entry.at_ns, Report("file complete", values), None))
        return found

    def misconduct(self, entries: Sequence[Entry], lines: Sequence[Line], got: Sequence[Got]) -> Iterator[str]:
        yield from sound.answers(entries, got)
        yield from sound.files(entries)


def language(definition: Definition) -> OwnLanguage:
    """The language of these packets."""
    return OwnLanguage(_VERIFY, Packets(definition), {})


def judge(procedure: Procedure, log: str, definition: Definition) -> Judgement:
    """Whatever the log holds; nothing is raised."""
    return judge_any(procedure, compiled(procedure, definition), log, language(definition))
