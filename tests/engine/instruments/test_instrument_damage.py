# SPDX-License-Identifier: MIT
"""The readers on damaged outputs: they read them, or refuse in one line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtqual.base.errors import RunFailed
from rtqual.protocols.record.schema import Series
from support.instrument_outputs import CAPTURED, captured_text, read_text


def reads_or_refuses(name: str, text: str) -> None:
    try:
        measurement = read_text(name, text)
    except RunFailed as error:
        assert "\n" not in str(error)
    else:
        assert all(isinstance(series, Series) and series.total >= 0 for series in measurement.series)


@pytest.mark.parametrize("name", CAPTURED)
@settings(max_examples=50, deadline=None)
@given(text=st.text())
def test_any_text_reads_or_is_refused(name: str, text: str) -> None:
    reads_or_refuses(name, text)


@pytest.mark.guest
@pytest.mark.parametrize("name", CAPTURED)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_damage_to_a_real_output_reads_or_is_refused(name: str, data: st.DataObject) -> None:
    text = captured_text(name)
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(len(text), start + 200)))
    patch = data.draw(st.text(st.sampled_from('0123456789.-+eE{}[]":, |*\n\x00\u0663'), max_size=8))
    reads_or_refuses(name, text[:start] + patch + text[stop:])
