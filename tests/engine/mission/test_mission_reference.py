# SPDX-License-Identifier: MIT
"""The mission's keys, table by table, for people to read."""

from rtqual.engine.mission.all_keys import KeyTable, key_tables


def the(name: str) -> KeyTable:
    (found,) = [table for table in key_tables() if name in table.names]
    return found


def test_every_table_has_a_heading_and_is_there_once() -> None:
    names = [name for table in key_tables() for name in table.names]
    assert len(names) == len(set(names))
    assert {"mission", "candidate.tailor", "program.task", "verify.meaning", "scale.NAME.plan", "goal"} <= {*names}
    assert the("program.task").headings == ("[[program.task]]",)
    assert the("candidate.built").headings == ("[candidate.built]",)


def test_a_key_says_what_may_stand_there_and_what_it_is_without() -> None:
    lines = {key.name: str(key) for key in the("scale.NAME.plan").keys}
    assert lines["cpus"].startswith("cpus (list: `1`, `2`, `4`; default [1]): ")
    assert lines["runs"].startswith("runs (number, 1 to 10,000 or `auto`; required): ")
    assert lines["most_runs"].startswith("most_runs (number, 10 to 10,000): ")
    assert {key.name: key.default for key in the("parameters.cyclictest").keys}["interval"] == '"1 ms"'


def test_every_key_is_explained_but_for_parameters_that_explain_themselves() -> None:
    silent = {name for table in key_tables() for key in table.keys if not key.about for name in table.names}
    assert {name for name in silent if not name.startswith("parameters.")} == set()


def test_instruments_with_equal_parameters_share_a_table() -> None:
    assert the("parameters.sysbench-fileio-root") == the("parameters.sysbench-fileio-usb")
