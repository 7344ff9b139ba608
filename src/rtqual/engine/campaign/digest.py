# SPDX-License-Identifier: MIT
"""digest.json: what a finished campaign came to, its figures and verdicts, so that who looks at many campaigns reads no
samples.

Two lines of JSON. The first says which campaign.json it is of and has the hash of the second, so that one which is
stale or damaged is seen. Texts that come often stand once, in a list, and are named by their place in it.

A folder cannot say of itself that its digest is what its records give: the user's cache keeps the hashes of those that
his own rtqual made of records, and no other is believed.
"""

import hashlib
import json
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from rtqual.base import unlinked
from rtqual.base.cache import cache_dir, sha256_of
from rtqual.base.errors import BadInput, NewerVersion, damaged
from rtqual.base.words import clean
from rtqual.engine.analysis.figure.asked import asked_of, figure_name, named
from rtqual.engine.analysis.figure.model import Conditions, Figure, Group, Interval, Summary
from rtqual.engine.analysis.figure.summary import groups
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.analysis.verdict.model import Ground, Outcome
from rtqual.engine.campaign.folder import KeptCampaign
from rtqual.protocols.record.schema import Record, Timing, digest

NAME = "digest.json"
VERSION = 1  # another where a figure, an interval or a verdict of the same records may be another than before
MEND = "delete it: it is made anew from the records"
_MOST_FACTS, _LONGEST = 60, 200  # of a group; characters of a text that a stranger wrote
_MOST_PARSED = 4096
_MOST_NOTED = 100_000  # digests; an empty file each
_LOOKS = "00"  # begins the hash of one in 256 of them, which looks whether they are too many
_AT_LEAST, _BINNED, _ASKED = 1, 2, 4
_NONE = -1  # no text
Text = Annotated[int, Field(ge=_NONE)]
Ends = tuple[float | None, float | None]  # None: open
_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,20}(Z|[+-][0-9:]{4,6})?$"
Time = Annotated[str, Field(pattern=_TIME)]
# name, unit, value, samples, runs, interval's ends, its method, why there is none, flags
Row = tuple[Text, Text, float, int, int, float | None, float | None, Text, Text, int]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class JudgedRequirement(_Model):
    """A requirement of a candidate."""

    requirement: str
    outcome: Outcome
    reason: str
    value: float | None = None
    unit: str | None = None


class StandingDigest(_Model):
    """A candidate's place."""

    candidate: str
    may_fly: Outcome
    seen: Outcome
    rank: int | None
    score: float | None
    gates: list[JudgedRequirement]


class VerdictDigest(_Model):
    """What the records support on a board."""

    board: str
    ground: Ground
    headline: str
    standings: list[StandingDigest]


class GroupDigest(_Model):
    """A group's figures and what must agree where they are compared."""

    instrument: str
    load: str
    board: str
    cpus: int
    candidate: str
    names: list[str]  # of the boards of this model that measured it, where they have names
    kernels: list[str]
    machine: Text = _NONE  # the facts that its records agree in, a JSON object among the texts
    timing: Timing
    runs: int
    planned: int | None
    samples: int
    drawn: str  # of its records' hashes, which tells whether two campaigns have the same
    began: Time | None  # of its first run, and of its last; UTC, ISO 8601
    ended: Time | None
    problems: list[Text]
    caveats: list[Text]
    series: list[str]
    conditions: Text  # a JSON object among the texts
    figures: list[Row]

    @property
    def group(self) -> Group:
        return Group(self.instrument, self.load, self.board, self.cpus, self.candidate)


class Body(_Model):
    """The second line."""

    mission: str
    scale: str
    texts: list[str]
    groups: list[GroupDigest]
    verdicts: list[VerdictDigest]


@dataclass(frozen=True)
class Digest:
    """A campaign's, with its folder's name for errors."""

    where: Path
    campaign: str
    body: Body

    def text(self, number: int) -> str:
        if number == _NONE:
            return ""
        try:
            return self.body.texts[number]
        except IndexError:
            raise BadInput(f"{self.where}: damaged: it has no text {number}; {MEND}") from None

    def texts(self, numbers: Iterable[int]) -> tuple[str, ...]:
        return tuple(map(self.text, numbers))

    def asked(self, of: GroupDigest) -> list[str]:
        """The figures that the mission asks of a group."""
        return [self.text(row[0]) for row in of.figures if row[-1] & _ASKED]

    def facts(self, of: GroupDigest) -> dict[str, str]:
        return {name: str(value) for name, value in self._object(of.machine).items()}

    def figures(self, of: GroupDigest, names: Collection[str] | None = None) -> dict[str, Figure]:
        """A group's; `names`: these alone."""
        rows = ((self.text(row[0]), row) for row in of.figures)
        return {name: self._figure(row) for name, row in rows if names is None or name in names}

    def summary(self, of: GroupDigest, names: Collection[str] | None = None) -> Summary:
        """As the records gave it, without samples and what is drawn of them."""
        return Summary(
            of.group,
            of.timing,
            of.runs,
            of.samples,
            self.figures(of, names),
            None,
            problems=self.texts(of.problems),
            caveats=self.texts(of.caveats),
            series=tuple(of.series),
            conditions=self._conditions(of.conditions),
            planned=of.planned,
        )

    def _conditions(self, number: int) -> Conditions:
        try:
            return _conditions(self.text(number) or "{}")
        except (ArithmeticError, AttributeError, RecursionError, TypeError, ValueError) as error:
            raise damaged(self.where, error, MEND) from None

    def _object(self, number: int) -> dict[str, Any]:
        """A JSON object among the texts."""
        try:
            found = _parsed(self.text(number) or "{}")
        except (ValueError, RecursionError) as error:
            raise damaged(self.where, error, MEND) from None
        if not isinstance(found, dict):
            raise BadInput(f"{self.where}: damaged: text {number} is no object; {MEND}")
        return found

    def _figure(self, row: Row) -> Figure:
        _, unit, value, samples, runs, low, high, method, why, flags = row
        interval = None
        if method != _NONE:
            ends = -math.inf if low is None else low, math.inf if high is None else high
            interval = Interval(*ends, self.text(method))
        return Figure(
            value, self.text(unit), samples, runs, interval, self.text(why),
            at_least=bool(flags & _AT_LEAST), binned=bool(flags & _BINNED),
        )  # fmt: skip


@lru_cache(_MOST_PARSED)
def _parsed(text: str) -> Any:
    """Nobody changes it: many campaigns share it."""
    return json.loads(text)


@lru_cache(_MOST_PARSED)
def _conditions(text: str) -> Conditions:
    said = json.loads(text)
    lengths = tuple(map(float, said.get("lengths") or ()))
    return Conditions(dict(said.get("parameters") or {}), lengths, said.get("rested"), str(said.get("battery") or ""))


class _Texts:
    """The list of texts while it grows."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def place(self, text: str) -> int:
        return self.places.setdefault(text, len(self.places)) if text else _NONE


def write(folder: Path, campaign: KeptCampaign, content: bytes) -> None:
    """Leave the digest of a campaign whose campaign.json has a hash; none where it would be larger than can be read."""
    if campaign.digest and len(content) <= unlinked.MOST_B:
        unlinked.write(folder, NAME, content)


def note(content: bytes) -> None:
    """Believe this digest, which was just made of records, wherever it lies from now on.

    Where the cache cannot be written, the next reader makes it anew.
    """
    with suppress(OSError):
        _memory().mkdir(exist_ok=True)
        name = sha256_of(content)
        (_memory() / name).touch()
        if name.startswith(_LOOKS):
            known = sorted(_memory().iterdir(), key=lambda path: path.stat().st_mtime_ns, reverse=True)
            for old in known[_MOST_NOTED:]:
                old.unlink(missing_ok=True)


def _noted(content: bytes) -> bool:
    try:
        return (_memory() / sha256_of(content)).exists()
    except OSError:  # no cache can be made
        return False


def _memory() -> Path:
    return cache_dir() / "digests"


def content_of(campaign: KeptCampaign, evidence: Evidence) -> bytes:
    texts = _Texts()
    grouped = groups(campaign.result.records)
    asked = asked_of([campaign.mission])
    every = []
    for summary in evidence.summaries:
        of = summary.group
        own = [a for a in asked if (a.instrument, a.load) == (of.instrument, of.load)]
        wanted = {name(a) for a in own for name in (named, figure_name)}
        every.append(_of_group(summary, grouped[of], wanted, texts))
    verdicts = [
        VerdictDigest(
            board=verdict.board,
            ground=verdict.ground,
            headline=verdict.headline,
            standings=[
                StandingDigest(
                    candidate=standing.candidate,
                    may_fly=standing.may_fly,
                    seen=standing.seen,
                    rank=standing.rank,
                    score=standing.total,
                    gates=[
                        JudgedRequirement(
                            requirement=gate.requirement,
                            outcome=gate.outcome,
                            reason=gate.reason,
                            value=gate.measured.value if gate.measured else None,
                            unit=gate.measured.unit if gate.measured else None,
                        )
                        for gate in standing.gates
                    ],
                )
                for standing in verdict.standings
            ],
        )
        for verdict in evidence.verdicts
    ]
    body = Body(
        mission=campaign.mission.mission.name,
        scale=campaign.scale,
        texts=list(texts.places),
        groups=every,
        verdicts=verdicts,
    )
    return as_file(campaign.digest, body)


def as_file(campaign: str, body: Body) -> bytes:
    """Both lines."""
    text = body.model_dump_json().encode()
    head = {"version": VERSION, "campaign": campaign, "sha256": hashlib.sha256(text).hexdigest()}
    return json.dumps(head).encode() + b"\n" + text + b"\n"


def read(folder: Path, campaign: str) -> Digest | None:
    """The digest that a folder has of a campaign with this hash; None where it has none, a stale one, or one that this
    user's rtqual did not make.

    Raises BadInput where it is damaged.
    """
    path = folder / NAME
    try:
        content = unlinked.read(folder, NAME)
        first, _, rest = content.partition(b"\n")
        head = json.loads(first)
        version = head["version"]
        if isinstance(version, int) and version > VERSION:
            raise NewerVersion(f"{path}: version {version} is newer than this rtqual reads ({VERSION}): upgrade rtqual")
        if version != VERSION or head["campaign"] != campaign or not campaign:
            return None
        text = rest.removesuffix(b"\n")
        if hashlib.sha256(text).hexdigest() != head["sha256"]:
            raise BadInput(f"{path}: damaged: its hash differs; {MEND}")
        body = Body.model_validate_json(text)
        return Digest(path, campaign, body) if _noted(content) else None
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (KeyError, TypeError) as error:
        raise BadInput(f"{path}: damaged: its first line is no head ({error}); {MEND}") from None
    except (OSError, ValueError, RecursionError) as error:  # a ValidationError is a ValueError
        raise damaged(path, error, MEND) from None


def in_memory(folder: Path, campaign: KeptCampaign, content: bytes) -> Digest:
    """The same as if it were written and read."""
    _, _, text = content.partition(b"\n")
    return Digest(folder / NAME, campaign.digest, Body.model_validate_json(text))


def _of_group(summary: Summary, records: Sequence[Record], asked: Collection[str], texts: _Texts) -> GroupDigest:
    group, conditions = summary.group, summary.conditions
    made = [record.manifest.provenance for record in records]
    times = sorted(each.started for each in made if each.started and re.match(_TIME, each.started))
    said = {
        "parameters": dict(conditions.parameters),
        "lengths": conditions.lengths,
        "rested": conditions.rested,
        "battery": conditions.battery,
    }
    return GroupDigest(
        instrument=group.instrument,
        load=group.load,
        board=group.board,
        cpus=group.cpus,
        candidate=group.candidate,
        names=_several(each.facts.get("board") for each in made),
        kernels=_several(each.kernel for each in made),
        machine=texts.place(json.dumps(_agreed([each.facts for each in made]), sort_keys=True)),
        timing=summary.timing,
        runs=summary.runs,
        planned=summary.planned,
        samples=summary.samples,
        drawn=digest(sorted(record.manifest.hash for record in records)),
        began=times[0] if times else None,
        ended=times[-1] if times else None,
        problems=[texts.place(_short(text)) for text in summary.problems],
        caveats=[texts.place(_short(text)) for text in summary.caveats],
        series=list(summary.series),
        conditions=texts.place(json.dumps(said, sort_keys=True)),
        figures=[
            _row(name, figure, name in asked, texts)
            for name, figure in summary.figures.items()
            if math.isfinite(figure.value)
        ],
    )


def _row(name: str, figure: Figure, asked: bool, texts: _Texts) -> Row:
    low = high = None
    method = _NONE
    if figure.interval is not None:
        low, high = (end if math.isfinite(end) else None for end in (figure.interval.low, figure.interval.high))
        method = texts.place(figure.interval.method)
    flags = _AT_LEAST * figure.at_least | _BINNED * figure.binned | _ASKED * asked
    why = texts.place(figure.why_no_interval)
    return (
        texts.place(name), texts.place(figure.unit), figure.value, figure.n, figure.runs, low, high, method, why, flags,
    )  # fmt: skip


def _several(texts: Iterable[str | None]) -> list[str]:
    return [_short(text) for text in dict.fromkeys(text for text in texts if text)][:_MOST_FACTS]


def _agreed(tables: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The facts that every record has; of whole numbers that differ the ends."""
    found: dict[str, str] = {}
    for name in tables[0]:
        values = {table.get(name) for table in tables}
        if len(values) == 1:
            found[_short(name)] = _short(tables[0][name])
        elif all(value and value.isascii() and value.isdecimal() and len(value) < _LONGEST for value in values):
            numbers = sorted(int(value) for value in values if value)
            found[_short(name)] = f"{numbers[0]} to {numbers[-1]}"
    return dict(list(found.items())[:_MOST_FACTS])


def _short(text: str) -> str:
    return " ".join(clean(text).split())[:_LONGEST]
