# SPDX-License-Identifier: MIT
"""A program's dictionary with what the mission adds to it: telecommands to octets, octets to reports with meanings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rtqual.base import named
from rtqual.base.errors import BadInput
from rtqual.base.scratch import scratch
from rtqual.engine.dialogue.lives import Lives
from rtqual.engine.dialogue.meaning import BEGINS, ENDS, Meant, meant, preset, told
from rtqual.engine.dialogue.model import DialogueExpect
from rtqual.engine.dialogue.octets import crc16
from rtqual.engine.dialogue.sealing import sealed
from rtqual.engine.mission.explain import suggest
from rtqual.engine.mission.language_table import Framing, Meaning, Spoken, Stage
from rtqual.engine.mission.verify_table import Verify
from rtqual.engine.procedure.judging import Anchor
from rtqual.engine.procedure.line import Line
from rtqual.engine.procedure.log import Entry, What
from rtqual.protocols.dictionary import AnyDictionary, Encoded, Refused, Report
from rtqual.protocols.part import Keyed, keyed, rows

MOST_OCTETS = 64 << 20  # of all files of a dictionary
_LENGTH_AT, _HEADER, _SEQUENCES = 4, 6, 1 << 14  # of a space packet


class Damaged(ValueError):
    """Why a packet is not as its sender made it."""


@dataclass(frozen=True)
class Got:
    """A report in a log. `place`: of its entry. `again`: it is told before, and only its counter means more."""

    place: int
    at_ns: int
    report: Report
    meant: Meant | None
    again: bool = False


@dataclass(frozen=True)
class Language:
    """`files`: the dictionary's, by their places below its entries' numbers, as "0-packets.toml" or "1/ccf.dat"."""

    verify: Verify
    dictionary: AnyDictionary
    files: Mapping[str, bytes]

    @property
    def spoken(self) -> Spoken:
        assert self.verify.dictionary is not None, "of a program"  # noqa: S101
        return self.verify.dictionary

    @cached_property
    def rows(self) -> tuple[Meaning, ...]:
        return (*self.verify.meanings, *preset(self.spoken.meanings))

    @cached_property
    def told(self) -> frozenset[str]:
        """What the program has a word for."""
        return told(self.rows)

    @property
    def framing(self) -> Framing:
        if self.verify.framing:
            return self.verify.framing
        if (self.verify.link or "").startswith("udp"):
            return Framing.DATAGRAMS
        return Framing.FPRIME if self.spoken.format == "fprime" else Framing.SPACE_PACKETS

    def encode(self, name: str, arguments: Mapping[str, Any], sequence: int) -> Encoded:
        """Raises Refused."""
        encoded = self.dictionary.encode(name, arguments, self.spoken.fill)
        return Encoded(sealed(encoded.octets, self.spoken.seal, sequence), encoded.fields)

    def decode(self, packet: bytes) -> Sequence[Report]:
        """Raises Refused for a packet that the dictionary lacks, Damaged for one that is not whole."""
        if "ccsds-length" in self.spoken.check and _length(packet) != len(packet):
            raise Damaged(f"{len(packet)} octets, of which its header says {_length(packet)}")
        if "crc16-ccitt" in self.spoken.check and crc16(packet):
            raise Damaged("a packet with a wrong checksum")
        return self.dictionary.decode(packet)

    def meant(self, report: Report) -> Meant | None:
        return meant(self.rows, report)

    def stages(self) -> Iterator[tuple[Stage, int]]:
        """The answers that every sound telecommand must have, as far as the program has a word for them, and how
        soon."""
        limits = self.verify.limits
        for stage, within in ((Stage.ACCEPTED, limits.accepted), (Stage.COMPLETED, limits.completed)):
            if stage in self.told:
                yield stage, within

    def implied(self, step: Any) -> Iterator[Any]:
        """What a sound telecommand must bring beside what its step says. None: one that begins or ends all
        procedures."""
        said = {match.answer for match in step.expect} if step else set()
        for stage, within in self.stages():
            if not said & {Stage.REFUSED, *(BEGINS if stage is Stage.ACCEPTED else ENDS)}:
                yield DialogueExpect(answer=stage, within=within)

    def fits(self, match: Any, anchor: Anchor, got: Got) -> bool:
        """Whether a report is one that is meant, apart from its values."""
        meant = got.meant
        if match.report:
            return got.report.name == match.report and not got.again
        if meant is None:
            return False
        if match.event:
            return meant.stage is None and meant.event == match.event
        answers = anchor.line is not None and meant.answers(anchor.line.command, anchor.line.encoded)
        return answers and meant.stage is match.answer and match.cause in (None, meant.cause)

    def happened(self, entries: Sequence[Entry]) -> Sequence[Got]:  # noqa: ARG002 - of a program's own verbs
        """What a log tells beside packets."""
        return ()

    def misconduct(self, entries: Sequence[Entry], lines: Sequence[Line], got: Sequence[Got]) -> Iterator[str]:
        """Yield what is wrong with answers (lives.py)."""
        lives = Lives([(place, lines[entry.line]) for place, entry in enumerate(entries) if entry.what is What.SENT])
        for arrival in got:
            meant = arrival.meant
            if meant is not None and meant.stage is not None and (why := lives.wrong(meant, arrival.place)):
                yield f"at {arrival.at_ns} ns came {arrival.report.name}: {meant.stage}, of {why}"


def counted(packet: bytes) -> tuple[int, int] | None:
    """The APID and the sequence count of a space packet; None where it is too short to have them."""
    if len(packet) < _HEADER:
        return None
    return int.from_bytes(packet[:2], "big") & 0x7FF, int.from_bytes(packet[2:4], "big") % _SEQUENCES


def follows(count: int, before: int) -> bool:
    return count == (before + 1) % _SEQUENCES


def _length(packet: bytes) -> int:
    return int.from_bytes(packet[_LENGTH_AT:_HEADER], "big") + _HEADER + 1


def _by_name(text: str, names: Mapping[str, str]) -> str:
    """A message about a copy of a file, about the file."""
    for path, name in names.items():
        text = text.replace(path, name)
    return text


def language_of(verify: Verify, folder: Path) -> Language:
    """The language of [verify]'s program. `folder`: the mission's. Raises BadInput."""
    assert verify.dictionary is not None, "of a program"  # noqa: S101
    files: dict[str, bytes] = {}
    for number, name in enumerate(verify.dictionary.files):
        place = folder / Path(name).expanduser()
        try:
            inside = sorted(file for file in place.iterdir() if file.is_file()) if place.is_dir() else None
            found = {f"{number}/{file.name}": file for file in inside} if inside is not None else {}
            for key, file in (found or {f"{number}-{place.name}": place}).items():
                files[key] = named.read(file, MOST_OCTETS)
        except OSError as error:
            raise BadInput(f"dictionary {str(place)!r}: cannot be read: {error.strerror}") from None
        if sum(map(len, files.values())) > MOST_OCTETS:
            raise BadInput(f"dictionary {str(place)!r}: more than {MOST_OCTETS >> 20} MiB with its other files")
    return spoken(verify, files)


def spoken(verify: Verify, files: Mapping[str, bytes]) -> Language:
    """The language from the files' contents. Raises BadInput."""
    table = verify.dictionary
    assert table is not None, "of a program"  # noqa: S101
    formats = [row.key for _, row in rows("dictionaries") if isinstance(row, Keyed)]
    if table.format not in formats:
        raise BadInput(f"dictionary: there is no format {table.format!r}; {suggest(table.format, formats)}")
    read = keyed("dictionaries", table.format, "a dictionary")
    with scratch() as place:
        try:
            for name, content in files.items():
                (place / name).parent.mkdir(exist_ok=True)
                (place / name).write_bytes(content)
        except OSError as error:
            raise BadInput(f"dictionary: a file named {name!r:.80} cannot be: {error.strerror}") from None
        entries = sorted({name.partition("/")[0] for name in files}, key=lambda name: int(name.partition("-")[0]))
        paths = [place / entry for entry in entries]
        try:
            dictionary: AnyDictionary = read(paths, table.names, table.root)
        except BadInput as error:
            raise BadInput(_by_name(str(error), dict(zip(map(str, paths), table.files, strict=False)))) from None
    language = Language(verify, dictionary, files)
    for number, telecommand in enumerate((*verify.setup, *verify.closing)):
        try:
            language.encode(telecommand.send, telecommand.args, number)
        except Refused as why:
            key = "setup" if number < len(verify.setup) else "closing"
            raise BadInput(f"[verify] {key}: {telecommand.send}: {why}") from None
    return language
