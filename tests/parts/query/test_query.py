# SPDX-License-Identifier: MIT
"""`rtqual query`: what the tables hold, and what no query reaches, whoever wrote it."""

import json
import shutil
from pathlib import Path

import duckdb
import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.campaign import folder as kept
from rtqual.parts.query import query as stage
from rtqual.parts.query.query import query
from rtqual.protocols.record.store import Store, make
from support.command import Fails, Run
from support.made_campaign import campaign_of
from support.store_records import INPUTS, MEASUREMENT, record


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two campaigns, each of a board of one model, in one folder."""
    tmp_path = tmp_path_factory.mktemp("query")
    for n, name in enumerate(("pi-a", "pi-b")):
        inputs = INPUTS.model_copy(update={"candidate": "here", "board": "pi", "seed": n})
        one = record(MEASUREMENT, inputs, facts={"board": name, "serial": "\x1b[31m[b]red"})
        campaign_of(tmp_path / "fleet" / name, [one], "here")
    return tmp_path / "fleet"


def test_records_samples_and_verdicts_of_all_campaigns_are_tables(fleet: Path) -> None:
    rows = query(
        "SELECT campaign, board, board_name, seed, problems[1], scalars['rate'] FROM records ORDER BY 1", [fleet]
    )
    assert rows.columns[:4] == ("campaign", "board", "board_name", "seed") and not rows.more
    assert rows.rows == [("pi-a", "pi", "pi-a", 0, "one problem", 0.1), ("pi-b", "pi", "pi-b", 1, "one problem", 0.1)]
    samples = "SELECT board_name, series, unit, value, count, beyond FROM samples WHERE campaign = 'pi-a'"
    assert query(f"{samples} ORDER BY series, value", [fleet / "pi-a", fleet / "pi-b"]).rows == [
        ("pi-a", "latency", "ns", 1000, 3, False),
        ("pi-a", "latency", "ns", 2000, 1, False),
        ("pi-a", "latency", "ns", 5000, 2, True),
        *(("pi-a", "time", "ns", value, 1, False) for value in (1, 2, 3)),
    ]
    verdicts = query("SELECT DISTINCT campaign, candidate, requirement, outcome FROM verdicts ORDER BY ALL", [fleet])
    assert verdicts.rows == [(name, "here", "wake-up under load", "undecided") for name in ("pi-a", "pi-b")]


def test_boards_are_told_month_by_month(fleet: Path) -> None:
    """1000 ns three times, 2000 once, twice 5000 or more."""
    wanted = "SELECT board, board_name, runs, refused, samples, mean, p99, worst, beyond_end FROM boards"
    rows = query(f"{wanted} WHERE series = 'latency'", [fleet]).rows
    assert rows == [("pi", name, 1, 1, 6, 1250.0, 5000, 5000, 2) for name in ("pi-a", "pi-b")]
    (month,) = (row[0] for row in query("SELECT DISTINCT month FROM boards", [fleet]).rows)
    assert isinstance(month, str) and len(month) == len("2026-11")
    assert len(query("FROM boards", [fleet]).rows) == 4
    with pytest.raises(BadInput):
        query("SELECT 1 FROM boards", [fleet / "absent"])


def test_a_record_that_is_there_again_is_no_further_draw_of_its_board(fleet: Path, tmp_path: Path) -> None:
    """In a copy of its campaign; and as the run that tests determinism, in an unfinished one."""
    shutil.copytree(fleet / "pi-a", tmp_path / "copy")
    (one,) = kept.load(fleet / "pi-a").result.records
    for repeat in (0, 1):
        Store(tmp_path / "new/records").write(
            make(one.inputs, MEASUREMENT, one.manifest.provenance, timing=one.manifest.timing, repeat=repeat)
        )
    folders = [fleet / "pi-a", tmp_path / "copy", tmp_path / "new"]
    assert query("SELECT count(*) FROM records", folders).rows == [(4,)]
    assert query("SELECT runs, samples, beyond_end FROM boards WHERE series = 'latency'", folders).rows == [(1, 6, 2)]


def test_an_unfinished_campaigns_records_are_read_too_and_damage_is_named(tmp_path: Path) -> None:
    path = Store(tmp_path / "new/records").write(record())
    assert query("SELECT count(*) FROM records", [tmp_path / "new"]).rows == [(1,)]
    (path / "samples.parquet").write_bytes(b"PAR1")
    with pytest.raises(BadInput, match=r"samples\.parquet: the samples are damaged"):
        query("FROM samples", [tmp_path / "new"])


NO_SELECT = (
    "COPY (SELECT 1) TO '{0}/out.csv'",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{0}/out.csv'",
    "ATTACH '{0}/out.db'",
    "EXPORT DATABASE '{0}/out'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "PRAGMA enable_profiling",
    "SET memory_limit = '100GB'",
    "CREATE TABLE own AS SELECT 1",
    "SELECT 1; SELECT 2",
    "",
)
REFUSED = (
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('{0}/*')",
    "SELECT * FROM read_parquet('{0}/pi-a/records/*/samples.parquet')",
    "SELECT * FROM read_csv('http://127.0.0.1:9/')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM fleet",
    "SELECT * FROM enable_logging(storage = 'file', storage_path = '{0}/out')",
    "SELECT * FROM duckdb_secrets()",
    "WITH own AS (INSERT INTO records (id) VALUES (9) RETURNING id) SELECT * FROM own",
    "SELECT * FROM query('COPY records TO ''{0}/out.csv''')",
    "SELECT getenv('HOME')",
)


def test_no_query_reaches_a_file_an_address_or_a_setting(fleet: Path) -> None:
    before = sorted(fleet.rglob("*"))
    for sql in NO_SELECT:
        with pytest.raises(BadInput, match=r"the query (must be one SELECT|is no SQL)"):
            query(sql.format(fleet), [fleet])
    for sql in REFUSED:
        with pytest.raises(BadInput, match="the query cannot be answered"):
            query(sql.format(fleet), [fleet])
    assert sorted(fleet.rglob("*")) == before


def test_no_query_takes_all_time_or_memory(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "_TIME_S", 0.2)
    for sql, why in (
        ("SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range + b.range = -1", "took more than 0 s"),
        ("SELECT a.range FROM range(100000) a, range(100000) b ORDER BY 1 DESC", "takes more than|took more"),
        ("SELECT repeat('x', 4000000000)", "takes more than 512 MiB"),
        ("SELECT list_sum(range(2000000000))", "takes more than|took more"),
    ):
        with pytest.raises(BadInput, match=why):
            query(sql, [fleet])
    assert query("SELECT 1", [fleet]).rows == [(1,)]  # the limits are gone with the query


def test_it_prints_a_table_without_what_commands_a_terminal_and_json(rtqual: Run, fleet: Path) -> None:
    sql = "SELECT chr(27) || '[2J' AS \"a\x1b[1m\", facts['serial'] AS serial, 1.5::DECIMAL AS d, 'NaN'::FLOAT AS n"
    sql += " FROM records"
    shown = rtqual("query", sql, fleet)
    assert shown.returncode == 0 and "\x1b" not in shown.stdout and "[31m[b]red" in shown.stdout, shown.stdout
    said = json.loads(rtqual("query", sql, fleet, "--json").stdout)
    assert said["columns"][1:] == ["serial", "d", "n"] and not said["more"]
    assert said["rows"][0] == ["\x1b[2J", "\x1b[31m[b]red", 1.5, None]
    many = rtqual("query", "SELECT repeat('y', 1000) FROM range(1000)", fleet).stdout
    assert "200 rows are shown" in many and "y…" in many


def test_what_is_no_campaign_is_one_line(fails: Fails, tmp_path: Path, fleet: Path) -> None:
    assert "no folder there" in fails(2, "query", "SELECT 1", tmp_path / "absent")
    (tmp_path / "empty").mkdir()
    assert "no record there" in fails(2, "query", "SELECT 1", tmp_path / "empty")
    assert "Binder Error" in fails(2, "query", "SELECT nothing FROM records", fleet)


def test_a_link_in_a_folder_of_campaigns_is_not_followed(fleet: Path, tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open/linked").symlink_to(fleet / "pi-a")
    with pytest.raises(BadInput, match="no record there"):
        query("SELECT 1", [tmp_path / "open"])


def test_duckdb_knows_the_limits_asked_for() -> None:
    with duckdb.connect(config=stage._LOCKED) as connection:
        assert connection.execute("SELECT current_setting('memory_limit')").fetchall() == [("512.0 MiB",)]


def test_folders_that_take_all_time_to_read_are_given_up(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "_READING_S", -1.0)
    with pytest.raises(BadInput, match="give fewer folders"):
        query("SELECT 1", [fleet])
