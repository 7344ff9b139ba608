# SPDX-License-Identifier: MIT
"""The runs of one cell, before and now: which figures are worse.

Runs that were proven deterministic and whose inputs are the same are paired by their seeds, and all that is worse at
all is a regression: no noise could have done it. A change of the inputs, be it a boot parameter that does nothing,
draws other runs: such runs, and those that are not deterministic, are worse only where the interval of the difference
says so (compare.py), which allows for all figures that are judged (Bonferroni): by chance 5 in 100 jobs fail at most.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rtqual.base.units import format_value
from rtqual.base.words import count, listed
from rtqual.engine.analysis.difference.compare import COMPARED, compare_pair, is_constant
from rtqual.engine.analysis.difference.statement import STANDS_FOR, more_runs, stands_for
from rtqual.engine.analysis.figure.asked import figure_of
from rtqual.engine.analysis.figure.comparable import lacking
from rtqual.engine.analysis.figure.model import Figure, Group, Interval, Summary
from rtqual.engine.analysis.figure.statistics import STATISTICS, is_size
from rtqual.engine.analysis.figure.summary import RESOLUTION, Measured, measure
from rtqual.engine.analysis.figure.wording import span, value
from rtqual.engine.analysis.regression.course import Course, LostSince, Moved
from rtqual.engine.analysis.regression.direction import JUDGED, Asked, better, statistic_of
from rtqual.engine.analysis.regression.origin import cell_name
from rtqual.engine.mission import Better
from rtqual.protocols.record.schema import Record

_NOISY = {STANDS_FOR.get(name, name) for name in JUDGED}
_MOST_SEEDS = 10  # named one by one
Pair = tuple[Figure, Figure]  # before, now


@dataclass(frozen=True)
class GateRule:
    """What is judged, and how strictly."""

    asked: Asked = field(default_factory=dict)
    tolerance: float = 0.0  # the part of a figure by which it may be worse
    mission_only: bool = False  # judge only the figures that the missions name
    family: int = 1  # figures that are judged by intervals: each allows for all of them

    def course(self, least: float, most: float, before: float, way: Better | None) -> Course:
        """Of a change that lies between `least` and `most`; UNDECIDED where it may go either way."""
        if least == most == 0:
            return Course.SAME
        if way is None:
            return Course.SAME if least <= 0 <= most else Course.CHANGED
        if way == Better.HIGHER:
            least, most = -most, -least
        margin = self.tolerance * abs(before)
        if least > margin:
            return Course.WORSE
        if most < 0:
            return Course.BETTER
        return Course.SAME if least >= 0 and most <= margin else Course.UNDECIDED


@dataclass(frozen=True)
class JudgedCell:
    """What became of one cell."""

    figures: tuple[Moved, ...] = ()
    lost: tuple[LostSince, ...] = ()
    added: tuple[str, ...] = ()


def judge_pair(rule: GateRule, group: Group, before: Sequence[Record], after: Sequence[Record]) -> JudgedCell:
    """Both have records; their parameters are the same (origin.check_comparable)."""
    if is_exact(before, after):
        return _exact(rule, group, before, after)
    return _noisy(rule, group, before, after)


def is_exact(before: Sequence[Record], after: Sequence[Record]) -> bool:
    """Whether the runs are to be the same to the last sample."""
    if not _counted(before, after):
        return False
    old, new = ({record.inputs.seed: record.inputs.artefacts for record in side} for side in (before, after))
    return all(old[seed] == new[seed] for seed in old if seed in new)


def figures_judged(rule: GateRule, group: Group, before: Sequence[Record], after: Sequence[Record]) -> int:
    """How many figures of a cell are judged by intervals."""
    if is_exact(before, after):
        return 0
    scalars = {name for record in before for name in record.manifest.scalars if not rule.mission_only}
    return len({*_wanted(rule, group, _series(before), _series(after)), *scalars})


def _series(records: Sequence[Record]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(series.info.name for record in records for series in record.series))


def _wanted(rule: GateRule, group: Group, then: Sequence[str], now: Sequence[str]) -> list[str]:
    """What is judged by intervals, of each of the series that both sides have."""
    named = {stands_for(name) for *cell, name in rule.asked if cell == [group.instrument, group.load]}
    usual = () if rule.mission_only else tuple(name for name in COMPARED if name in _NOISY)
    of_first = dict.fromkeys([*usual, *sorted(named)])
    rest = [figure_of(then, of, name) for of in then[1:] if of in now for name in of_first if name in STATISTICS]
    return [*of_first, *rest]


def _exact(rule: GateRule, group: Group, before: Sequence[Record], after: Sequence[Record]) -> JudgedCell:
    old, new = ({record.inputs.seed: record for record in side} for side in (before, after))
    seeds = [seed for seed in old if seed in new]
    gone, come = [seed for seed in old if seed not in new], [seed for seed in new if seed not in old]
    lost = [LostSince(group, f"{seeds_text(gone)} of {cell_name(group)}", "no record")] if gone else []
    added = (f"{seeds_text(come)} of {cell_name(group)}",) if come else ()
    if not seeds:
        return JudgedCell((), tuple(lost), added)
    then, now = (measure(group, [side[seed] for seed in seeds]) for side in (old, new))
    refused, unusable = _refused(group, then, now)
    by_seed = {
        seed: (measure(group, [old[seed]]).summary.figures, measure(group, [new[seed]]).summary.figures)
        for seed in seeds
        if old[seed].manifest.samples_sha256 != new[seed].manifest.samples_sha256
    }
    figures = []
    for name, figure in then.summary.figures.items():
        if not _is_judged(rule, group, name, then):
            continue
        if missing := _lost_figure(group, name, then.summary, now.summary):
            lost.append(missing)
        if name not in now.summary.figures:
            continue
        both = (figure, now.summary.figures[name])
        pairs = {seed: (a[name], b[name]) for seed, (a, b) in by_seed.items() if name in a and name in b}
        course, reason = _by_seeds(rule, _way(rule, group, name, figure.unit), both, pairs, len(seeds))
        course, reason = (Course.UNDECIDED, refused) if refused else (course, reason)
        figures.append(Moved(group, name, course, *both, reason, exact=True))
    return JudgedCell(tuple(figures), (*unusable, *lost), added)


def _by_seeds(
    rule: GateRule, way: Better | None, both: Pair, pairs: Mapping[int, Pair], runs: int
) -> tuple[Course, str]:
    """Worse on one seed is worse. `pairs` has the seeds whose samples differ, `both` the figure over all runs."""
    courses = {seed: _course(rule, pair, way) for seed, pair in pairs.items()}
    together = _course(rule, both, way)
    for course in Course:  # in this order: the first that occurs counts
        seeds = [seed for seed, other_course in courses.items() if other_course == course]
        if course != Course.SAME and (seeds or together == course):
            return course, _where(seeds, runs, pairs, together != course)
    return Course.SAME, "worse, but within the tolerance" if any(a.value != b.value for a, b in pairs.values()) else ""


def _course(rule: GateRule, pair: Pair, way: Better | None) -> Course:
    """Of two exact figures. A value that lies in an overflow is only a lower end of the true value."""
    before, after = pair
    least = after.value - (math.inf if before.at_least else before.value)
    most = (math.inf if after.at_least else after.value) - before.value
    return rule.course(least, most, before.value, way)


def _where(seeds: Sequence[int], runs: int, pairs: Mapping[int, Pair], hidden: bool) -> str:
    """On how many seeds; with the seed that moved most where all runs together do not show the change."""
    if not seeds:
        return "over all runs together"
    text = f"on {len(seeds)} of {count(runs, 'seed')}"
    if not hidden:
        return text
    most = max(seeds, key=lambda seed: abs(pairs[seed][1].value - pairs[seed][0].value))
    before, after = pairs[most]
    return f"{text}: {value(before)} to {value(after)} on seed {most}"


def _noisy(rule: GateRule, group: Group, before: Sequence[Record], after: Sequence[Record]) -> JudgedCell:
    then, now = (measure(group, side, max(1, rule.family)) for side in (before, after))
    refused, unusable = _refused(group, then, now)
    same = {record.manifest.hash for record in before} == {record.manifest.hash for record in after}
    figures = []
    names = _wanted(rule, group, then.summary.series, now.summary.series)
    wanted = dict.fromkeys([*names, *(() if rule.mission_only else then.scalars)])
    for comparison in compare_pair(now, then, tuple(names)):
        if is_constant(comparison) or comparison.statistic not in wanted:
            continue
        both = (then.summary.figures[comparison.statistic], now.summary.figures[comparison.statistic])
        if refused or same:
            course, reason = (Course.UNDECIDED, refused) if refused else (Course.SAME, "the same records")
        else:
            way = _way(rule, group, comparison.statistic, comparison.unit)
            course, reason = _by_interval(rule, way, both[0].value, comparison.difference)
        figures.append(Moved(group, comparison.statistic, course, *both, reason, exact=False))
    seeds_now = {record.inputs.seed for record in after}
    gone = (
        [record.inputs.seed for record in before if record.inputs.seed not in seeds_now]
        if _counted(before, after)
        else []
    )
    lost = [LostSince(group, f"{seeds_text(gone)} of {cell_name(group)}", "no record")] if gone else []
    lost += [
        LostSince(group, f"{series} of {cell_name(group)}", "no run gives it any more")
        for series in then.summary.series
        if series not in now.summary.series and STATISTICS.keys() & {*names}
    ]
    lost += [missing for name in wanted if (missing := _lost_figure(group, name, then.summary, now.summary))]
    return JudgedCell(tuple(figures), (*unusable, *lost))


def _lost_figure(group: Group, name: str, then: Summary, now: Summary) -> LostSince | None:
    """A figure that every run of the baseline gave, and not every run gives now."""
    if name not in then.figures or name == RESOLUTION:
        return None
    if name not in now.figures:
        why = "there is no such figure any more"
    else:
        why = "" if lacking(then, then.figures[name]) else lacking(now, now.figures[name])
    return LostSince(group, f"{name} of {cell_name(group)}", why) if why else None


def _counted(before: Sequence[Record], after: Sequence[Record]) -> bool:
    return all(record.manifest.timing.repeats for record in (*before, *after))


def _by_interval(rule: GateRule, way: Better | None, before: float, difference: Figure) -> tuple[Course, str]:
    interval = difference.interval
    if is_size(difference.unit):
        interval = Interval(difference.value, difference.value, "read off the systems")
    if interval is None:
        return Course.UNDECIDED, difference.why_no_interval
    reason = f"difference {format_value(difference.value, difference.unit)}{span(interval, difference.unit)}"
    course = rule.course(interval.low, interval.high, before, way)
    if course in (Course.WORSE, Course.BETTER, Course.CHANGED):
        return course, reason
    more = more_runs(difference, None)
    told = f"; about {count(more, 'more run')} a side would show one of this size" if more else ""
    return Course.SAME, f"no difference shown: {reason}{told}"


def _refused(group: Group, then: Measured, now: Measured) -> tuple[str, tuple[LostSince, ...]]:
    """Why no figure of a cell can be judged; a cell whose runs have become unusable is lost."""
    if then.summary.problems:
        return f"the baseline's runs are refused: {then.summary.problems[0]}", ()
    if now.summary.problems:
        reason = f"its runs are refused: {now.summary.problems[0]}"
        return reason, (LostSince(group, cell_name(group), reason),)
    return "", ()


def _is_judged(rule: GateRule, group: Group, name: str, measured: Measured) -> bool:
    if (group.instrument, group.load, name) in rule.asked:
        return True
    usual = name != RESOLUTION if name in measured.scalars else statistic_of(name) in JUDGED
    return usual and not rule.mission_only


def _way(rule: GateRule, group: Group, name: str, unit: str) -> Better | None:
    return rule.asked.get((group.instrument, group.load, name)) or better(name, unit)


def seeds_text(seeds: Sequence[int]) -> str:
    """'seed 3', 'seeds 3 and 4', '20 runs'."""
    if len(seeds) > _MOST_SEEDS:
        return count(len(seeds), "run")
    return f"seed{'s' if len(seeds) > 1 else ''} {listed([str(seed) for seed in seeds])}"
