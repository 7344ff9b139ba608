# SPDX-License-Identifier: MIT
"""Whatever Kconfig files, wishes and removals are: a resolution holds what it says, or one line says why not."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtqual.base.errors import RtqualError
from rtqual.parts.tailor.configure.kconfig import LEVELS
from rtqual.parts.tailor.configure.resolve import resolve_wishes
from rtqual.parts.tailor.configure.rules import Removal, Wish
from support.kernel_trees import write_tree

NAMES = tuple(f"S{number}" for number in range(8))


@st.composite
def symbols(draw: st.DrawFn, number: int) -> str:
    """The text of one symbol that refers to earlier ones only: no circles, which Kconfig refuses."""
    kind = draw(st.sampled_from(["bool", "tristate"]))
    prompt = draw(st.sampled_from(["", '"shown"']))
    lines = [f"config {NAMES[number]}"]
    if number:
        earlier = st.sampled_from(NAMES[:number])
        term = st.builds("{}{}".format, st.sampled_from(["", "!"]), earlier)
        condition = st.one_of(term, st.builds("{} {} {}".format, term, st.sampled_from(["||", "&&"]), term))
        when = st.one_of(st.just(""), st.builds(" if {}".format, term))
        if draw(st.booleans()):
            lines.append(f"    depends on {draw(condition)}")
        if draw(st.booleans()):
            lines.append(f"    default {'m' if kind == 'tristate' and draw(st.booleans()) else 'y'}{draw(when)}")
        if draw(st.booleans()):
            lines.append(f"    select {draw(earlier)}{draw(when)}")
        prompt += draw(when) if prompt else ""
    return "\n".join([lines[0], f"    {kind} {prompt}", *lines[1:]]) + "\n"


@pytest.mark.full  # about 20 s
@settings(max_examples=150, deadline=None)
@given(
    st.tuples(*map(symbols, range(len(NAMES)))),
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["y", "m", "n"]), max_size=3),
    st.sets(st.sampled_from(NAMES), max_size=2),
    st.sampled_from(["minimal", "start"]),
)
def test_a_resolution_holds_or_says_why_not(
    texts: tuple[str, ...], wanted: Mapping[str, str], away: set[str], start: str
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        tree = write_tree(folder / "tree", "\n".join(texts))
        (folder / "start").write_text("CONFIG_MODULES=y\n")
        try:
            found = resolve_wishes(
                tree,
                [Wish(symbol, value, "usb", "the mission has a camera") for symbol, value in wanted.items()],
                start=start if start == "minimal" else folder / start,
                removals=[Removal(one, f"menu of {one}", "group", (one,), "not needed") for one in sorted(away)],
                folder=folder / "out",
            )
        except RtqualError as error:
            assert str(error) and "\n" not in str(error)
            return
        for symbol, value in wanted.items():
            level = LEVELS[found.config.get(symbol, "n")]
            assert level == 0 if value == "n" else level >= LEVELS[value]
        for outcome in found.outcomes:
            assert (outcome.state == "kept") == found.config.on(outcome.removal.id)
