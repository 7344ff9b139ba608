# SPDX-License-Identifier: MIT
"""What a repeated run says of the clock."""

from rtqual.protocols.record.schema import MODEL, Measurement, Record, Series, Timing
from rtqual.protocols.record.store import Store, read, settle_timing
from support.store_records import INPUTS, record


def settled(store: Store, *records: Record) -> set[tuple[int, Timing]]:
    for one in records:
        store.write(one)
    settle_timing(store, [read(path) for path in store.paths()])
    return {(read(path).manifest.repeat, read(path).manifest.timing) for path in store.paths()}


OTHER = Measurement((Series.raw([1], name="time"),))


def test_runs_that_are_alike_prove_the_instruction_clock(store: Store) -> None:
    found = settled(store, record(), record(repeat=1, wall_s=9.0))
    assert found == {(0, Timing.INSTRUCTIONS), (1, Timing.INSTRUCTIONS)}


def test_runs_that_differ_are_host_timed_with_all_their_group(store: Store) -> None:
    other_seed = record(inputs=INPUTS.model_copy(update={"seed": 2}))
    assert settled(store, record(), record(OTHER, repeat=1), other_seed) == {
        (0, Timing.HOST_TIMED),
        (1, Timing.HOST_TIMED),
    }


def test_a_group_without_a_repeat_is_untested(store: Store) -> None:
    assert settled(store, record()) == {(0, Timing.UNTESTED)}


def test_another_group_keeps_its_own_label(store: Store) -> None:
    loaded = INPUTS.model_copy(update={"load": "hackbench"})
    records = [record(), record(OTHER, repeat=1), record(inputs=loaded), record(inputs=loaded, repeat=1)]
    for one in records:
        store.write(one)
    first_runs = settle_timing(store, [read(path) for path in store.paths()])
    assert {one.inputs.load: one.manifest.timing for one in first_runs} == {
        "none": Timing.HOST_TIMED,
        "hackbench": Timing.INSTRUCTIONS,
    }


def test_the_record_with_the_new_label_is_the_one_on_disk(store: Store) -> None:
    paths = [store.write(record()), store.write(record(repeat=1))]
    (first,) = settle_timing(store, [read(path) for path in paths])
    assert first.manifest.timing == Timing.INSTRUCTIONS
    assert first.manifest == read(paths[0]).manifest


def test_the_hardwares_time_stays_real(store: Store) -> None:
    assert settled(store, record(timing=Timing.REAL)) == {(0, Timing.REAL)}


def test_what_a_model_made_says_so(store: Store) -> None:
    inputs = INPUTS.model_copy(update={"artefacts": {**INPUTS.artefacts, MODEL: "ab" * 32}})
    assert settled(store, record(inputs=inputs)) == {(0, Timing.MODELLED_UNTESTED)}
    again = settled(store, record(inputs=inputs, repeat=1))
    assert again == {(0, Timing.MODELLED), (1, Timing.MODELLED)}
    assert (0, Timing.HOST_TIMED) in settled(store, record(OTHER, inputs=inputs, repeat=1))
