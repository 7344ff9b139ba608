# SPDX-License-Identifier: MIT
"""A study beside the campaign that repeats it, as Markdown for people and as plain values for machines."""

from rtqual.base.units import format_value
from rtqual.base.words import clean, count, table
from rtqual.engine.analysis.figure.wording import figure
from rtqual.parts.studies.repetition import LargerOf, Pair, Repeated, agreement


def comparison_text(found: Repeated) -> str:
    """Tables of printed and measured figures, then what agrees and what does not."""
    lines = [f"# {found.study}: {found.title}", ""]
    lines += ["The machines differ: what can agree is the order of figures, not their size.", ""]
    lines += [*(f"- {note}" for note in found.notes), ""] if found.notes else []
    for pair in found.pairs:
        lines += [f"## {pair.measured}, beside {pair.printed}", "", _table(pair), "", _agreement(pair), ""]
    agreeing = [order for order in found.orders if order.agrees]
    if found.orders:
        lines += ["## Which of two systems has the larger figure", "", agreement(found.orders), ""]
        lines += [f"- does not agree: {_order(order)}" for order in found.orders if not order.agrees]
        lines += [f"- agrees: {_order(order)}" for order in agreeing] + [""]
    if found.apart:
        lines += ["## Not set beside the study", "", *(f"- {name}" for name in found.apart), ""]
    return "\n".join(map(clean, lines))  # records may be a stranger's


def _table(pair: Pair) -> str:
    rows = [
        (what, *(format_value(value, own.unit) for value in (printed, own.value)), _ratio(own.value, printed))
        for what, (own, printed) in pair.figures.items()
    ]
    return table(("figure", "printed", "measured", "measured / printed"), rows)


def _ratio(own: float, printed: float) -> str:
    return f"{own / printed:.3g}" if printed else "-"


def _agreement(pair: Pair) -> str:
    ratio = "" if pair.ratio is None else f"; the median ratio is {pair.ratio:.3g}"
    if pair.rank is None:
        return f"Too few durations of one statistic for a rank correlation{ratio}."
    durations = count(pair.rank[1], "duration")
    return f"Rank correlation (Spearman's) of {durations} of one statistic: {pair.rank[0]:.2f}{ratio}."


def _order(order: LargerOf) -> str:
    first, second = order.pairs
    unit = order.both_measured[0].unit
    printed = " and ".join(format_value(value, unit) for value in order.both_printed)
    measured = " and ".join(map(figure, order.both_measured))
    doubt = f" ({order.doubt})" if order.doubt else ""
    systems = f"{first.printed} ({first.measured}) and {second.printed} ({second.measured})"
    return f"{order.what}, {systems}: printed {printed}, measured {measured}{doubt}"


def comparison_values(found: Repeated) -> dict[str, object]:
    """For machines."""
    return {
        "study": found.study,
        "pairs": [
            {
                "measured": pair.measured,
                "printed": pair.printed,
                "rank_correlation": pair.rank and pair.rank[0],
                "median_ratio": pair.ratio,
                "figures": [
                    {"what": what, "unit": own.unit, "printed": printed, "measured": own.value}
                    for what, (own, printed) in pair.figures.items()
                ],
            }
            for pair in found.pairs
        ],
        "orders": [
            {
                "what": order.what,
                "systems": [pair.printed for pair in order.pairs],
                "unit": order.both_measured[0].unit,
                "printed": list(order.both_printed),
                "measured": [own.value for own in order.both_measured],
                "agrees": order.agrees,
                "doubt": order.doubt or None,
            }
            for order in found.orders
        ],
        "apart": list(found.apart),
        "notes": list(found.notes),
    }
