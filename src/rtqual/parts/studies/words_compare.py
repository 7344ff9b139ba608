# SPDX-License-Identifier: MIT
"""A study beside the campaign that repeats it, as Markdown for people and as plain values for machines."""

from collections.abc import Iterator

from rtqual.base.units import format_value
from rtqual.base.words import clean, count
from rtqual.engine.analysis.figure.wording import figure
from rtqual.parts.studies.compare import Order, Pair, Repeated, agreement


def comparison_text(found: Repeated) -> str:
    """Tables of printed and measured figures, then what agrees and what does not."""
    lines = [f"# {found.study}: {found.title}", ""]
    lines += ["The machines differ: what can agree is the order of figures, not their size.", ""]
    for one in found.pairs:
        lines += [f"## {one.measured}, beside {one.printed}", "", *_table(one), "", _agreement(one), ""]
    agreeing = [one for one in found.orders if one.agrees]
    if found.orders:
        lines += ["## Which of two systems has the larger figure", "", agreement(found.orders), ""]
        lines += [f"- does not agree: {_order(one)}" for one in found.orders if not one.agrees]
        lines += [f"- agrees: {_order(one)}" for one in agreeing] + [""]
    if found.apart:
        lines += ["## Not set beside the study", "", *(f"- {one}" for one in found.apart), ""]
    return "\n".join(map(clean, lines))  # records may be a stranger's


def _table(one: Pair) -> Iterator[str]:
    yield "| figure | printed | measured | measured / printed |"
    yield "|---|---|---|---|"
    for what, (own, printed) in one.figures.items():
        ratio = f"{own.value / printed:.3g}" if printed else "-"
        shown = [format_value(value, own.unit) for value in (printed, own.value)]
        yield f"| {what} | {shown[0]} | {shown[1]} | {ratio} |"


def _agreement(one: Pair) -> str:
    ratio = "" if one.ratio is None else f"; the median ratio is {one.ratio:.3g}"
    if one.rank is None:
        return f"Too few durations of one statistic for a rank correlation{ratio}."
    return (
        f"Rank correlation (Spearman's) of {count(one.rank[1], 'duration')} of one statistic: {one.rank[0]:.2f}{ratio}."
    )


def _order(one: Order) -> str:
    first, second = one.pairs
    unit = one.both_measured[0].unit
    printed = " and ".join(format_value(value, unit) for value in one.both_printed)
    measured = " and ".join(map(figure, one.both_measured))
    doubt = f" ({one.doubt})" if one.doubt else ""
    systems = f"{first.printed} ({first.measured}) and {second.printed} ({second.measured})"
    return f"{one.what}, {systems}: printed {printed}, measured {measured}{doubt}"


def comparison_values(found: Repeated) -> dict[str, object]:
    """For machines."""
    return {
        "study": found.study,
        "pairs": [
            {
                "measured": one.measured,
                "printed": one.printed,
                "rank_correlation": one.rank and one.rank[0],
                "median_ratio": one.ratio,
                "figures": [
                    {"what": what, "unit": own.unit, "printed": printed, "measured": own.value}
                    for what, (own, printed) in one.figures.items()
                ],
            }
            for one in found.pairs
        ],
        "orders": [
            {
                "what": one.what,
                "systems": [pair.printed for pair in one.pairs],
                "unit": one.both_measured[0].unit,
                "printed": list(one.both_printed),
                "measured": [own.value for own in one.both_measured],
                "agrees": one.agrees,
                "doubt": one.doubt or None,
            }
            for one in found.orders
        ],
        "apart": list(found.apart),
    }
