# SPDX-License-Identifier: MIT
"""The picture for who chooses between kinds of systems: latency against memory against what is missing."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from rtqual.base.words import whole
from rtqual.engine.analysis.figure.model import Summary
from rtqual.engine.candidates.mark import Has
from rtqual.engine.candidates.offers import LINUX, Offers, of_image
from rtqual.engine.mission import PUBLISHED
from rtqual.reports.draw.plots_choice import FULL, HALF, NONE, UNTOLD, Choice
from rtqual.reports.draw.plots_choice import choice as drawn
from rtqual.reports.draw.plots_spaces import USER
from rtqual.reports.material import FOOTPRINT, NO_LOAD, Material, timing_mark, timing_notes
from rtqual.reports.page.document import Block, Note, Paragraph, Plots
from rtqual.reports.page.text import clean, figure_text, number, place, prose, quantity

_FILLED = {Has.YES: FULL, Has.SOURCES: HALF, Has.NO: NONE, Has.UNTOLD: UNTOLD}
_COLUMNS = ("USB", "Wi-Fi", "memory\nprotection")
_QUANTILE = "p99"
_INTERVAL = "A line through a mark is the interval; to the picture's edge, the runs give no end."
_READ = (
    "Low and to the left is fast and small; the rows say what that lacks. Memory is the image with the battery in it "
    "(code, data and zeroed data) where a system is one image, and of Linux the RAM used while only the board's own "
    "programs run. The probe was woken in user space, or in the one address space there is."
)


def choice(material: Material) -> Iterator[Block]:
    """Nothing where one kind of system was measured, or of all but one kind the memory is not known."""
    for where in material.places():
        about = material.about(where.instrument)
        if (about.family, about.space) != ("wakeup", USER) or where.board == PUBLISHED:
            continue
        summaries = [s for s in where.under(NO_LOAD) if _QUANTILE in s.figures and not s.problems]
        found = [(s, offer, size) for s in summaries for offer, size in _known(material, s)]
        if len({offer.kin for _, offer, _ in found}) > 1:
            yield Paragraph(_READ)
            yield _plot(material, found)


def _known(material: Material, summary: Summary) -> Iterator[tuple[Offers, float]]:
    """What a system brings and the memory it takes, where both are known."""
    named = [c for c in material.mission.candidates if c.name == summary.group.candidate]
    for candidate in named:
        facts = _facts(material, summary)
        is_image = candidate.place is not None and not candidate.place.linux
        size_b = _image_b(facts) if is_image else _used_b(material, summary)
        if size_b:
            yield of_image(facts[0]) if is_image else LINUX, size_b


def _facts(material: Material, summary: Summary) -> list[Mapping[str, str]]:
    group = summary.group
    return [
        r.provenance.facts
        for r in material.records
        if (r.inputs.candidate, r.inputs.board, r.inputs.instrument) == (group.candidate, group.board, group.instrument)
    ]


def _image_b(facts: Sequence[Mapping[str, str]]) -> float:
    """Nothing is known where a record does not tell all of it, as older ones of FreeRTOS's zeroed data, or where its
    runs are of images of several sizes."""
    told = {tuple(whole(fact.get(name, "")) for name in ("image_size_b", "bss_b")) for fact in facts}
    sizes_b = told.pop() if len(told) == 1 else ()
    return float(sum(count for count in sizes_b if count is not None)) if None not in sizes_b else 0.0


def _used_b(material: Material, summary: Summary) -> float:
    of, board = summary.group.candidate, summary.group.board
    groups = [s for s in material.evidence.summaries if (s.group.instrument, s.group.board) == (FOOTPRINT, board)]
    found = [f.value for s in groups if s.group.candidate == of and (f := s.figures.get("ram_used"))]
    return found[0] if found else 0.0


def _plot(material: Material, found: Sequence[tuple[Summary, Offers, float]]) -> Plots:
    summaries = [s for s, _, _ in found]
    mark, group = timing_mark(summaries), summaries[0].group
    systems = [_system(s, offer, size_b) for s, offer, size_b in found]
    samples = " or ".join(dict.fromkeys(number(s.samples) for s in summaries))
    caption = clean(
        f"What each system takes and lacks: {_QUANTILE} of the wake-up, idle, {place(group)} (n = {samples} of each), "
        "against memory"
    )
    spoken = "; ".join(
        f"{s.group.candidate}: {figure_text(s.figures[_QUANTILE])}, {quantity(size_b, 'B')}, USB {offer.usb.value}, "
        f"Wi-Fi {offer.wifi.value}, memory protection {offer.protection.value}, {offer.licence}"
        for s, offer, size_b in found
    )
    meanings = [(_FILLED[has], has.value) for has in Has]
    draw = partial(drawn, systems, _COLUMNS, meanings, f"Wake-up, {_QUANTILE}", mark, material.palette)
    why = dict.fromkeys(s.figures[_QUANTILE].why_no_interval for s in summaries)
    notes = [Note("", prose(f"No interval: {name}.")) for name in why if name]
    notes += [Note("", _INTERVAL)] if any(s.figures[_QUANTILE].interval for s in summaries) else []
    plot = material.numbering.plot(caption, clean(f"{caption}. {spoken}"), draw, mark)
    return Plots((plot,), (*notes, *timing_notes(mark)))


def _system(summary: Summary, offer: Offers, size_b: float) -> Choice:
    figure = summary.figures[_QUANTILE]
    between = (figure.interval.low, figure.interval.high) if figure.interval else None
    brings = tuple(_FILLED[has] for has in (offer.usb, offer.wifi, offer.protection))
    return Choice(summary.group.candidate, figure.value, between, size_b, brings, offer.licence)
