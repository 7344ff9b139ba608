# SPDX-License-Identifier: MIT
"""Why samples were late, on the terminal and as JSON."""

from collections.abc import Callable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from rtqual.base.units import format_ns
from rtqual.base.words import clean, count, share, under
from rtqual.face.terminal.tables import grid
from rtqual.parts.explain.advice import Advice
from rtqual.parts.explain.cause_tally import CauseTally, Waterfall
from rtqual.parts.explain.hung import Hung
from rtqual.parts.explain.late_samples import LateTold, Watching
from rtqual.parts.explain.sections import Placed
from rtqual.parts.explain.stage import Explained
from rtqual.parts.explain.stretch_words import calls, cause, described, plain
from rtqual.parts.explain.timeline import TimeKind, Timeline
from rtqual.protocols.record.schema import Timing

_HELD_NS = 20_000  # a timer that is later waited for more than its interrupt
_SMALL = 0.01  # of a sample: parts below it share a line
CLOCK = "Times count instructions (2 ns each): they show causes and rank kernels, and are no time of real hardware."


def print_explained(console: Console, explained: Sequence[Explained]) -> None:
    for number, explanation in enumerate(explained):
        if number:
            console.print()
        what = f"{explanation.candidate} {under(explanation.load)}, seed {explanation.seed}"
        title = f"{what}: {count(explanation.samples, 'sample')} made again, all equal"
        console.print(Text(clean(f"{title} ({explanation.record})"), "bold"), soft_wrap=True)
        for line in explanation.timelines:
            _print_timeline(console, line, where=explanation.on(line.cpu), series=explanation.series_of(line))
        _print_longest(console, explanation.longest, explanation.on)
    console.print()
    console.print(Text(CLOCK, "dim"), soft_wrap=True)


def print_hung(console: Console, hung: Hung) -> None:
    """Who runs where, and what the console said last."""
    what = f"{hung.candidate}, {hung.instrument} {under(hung.load)}, seed {hung.seed}"
    title = f"{what}: hangs again, looked at after {format_ns(hung.guest_ns)} of guest time ({hung.run})"
    console.print(Text(clean(title), "bold"), soft_wrap=True)
    for stand in hung.stands:
        who = stand.thread or "the thread that ran when it began"
        came = "no interrupt came" if not stand.interrupts else f"{count(stand.interrupts, 'interrupt')} came"
        console.print(Text(clean(f"  CPU {stand.cpu}: {who} for {format_ns(stand.since_ns)} without a switch; {came}")))
        for place, part in stand.places:
            console.print(Text(clean(f"    {100 * part:3.0f} %  {place}")))
        if stand.calls:
            console.print(Text(clean(f"    on its stack: {', '.join(stand.calls)}")), soft_wrap=True)
    console.print(Text("  The console's last lines:" if hung.console else "  The console is empty."))
    for line in hung.console:
        console.print(Text(clean(f"    {line}")), soft_wrap=True)
    for reason in hung.reasons:
        console.print(Text(clean(f"  It left no record: {reason}"), "dim"), soft_wrap=True)
    console.print(Text(CLOCK, "dim"), soft_wrap=True)


def print_late(console: Console, runs: Sequence[LateTold]) -> None:
    for told in runs:
        what = f"{told.candidate} {under(told.load)} on the {told.board} board, seed {told.seed}"
        outside = told.names and told.timing != Timing.REAL
        by = "watched from outside of the guest" if outside else "told by its own kernel"
        title = f"{what}: {by} in the run ({told.record})"
        console.print(Text(clean(title), "bold"), soft_wrap=True)
        several = len(told.watching) > 1
        for number, line in enumerate(told.timelines):
            where = f" on CPU {line.cpu}" if several else ""
            _print_timeline(console, line, where=f" of {told.names[number]}" if told.names else where)
            for text in mended(line) if told.names else ():
                console.print(Text(clean(f"  {text}")), soft_wrap=True)
        console.print()
        if told.left_out:
            later = count(told.left_out, "sample")
            console.print(Text(f"{later} later than the last of these were not told whole, and are left out."))
        for cost in told.watching:
            console.print(Text(moved(cost, f" on CPU {cost.cpu}" if several else "")), soft_wrap=True)
        console.print()
    if any(run.timing != Timing.REAL for run in runs):
        console.print(Text(CLOCK, "dim"), soft_wrap=True)


def mended(line: Timeline) -> Iterator[str]:
    """What would help a late job of a program, where its parts say so."""
    causes = line.causes
    if next(iter(causes)) == TimeKind.SIBLING:
        yield "The program did it itself: another of its threads was at work first, and no kernel changes that."
    if (waited_ns := causes.get(TimeKind.TIMER, 0)) > _HELD_NS:
        yield (
            f"Its timer came {format_ns(waited_ns)} late, since it expires in a thread of the kernel that others went "
            "before: give that a priority above the program's "
            '(kernel_threads = { "ktimers/*" = 99 }, docs/programs.md).'
        )
    if (held_ns := causes.get(TimeKind.DELIVERY, 0)) > _HELD_NS:
        yield f"Its timer's interrupt came {format_ns(held_ns)} late: until then interrupts were off."
    if (kept_ns := causes.get(TimeKind.PREEMPT_OFF, 0)) > _HELD_NS:
        yield (
            f"A thread of lower priority went on for {format_ns(kept_ns)}: preemption was off, or softirqs ran in it. "
            "PREEMPT_RT shortens both."
        )


def moved(watching: Watching, where: str) -> str:
    """What watching cost."""
    (plain_ns, watched_ns), halves = watching.median_ns, " and ".join(f"{ns / 1000:+.2f}" for ns in watching.moved_ns)
    return (
        f"Watching moves what it watches: the median{where} is {format_ns(round(watched_ns))} with it and "
        f"{format_ns(round(plain_ns))} without ({watching.samples[1]:,} and {watching.samples[0]:,} samples); "
        f"in the halves of the run {halves} us."
    )


def _print_timeline(console: Console, line: Timeline, *, where: str = "", series: str = "") -> None:
    """`series`: that it is a sample of, where there are several; then many hands make it, and their shares are told."""
    sample = line.sample
    console.print()
    of = f", {series}" if series else where
    console.print(Text(clean(f"Sample {sample.number}{of}: {format_ns(sample.value_ns)}"), "bold"))
    console.print(Text(f"  {cause(line)}"), soft_wrap=True)
    if series:
        shares = (f"{kind} {share(ns, sample.value_ns)}" for kind, ns in line.causes.items())
        console.print(Text(f"  {', '.join(shares)}"), soft_wrap=True)
    rows: list[tuple[object, ...]] = []
    shown = [part for part in line.parts if part.duration_ns >= _SMALL * sample.value_ns]
    for part in shown:
        what = Text(part.label, "bold" if part is line.worst else "")
        rows.append((f"+{part.begin_ns:,}", f"{part.duration_ns:,} ns", what, described(part)))
    rest = len(line.parts) - len(shown)
    if rest:
        left_ns = sample.value_ns - sum(part.duration_ns for part in shown)
        rows.append(("", f"{left_ns:,} ns", "others", Text(f"{count(rest, 'part')}, each below {_SMALL:.0%}", "dim")))
    rows.append(("", f"{sample.value_ns:,} ns", "sum", ""))
    console.print(grid(rows, right=(0, 1), apart=1))


def print_tallies(
    console: Console, tallies: Sequence[CauseTally], waterfalls: Sequence[Waterfall], advised: Sequence[Advice] = ()
) -> None:
    for tally in tallies:
        _print_tally(console, tally)
        console.print()
    for fall in waterfalls:
        both = f"{fall.later.candidate} is later than {fall.sooner.candidate} {under(fall.later.load)}"
        title = f"Why {both}: {format_ns(fall.difference_ns)} in the mean of these samples"
        console.print(Text(clean(title), "bold"), soft_wrap=True)
        console.print(grid([(step.kind.value, f"{step.ns:+,.0f} ns") for step in fall.steps], right=(1,)))
        console.print()
    if advised:
        console.print(Text("What rtqual lint finds that is about such time", "bold"), soft_wrap=True)
        for found in advised:
            what = f"  {found.candidate}, {found.kind.value}: {found.rule} ({found.title}): {found.seen}"
            console.print(Text(clean(what)), soft_wrap=True)
        console.print()
    console.print(Text(CLOCK, "dim"), soft_wrap=True)


def _print_tally(console: Console, tally: CauseTally) -> None:
    span = f"{format_ns(tally.least_ns)} to {format_ns(tally.most_ns)}"
    title = f"{tally.candidate} {under(tally.load)}: its {count(tally.samples, 'worst sample')}, {span}"
    console.print(Text(clean(title), "bold"), soft_wrap=True)
    rows = [("", "of their mean", "of the worst")]
    for kind, ns in sorted(tally.causes_ns.items(), key=lambda item: -item[1]):
        worst_ns = tally.of_the_worst_ns.get(kind, 0)
        rows.append((kind.value, share(round(ns), round(tally.mean_ns)), share(worst_ns, tally.most_ns)))
    console.print(grid(rows, right=(1, 2)))
    for kind_name, where, number in tally.places:
        text = f"  longest part in {number} of {tally.samples}: {kind_name}, {plain(where) or 'not named'}"
        console.print(Text(clean(text)), soft_wrap=True)


def _print_longest(console: Console, longest: Sequence[Placed], on: Callable[[int], str]) -> None:
    console.print()
    title = "Longest sections of the run, whether a sample met them or not (observed; no bound)"
    console.print(Text(title, "bold"), soft_wrap=True)
    rows = []
    for placed in longest:
        times = f" ({placed.times} times)" if placed.times > 1 else ""
        turns = f"; {format_ns(placed.turns_ns)} of it other CPUs' turns" if placed.turns_ns else ""
        who = f"in {placed.section.thread}{on(placed.section.cpu)}; " if placed.section.thread else ""
        where = f"{who}{calls(placed.chain)}{times}{turns}"
        rows.append((f"{placed.section.duration_ns:,} ns", placed.section.kind, where))
    console.print(grid(rows or [("none", "above 5 us", "")], right=(0,), apart=1))


def explained_dict(explained: Explained) -> dict[str, object]:
    return {
        "record": explained.record,
        "candidate": explained.candidate,
        "load": explained.load,
        "seed": explained.seed,
        "samples": explained.samples,
        "same": True,
        "clock": "instructions",
        "timelines": [
            {"cpu": line.cpu, "series": explained.series_of(line), **_timeline_dict(line)}
            for line in explained.timelines
        ],
        "longest_sections": [
            {
                "kind": placed.section.kind,
                "duration_ns": placed.section.duration_ns,
                "thread": placed.section.thread,
                "calls": list(placed.chain),
                "times": placed.times,
                "cpu": placed.section.cpu,
                "other_turns_ns": placed.turns_ns,
            }
            for placed in explained.longest
        ],
    }


def late_dict(told: LateTold) -> dict[str, object]:
    return {
        "record": told.record,
        "candidate": told.candidate,
        "load": told.load,
        "board": told.board,
        "seed": told.seed,
        "left_out": told.left_out,
        "watching": [
            {
                "cpu": cost.cpu,
                "samples": cost.samples[1],
                "samples_unwatched": cost.samples[0],
                "median_ns": cost.median_ns[1],
                "median_unwatched_ns": cost.median_ns[0],
                "moved_ns": list(cost.moved_ns),
            }
            for cost in told.watching
        ],
        "clock": told.timing.value,
        "timelines": [{"cpu": line.cpu, **_timeline_dict(line)} for line in told.timelines],
    }


def _timeline_dict(line: Timeline) -> dict[str, object]:
    return {
        "sample": line.sample.number,
        "value_ns": line.sample.value_ns,
        "named": round(line.named, 6),
        "cause": cause(line),
        "causes_ns": {kind.value: ns for kind, ns in line.causes.items()},
        "other_turns_ns": line.turns_ns,
        "parts": [
            {
                "kind": part.kind.value,
                "begin_ns": part.begin_ns,
                "duration_ns": part.duration_ns,
                "thread": part.thread,
                "entry": part.entry,
                "calls": list(part.chain),
                "interrupts_off_at": part.off_at,
                "interrupts_off_before_ns": part.off_before_ns,
                "turn_of": part.turn,
            }
            for part in line.parts
        ],
    }


def tallies_dict(
    tallies: Sequence[CauseTally], waterfalls: Sequence[Waterfall], advised: Sequence[Advice] = ()
) -> dict[str, object]:
    return {
        "candidates": [
            {
                "candidate": tally.candidate,
                "load": tally.load,
                "samples": tally.samples,
                "mean_ns": tally.mean_ns,
                "most_ns": tally.most_ns,
                "causes_ns": {kind.value: ns for kind, ns in tally.causes_ns.items()},
                "of_the_worst_ns": {kind.value: ns for kind, ns in tally.of_the_worst_ns.items()},
                "places": [{"kind": kind, "function": where, "samples": times} for kind, where, times in tally.places],
            }
            for tally in tallies
        ],
        "later": [
            {
                "later": fall.later.candidate,
                "sooner": fall.sooner.candidate,
                "load": fall.later.load,
                "difference_ns": fall.difference_ns,
                "steps_ns": {step.kind.value: step.ns for step in fall.steps},
            }
            for fall in waterfalls
        ],
        "lint": [
            {
                "candidate": advice.candidate,
                "kind": advice.kind.value,
                "rule": advice.rule,
                "title": advice.title,
                "seen": advice.seen,
            }
            for advice in advised
        ],
    }
