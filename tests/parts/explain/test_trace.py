# SPDX-License-Identifier: MIT
"""The plugin's log, the symbols and the spec: what is read, and what is refused."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtqual.base.errors import BadInput, RunFailed
from rtqual.parts.explain.context import slices
from rtqual.parts.explain.processor import X86_64
from rtqual.parts.explain.spec import spec
from rtqual.parts.explain.symbols import Symbols
from rtqual.parts.explain.trace import _KINDS, KernelThread, parse, require_room
from support.watched_runs import AT, CYCLICTEST, END, KERNEL, LOAD, SYMBOLS, TEXT, USER, VARIABLES, Log

HEADER = Path(__file__).parents[3] / "target/observers/watch.h"


def whole() -> Log:
    return Log().switch(100, LOAD).add("E", 200, AT["entry_SYSCALL_64"]).switch(300, CYCLICTEST).add("R", 400, USER)


def test_a_log_is_read_with_the_threads_as_they_are_named() -> None:
    trace = whole().trace()
    assert trace.event_ns.tolist() == [100, 200, 300, 400]
    assert [str(thread) for _, thread in trace.threads] == ["hackbench", "cyclictest (FIFO 80)"]
    assert list(trace.readings()) == [(3, 400, KernelThread(CYCLICTEST, "cyclictest", 19))]


def test_the_kinds_are_those_of_the_plugin() -> None:
    told = re.findall(r"^\t[A-Z_]+ = '(\w)'(?!.*never written)", HEADER.read_text(), re.MULTILINE)
    assert sorted(told) == sorted(_KINDS.decode())


@pytest.mark.parametrize("cut", [1, 15, 16, 40])
def test_a_log_that_was_cut_is_refused(cut: int) -> None:
    with pytest.raises(RunFailed, match=r"cut|no end"):
        parse(whole().content()[:-cut])


def test_a_run_that_was_ended_for_its_long_log_is_told_from_others(tmp_path: Path) -> None:
    """The plugin ends QEMU then (target/observers/watch.c), which tells no more than that no result came."""
    (most,) = re.findall(r"MOST_RECORDS = (\d+ << \d+)", HEADER.with_name("watch_log.c").read_text())
    records, _, bits = most.partition(" << ")
    log = tmp_path / "log"
    log.touch()
    require_room(log)
    os.truncate(log, (int(records) << int(bits)) * 16 - 4096)
    with pytest.raises(RunFailed, match="too long to be watched"):
        require_room(log)


def test_an_empty_log_a_strange_record_and_a_clock_that_goes_back_are_refused() -> None:
    with pytest.raises(RunFailed, match="cut"):
        parse(b"")
    with pytest.raises(RunFailed, match="kind 81"):
        whole().add("Q", 500).trace()
    with pytest.raises(RunFailed, match="goes back"):
        whole().add("H", 50).trace()


@given(st.binary(max_size=400))
def test_whatever_the_log_holds_it_is_read_or_refused(content: bytes) -> None:
    try:
        trace = parse(content)
    except RunFailed:
        return
    list(trace.readings())


KINDS = st.sampled_from(sorted(set(_KINDS.decode()) - {"z"}))
WORDS = st.sampled_from([*AT.values(), *(one + 8 for one in AT.values()), 0, 1, USER, (1 << 64) - 1])


@given(st.lists(st.tuples(KINDS, WORDS), min_size=1, max_size=60))
def test_whatever_a_window_holds_its_slices_have_no_gap(records: list[tuple[str, int]]) -> None:
    log = Log()
    for number, (kind, word) in enumerate(records):
        log.add(kind, 100 + 10 * number, word % 4 if kind == "a" else word)
    trace = log.trace()
    found = list(slices(trace, X86_64, SYMBOLS, 0, len(trace.kinds) - 1))
    assert [one.end_ns for one in found[:-1]] == [one.begin_ns for one in found[1:]]
    assert all(one.begin_ns < one.end_ns for one in found)


def test_an_address_lies_in_the_function_before_it_or_in_none() -> None:
    assert SYMBOLS.named(AT["late_hold"] + 0xFFF) == "late_hold"
    assert SYMBOLS.named(KERNEL - 1) == ""
    assert SYMBOLS.named(END + (1 << 21)) == ""


def test_a_function_of_a_module_bears_its_name() -> None:
    assert Symbols.read("ffffffffc0001000 t hold\t[late]\n").named(0xFFFFFFFFC0001004) == "hold [late]"
    begins = "ffffffff81e00000 T __sched_text_start\nffffffff81e00000 t __schedule\nffffffff81e00000 T alias\n"
    assert Symbols.read(begins).named(0xFFFFFFFF81E00000) == "__schedule"


def test_the_spec_names_what_is_watched_in_order() -> None:
    lines = spec(X86_64, SYMBOLS, [(3, 7)]).splitlines()
    entries = [line.split() for line in lines if line.startswith("entry")]
    assert [kind for _, kind, _ in entries] == ["I", "X", "E", "S", "I"]
    assert [address for *_, address in entries] == sorted(address for *_, address in entries)
    assert "value count 8" in lines
    assert lines[-1] == "window 3 7"


def test_a_kernel_without_symbols_is_refused_with_what_it_needs() -> None:
    with pytest.raises(BadInput, match="CONFIG_KALLSYMS"):
        Symbols.read("0000000000000000 T hidden\n")
    with pytest.raises(BadInput, match="CONFIG_KALLSYMS_ALL"):
        spec(X86_64, Symbols.read(TEXT))


def test_a_kernel_that_names_more_than_is_watched_is_refused() -> None:
    many = "".join(f"{END + 16 * number:016x} T asm_exc_{number}\n" for number in range(5000))
    with pytest.raises(BadInput, match=r"5,00\d ways into it"):
        spec(X86_64, Symbols.read(TEXT + many + VARIABLES))
