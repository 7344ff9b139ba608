# SPDX-License-Identifier: MIT
"""The host's reading of the probe's result: what the probe wrote, exactly, or the line where it was damaged."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtqual.base.errors import RunFailed
from rtqual.engine.instruments.probe.probe_output import Status, in_ns, parse

BODY = [
    "rtqual-probe 1",
    'system "FreeRTOS V11.2.0"',
    'family "primitives"',
    'fact "iterations" 1 3',
    'fact "clock step" ns 1',
    'fact "cycles" 1/s 500000000',
    'benchmark "sem signal" ok',
    'fact "page faults" 1 0',
    'series "sem signal" cycles 3 0 1',
    "v 100 101 4294967295",
    'benchmark "network" not-offered no sockets here',
    "end",
]


def checked(lines: list[str], ending: str = "\n") -> str:
    text, crc = "", 0
    for line in lines:
        crc = zlib.crc32(line.encode(), crc)
        text += f"{line}#{crc:08x}{ending}"
    return text


def test_what_the_probe_wrote_is_read_exactly() -> None:
    output = parse(checked(BODY), "probe.txt")
    assert (output.system, output.family, output.cycles_per_s) == ("FreeRTOS V11.2.0", "primitives", 500_000_000)
    signal, network = output.benchmarks
    (series,) = signal.series
    assert (signal.status, signal.facts, series.lost) == (Status.OK, {"page faults": (0, "1")}, 1)
    assert in_ns(series, output.cycles_per_s).tolist() == [200, 202, 8_589_934_590]
    assert (network.status, network.why) == (Status.NOT_OFFERED, "no sockets here")


def test_a_console_around_it_and_its_line_ends_do_no_harm() -> None:
    text = "Booting\r\n[ 0.1] noise # here\r\n" + checked(BODY, "\r\n") + "after\r\n"
    assert parse(text, "uart") == parse(checked(BODY), "uart")


@pytest.mark.parametrize("line", range(len(BODY)))
def test_a_damaged_line_is_named(line: int) -> None:
    lines = checked(BODY).splitlines()
    lines[line] = lines[line].replace(lines[line][3], chr(ord(lines[line][3]) ^ 1), 1)
    with pytest.raises(RunFailed, match="no line" if line == 0 else rf"uart: line {line + 1}: "):
        parse("\n".join(lines) + "\n", "uart")


@pytest.mark.parametrize("kept", range(len(BODY)))
def test_a_result_cut_off_is_refused(kept: int) -> None:
    whole = checked(BODY)
    lines = whole.splitlines(keepends=True)
    for text in ("".join(lines[:kept]), "".join(lines[:kept]) + lines[kept][: len(lines[kept]) // 2]):
        with pytest.raises(RunFailed, match="uart"):
            parse(text, "uart")


@given(st.lists(st.sampled_from([*BODY, 'series "x" ns 2 0 0', "v 1", "v x", "v", 'benchmark "a" no', "junk"])))
def test_lines_in_any_order_give_a_result_or_an_error(lines: list[str]) -> None:
    try:
        output = parse(checked(["rtqual-probe 1", *lines]), "uart")
    except RunFailed as error:
        assert str(error).startswith("uart: ")
    else:
        assert output.system
        assert output.family


@given(st.binary(max_size=400), st.integers(0, len(checked(BODY))))
def test_bytes_written_over_it_are_found(junk: bytes, at: int) -> None:
    whole = checked(BODY)
    text = whole[:at] + junk.decode("latin-1") + whole[at + len(junk) :]
    try:
        output = parse(text, "uart")
    except RunFailed:
        return
    assert output == parse(whole, "uart")


def test_results_of_an_older_run_before_it_are_told_apart() -> None:
    """A UART log that holds the cut-off result of an earlier start is not taken for the later one."""
    text = "".join(checked(BODY).splitlines(keepends=True)[:4]) + checked(BODY)
    with pytest.raises(RunFailed, match="line 5"):
        parse(text, "uart")
