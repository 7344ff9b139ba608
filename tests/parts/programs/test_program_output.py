# SPDX-License-Identifier: MIT
"""What a program prints, as series; whatever it prints, nothing but one line comes of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtqual.base.errors import RunFailed
from rtqual.engine.mission.program import Output
from rtqual.parts.programs.printed_series import series
from rtqual.parts.programs.run_report import read_report

_FORMATS = (
    {"format": "csv"},
    {"format": "json"},
    {"format": "lines", "match": r"late=(?P<late>\S+)"},
    {"format": "histogram"},
)


def _output(**more: object) -> Output:
    return Output.model_validate({"series": {"late": "late"}, "unit": "us", **more}, context={})


def test_every_format_gives_the_same_values() -> None:
    texts = (
        "cycle,late\n0,1.5\n1,2\n",
        '{"late": 1.5}\n\n{"late": 2}\n',
        "x late=1.5 y\nother\nlate=2\n",
        "1.5 1\n2 1\n",
    )
    for format_, text in zip(_FORMATS, texts, strict=True):
        (one,) = series(_output(**format_), text)
        assert (one.values.tolist(), one.counts.tolist(), one.info.unit) == ([1500, 2000], [1, 1], "ns")


@pytest.mark.parametrize(
    ("format_", "text", "says"),
    [
        (0, "a,b\n1,2\n", "line 2: has no 'late'"),
        (0, "late\n1,2\n", "line 2: has 2 columns of 1"),
        (0, "late\nsoon\n", "line 2: 'soon' is no number"),
        (0, "late\nnan\n", "is no number"),
        (0, "", "holds no late"),
        (1, "[1]\n", "line 1: is no object"),
        (1, "{\n", "line 1: is no JSON"),
        (1, '{"late": true}\n', "is no number"),
        (1, '{"late": 1e300}\n', "is no number"),
        (2, "nothing\n", "holds no late"),
        (3, "1 2 3\n", "not a value and a count"),
    ],
)
def test_what_does_not_fit_is_told_with_its_line(format_: int, text: str, says: str) -> None:
    with pytest.raises(RunFailed) as caught:
        series(_output(**_FORMATS[format_]), text)
    assert says in str(caught.value)


@given(st.sampled_from(_FORMATS), st.text(alphabet='late={}[]:,.\n\r\x1b 0123456789e-"', max_size=200))
def test_any_text_is_series_or_one_line(format_: dict[str, str], text: str) -> None:
    try:
        series(_output(**format_), text)
    except RunFailed as error:
        assert "\n" not in str(error)
        assert "\x1b" not in str(error)


@given(st.text(alphabet="pidexitsgnalraisedfaults begin0123456789\n", max_size=200))
def test_any_report_is_read_or_refused(text: str) -> None:
    try:
        read_report(text)
    except RunFailed as error:
        assert "\n" not in str(error)
