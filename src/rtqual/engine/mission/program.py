# SPDX-License-Identifier: MIT
"""The user's own programs, as a mission says how they run and what of them is judged."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, Strict, WithJsonSchema, model_validator

from rtqual.base.units import DurationNs, SizeB
from rtqual.engine.mission.explain import At, shown
from rtqual.engine.mission.table import Table
from rtqual.engine.mission.values import Distinct, NonEmpty, PackageName, Slug, Text, matching

PREFIX = "program-"  # begins the name of the instrument that a program is
_MOST_FIFO = 99
_LONGEST = 255  # of a pattern in a program's output
_MOST = 64  # files, arguments, tasks...

Fifo = Annotated[int, Strict(), Field(ge=0, le=_MOST_FIFO)]


def _without_zero(text: str) -> str:
    if "\0" in text:
        raise ValueError(f"{shown(text)} holds a zero byte")
    return text


def _place_inside(place: str) -> str:
    if any(part in (".", "..") for part in place.split("/")):
        raise ValueError(f"{shown(place)} is no plain path: write it without '.' and '..'")
    return place


Word = Annotated[str, AfterValidator(_without_zero), WithJsonSchema({"type": "string"})]
Variable = Annotated[str, *matching(r"[A-Za-z_][A-Za-z0-9_]*", "a name of a variable")]
_PLACE = matching(r"/[!-~]*[!-.0-~]", "a place in the guest: write an absolute path, as '/opt/table.bin'")
GuestPlace = Annotated[str, *_PLACE, AfterValidator(_place_inside)]


class Task(Table):
    """A thread of a program whose jobs are judged. `rtqual program tasks` prints what there is to choose from."""

    name: Slug
    """Short name; figures carry it: "tick missed", "tick response p99"."""
    thread: Word | None = None
    """The thread's name, as it is last; * is any letters. At least one of thread, priority, waits_at and nth."""
    priority: Fifo | None = None
    """Its real-time priority, at which it ran most often; 0 for one without."""
    waits_at: Annotated[str, *matching(r"[a-z0-9_]{1,40}", "a system call's name, as 'clock_nanosleep'")] | None = None
    """The system call that releases it, as "clock_nanosleep"; the one where it waits most often when left out."""
    nth: Annotated[int, Strict(), Field(ge=1, le=4096)] | None = None
    """Which of those that fit, in the order in which they began."""
    released_by: Literal["timer", "wake"] | None = None
    """"timer": its jobs are due when its own timer says; "wake": when another thread wakes it. Jobs that are released
    otherwise are a problem of the record."""
    after: Slug | None = None
    """A task of this program that releases it: its jobs are due when that one's are, so chains are judged whole."""
    period: Annotated[DurationNs, Field(gt=0)] | None = None
    """The time between jobs: releases that never came count as missed."""
    deadline: Annotated[DurationNs, Field(gt=0)] | None = None
    """The longest time from due to finished, at most the period; a job that takes longer is missed."""
    window: Annotated[int, Strict(), Field(ge=2, le=10_000)] | None = None
    """Also counts the most misses in any so many jobs in a row, as "tick missed in any 20"; needs a deadline."""

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        if not (self.thread or self.waits_at or self.nth) and self.priority is None:
            raise ValueError("says of no thread; write thread, priority, waits_at or nth (`rtqual program tasks`)")
        if self.window and not self.deadline:
            raise At("window", "counts misses: it needs a deadline")
        if self.period and self.deadline and self.deadline > self.period:
            raise At("deadline", "is longer than the period: jobs that overlap the next release are missed in any case")
        return self


class Output(Table):
    """Figures that the program itself prints."""

    from_: Annotated[str, *matching(r"[!-.0-~]{1,80}", "stdout, stderr, or the name of a file it leaves")] = Field(
        "stdout", alias="from"
    )
    """Where it prints them: stdout, stderr, or a file in the folder that it runs in."""
    format: Literal["csv", "lines", "json", "histogram"]
    """csv with a line of names first; lines that `match` a pattern; json, an object a line; histogram, lines of a value
    and how often it came."""
    match: Word | None = None
    """Of format "lines": a regular expression with named groups, as 'late=(?P<late>[0-9]+)'."""
    series: Annotated[dict[Slug, Word], NonEmpty]
    """Name of a series -> column, key or group that has its values."""
    unit: Literal["ns", "us", "ms", "s", "1"] = "ns"
    """What the values are written in; "1" for numbers without a unit."""

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        if (self.format == "lines") != bool(self.match):
            raise At("match", 'belongs to format = "lines", and only to it')
        if self.format == "histogram" and len(self.series) > 1:
            raise At("series", "names several; a histogram is one")
        if self.match:
            if len(self.match) > _LONGEST:
                raise At("match", f"is longer than {_LONGEST} characters")
            try:
                groups = re.compile(self.match).groupindex
            except (re.error, RecursionError, OverflowError) as error:
                raise At("match", f"is no regular expression: {error}") from None
            if missing := [name for name in self.series.values() if name not in groups]:
                raise At("match", f"has no group named {shown(missing[0])}: write (?P<{missing[0]}>...)")
        return self


class Program(Table):
    """Software of the user's own, unmodified, that is run under every candidate and judged job by job."""

    name: Slug
    """Short name. The instrument that plans, requirements and criteria name is "program-NAME"."""
    title: Text = ""
    """One line for the report."""
    binary: Word | dict[Literal["amd64", "arm64", "armhf"], Word]
    """The program: a file, from the mission's folder; one for each processor where there are several. With `packages`
    it may be a place in these, as "/usr/sbin/mosquitto"."""
    packages: Annotated[tuple[PackageName, ...], Distinct] = ()
    """Debian packages whose files are laid into the guest, with all that they depend on."""
    files: dict[GuestPlace, Word] = Field({})
    """Place in the guest -> file or folder, from the mission's folder: what it opens, libraries it loads by name."""
    libraries: Literal["debian"] | Word = "debian"
    """Where the shared libraries come from that it is linked with: Debian's packages, or a folder of the user's."""
    folder: GuestPlace | None = None
    """Where it starts; in memory. A folder of its own when left out."""
    arguments: tuple[Word, ...] = ()
    """Its arguments."""
    environment: dict[Variable, Word] = Field({})
    """Variables that it is started with."""
    user: Literal["root", "nobody"] = "root"
    """"nobody" is started without root's rights, but may ask for real-time priorities and lock its memory."""
    priority: Fifo = 0
    """The real-time priority it is started with, which its threads inherit where they ask for none."""
    policy: Literal["fifo", "rr"] = "fifo"
    """The policy of that priority."""
    prepare: Annotated[tuple[Word, ...], Distinct] = ()
    """Commands of a shell that run before it; each must succeed. Not on this machine."""
    kernel_threads: dict[Word, Annotated[int, Strict(), Field(ge=1, le=_MOST_FIFO)]] = Field({})
    """Threads of the kernel by their names (* is any letters) -> SCHED_FIFO priority that they are given first, as
    { "ktimers/*" = 99 }. It is a part of what is qualified, and stands in every record."""
    ready: Word | None = None
    """Text of its output: it is measured from there on."""
    ready_within: Annotated[DurationNs, Field(gt=0, le=600 * 10**9)] = 30 * 10**9
    """How long that text may take; then the run has failed."""
    warm_up: Annotated[DurationNs, Field(le=600 * 10**9)] = 0
    """How long it runs, once it is ready, before jobs are judged."""
    runs_for: Annotated[DurationNs, Field(gt=0, le=3600 * 10**9)] | None = None
    """How long its jobs are judged; until it ends by itself when left out."""
    ends_by: Literal["INT", "TERM", "HUP", "USR1", "USR2", "QUIT", "KILL"] = "TERM"
    """The signal that ends it then. Two seconds later it is killed."""
    most_output: Annotated[SizeB, Field(gt=0, le=64 * 2**20)] = 8 * 2**20
    """How large a file it may write, its output too, before it is ended and the run fails."""
    tasks: tuple[Task, ...] = Field((), alias="task")
    """What is judged of its threads, one [[program.task]] each."""
    outputs: tuple[Output, ...] = Field((), alias="output")
    """What it says itself, one [[program.output]] each."""

    @property
    def instrument(self) -> str:
        return f"{PREFIX}{self.name}"

    @property
    def files_left(self) -> tuple[str, ...]:
        """The files that its outputs are read from."""
        return tuple(dict.fromkeys(output.from_ for output in self.outputs if output.from_ not in ("stdout", "stderr")))

    def binary_for(self, architecture: str) -> str | None:
        """The program's file for a processor, by Debian's name; None where there is none."""
        if isinstance(self.binary, str):
            return self.binary
        return dict(self.binary).get(architecture)  # type: ignore[call-overload, no-any-return]

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        names = [task.name for task in self.tasks]
        for task in self.tasks:
            if names.count(task.name) > 1:
                raise At("task", f"{shown(task.name)} is the name of two tasks")
            if task.after and (task.after == task.name or task.after not in names):
                raise At("task", f"{shown(task.name)} comes after {shown(task.after)}, which is no other task of it")
        if self.circular:
            raise At("task", f"{shown(self.circular)} comes after itself")
        series = [name for output in self.outputs for name in output.series]
        if twice := [name for name in series if series.count(name) > 1]:
            raise At("output", f"{shown(twice[0])} is the name of two series")
        for what, many in (("files", self.files), ("arguments", self.arguments), ("task", self.tasks)):
            if len(many) > _MOST:
                raise At(what, f"are more than {_MOST}")
        if self.ready is not None and not 0 < len(self.ready.encode()) < _LONGEST:
            raise At("ready", f"has no text, or more than {_LONGEST} bytes")
        return self

    @property
    def circular(self) -> str:
        """A task that comes after itself; empty where none does."""
        after = {task.name: task.after for task in self.tasks}
        for name in after:
            at: str | None = name
            for _ in range(len(after) + 1):
                at = after.get(at or "")
                if at == name:
                    return name
        return ""


def instruments_of(document: dict[str, Any]) -> list[str]:
    """The instruments that a mission's own programs are, as far as they are told at all."""
    programs = document.get("program")
    return [
        f"{PREFIX}{item['name']}"
        for item in (programs if isinstance(programs, list) else ())
        if isinstance(item, dict) and isinstance(item.get("name"), str)
    ]
