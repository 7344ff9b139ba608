# SPDX-License-Identifier: MIT
"""Samples in a column of Parquet or comma-separated text: exact, in their order, or refused with the place."""

import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtqual.base.errors import BadInput
from rtqual.parts.importers.detect import detect
from rtqual.parts.importers.records import Circumstances, import_files
from rtqual.protocols.record.schema import Series, SeriesKind
from rtqual.protocols.record.store import read
from support.import_files import in_order

ANY_FOLDER = [HealthCheck.function_scoped_fixture]
LARGEST = 2**53


def parquet(folder: Path, columns: str, name: str = "file") -> Path:
    """A file of the columns, an expression of SQL over `i` from 0 to 9."""
    path = folder / f"{name}.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (FROM range(10) t(i) SELECT {columns}) TO '{path}' (FORMAT parquet)")
    return path


def text(folder: Path, content: str | bytes, name: str = "file.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def kept(path: Path, folder: Path, format_name: str | None = None, **known: str) -> Series:
    """The only series of the only record, as it is read back."""
    circumstances = Circumstances("flight", **known)  # type: ignore[arg-type]
    (one,) = import_files([path], folder / "out", circumstances, format_name=format_name)
    (series,) = read(one.path).series
    assert series.info.kind is SeriesKind.RAW
    return series


def refusal(path: Path, **known: str) -> str:
    with pytest.raises(BadInput) as caught:
        import_files([path], path.parent / "out", Circumstances("flight", **known))  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(str(path))


@pytest.mark.parametrize("type_", ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "UINTEGER", "UBIGINT"])
def test_whole_numbers_of_any_size_are_read_in_their_order(type_: str, tmp_path: Path) -> None:
    series = kept(parquet(tmp_path, f"((7 * i + 3) % 10)::{type_} AS latency_ns"), tmp_path)
    assert in_order(series) == [(7 * i + 3) % 10 for i in range(10)]
    assert (series.values.tolist(), series.counts.tolist()) == (list(range(10)), [1] * 10)
    assert series.info.name == "latency"


def test_the_unit_is_told_by_the_columns_name_or_by_the_user(tmp_path: Path) -> None:
    assert kept(parquet(tmp_path, 'i AS "delay (us)"'), tmp_path).values[-1] == 9000
    assert kept(parquet(tmp_path, "i AS delay"), tmp_path, unit="us").values[-1] == 9000
    assert "say --unit ns or --unit us" in refusal(parquet(tmp_path, "i AS delay"))
    assert "leave out --unit us" in refusal(parquet(tmp_path, "i AS delay_ns"), unit="us")
    assert "say --unit" in refusal(text(tmp_path, "5\n6\n7\n"))


def test_one_of_several_columns_has_to_be_named(tmp_path: Path) -> None:
    path = parquet(tmp_path, 'i AS sent_ns, 10 - i AS "it\'s", 0.5 * i AS share')
    assert "several columns that may be meant (sent_ns, it's): name one with --column" in refusal(path)
    assert in_order(kept(path, tmp_path, column="it's", unit="ns")) == list(range(10, 0, -1))
    assert "has no column 'none': --column takes one of sent_ns, it's, share" in refusal(path, column="none")
    assert "column 'share' is" in refusal(path, column="share", unit="ns")
    table = text(tmp_path, 'sent,"late, ns"\n0.5,7\n1.5,5\n')
    assert in_order(kept(table, tmp_path, column="late, ns")) == [7, 5]
    assert "several columns" in refusal(table)
    assert in_order(kept(table, tmp_path, column="sent", unit="us")) == [500, 1_500]
    for bare in ("1,7\n2,5\n", "0.1,7\n0.2,5\n", "-1e-3,7\n,5\n"):  # a first line with a number has no names
        assert in_order(kept(text(tmp_path, bare), tmp_path, column="column 2", unit="ns")) == [7, 5]
    assert "same name" in refusal(text(tmp_path, "a,a\n1,2\n"))


def test_other_formats_have_no_columns(tmp_path: Path) -> None:
    path = Path(__file__).parents[2] / "data" / "import" / "hackbench.txt"
    with pytest.raises(BadInput, match="has no columns to choose from"):
        import_files([path], tmp_path, Circumstances("flight", column="a"))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("0.5 * i AS a_ns", "no column of whole numbers (it has a_ns DECIMAL"),
        ("i::DOUBLE AS a_ns", "no column of whole numbers (it has a_ns DOUBLE)"),
        ("[i] AS a_ns", "no column of whole numbers"),
        ("i::VARCHAR AS a_ns", "no column of whole numbers"),
        ("nullif(i, 4) AS a_ns", ": row 5 of column 'a_ns' has no whole number"),
        ("i - 1 AS a_ns", ": row 1 of column 'a_ns' has -1, which is below zero"),
        ("i + 9007199254740990 AS a_ns", ": row 4 of column 'a_ns' has 9007199254740993, which is no measurement"),
        ("i + 9007199254740 AS a_us", ": row 2 of column 'a_us' has 9007199254741"),
        ("i::UBIGINT + 18446744073709551000 AS a_ns", ": row 1 of column 'a_ns' has 18446744073709551000"),
        ("NULL::BIGINT AS a_ns", ": row 1 of column 'a_ns' has no whole number"),
    ],
)
def test_what_is_not_a_sample_is_refused_with_its_place(columns: str, said: str, tmp_path: Path) -> None:
    assert said in refusal(parquet(tmp_path, columns))


def test_fractions_and_values_below_zero_are_exact_to_the_nanosecond(tmp_path: Path) -> None:
    path = text(tmp_path, "error_us\n12.345\n-0.5\n+13.0001\n0.0006\n")
    (one,) = import_files([path], tmp_path, Circumstances("flight"))
    assert in_order(read(one.path).series[0]) == [12_345, -500, 13_000, 1]
    assert "2 values are rounded to a nanosecond" in one.record.manifest.provenance.facts["assumed"]
    assert one.record.manifest.scalars.keys() == set()  # no step coarser than a nanosecond
    whole = text(tmp_path, "error_us\n12\n-1\n")
    assert in_order(kept(whole, tmp_path)) == [12_000, -1_000]


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (FROM range(0) t(a_ns)) TO '{path}' (FORMAT parquet)")
    assert "has no samples" in refusal(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a_ns\n1\nx\n", ":3: column 'a_ns' has no number with up to 18 digits"),
        ("a_ns\n1\n\n3\n", ":3: column 'a_ns' has no number with up to 18 digits"),
        ("a_ns\n1\n1e3\n", ":3: column 'a_ns' has no number with up to 18 digits"),
        ("a_ns\n1\n99999999999999999999\n", ":3: column 'a_ns' has no number with up to 18 digits"),
        ("a_ns\n1\n9007199254740993\n", ":3: column 'a_ns' has 9007199254740993, which is no measurement"),
        ("a_ns\n1\n2,3\n", ":3: cannot be read as comma-separated text"),
    ],
)
def test_a_line_that_is_no_sample_is_named(content: str, said: str, tmp_path: Path) -> None:
    assert said in refusal(text(tmp_path, content))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_text_is_read_as_others_write_it(end: str, tmp_path: Path) -> None:
    """Long, six digits a line as histograms have them, with a mark in front, or without its last line end."""
    values = list(range(100_000, 101_000))
    lines = end.join(map(str, values))
    for content in (lines + end, lines, "\ufeff" + lines + end, f'"latency_ns"{end}' + lines, f"a_ns{end} " + lines):
        path = text(tmp_path, content)
        assert detect(path).name == "csv"
        assert in_order(kept(path, tmp_path, **({} if "_ns" in content else {"unit": "ns"}))) == values


@pytest.mark.parametrize("name", ["it's [1]*", "{a,b}", "späce $HOME"])
def test_any_file_name_will_do(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name.replace("'", "")
    folder.mkdir()
    (folder / "1").mkdir()
    source = parquet(tmp_path, "i AS a_ns")
    for path in (folder / f"{name}.parquet", folder / f"{name}.csv"):
        path.write_bytes(source.read_bytes() if path.suffix == ".parquet" else b"a_ns\n" + b"5\n" * 10)
        assert kept(path, tmp_path).total == 10


@settings(deadline=None, max_examples=15, suppress_health_check=ANY_FOLDER)
@given(st.lists(st.integers(0, LARGEST), min_size=1, max_size=30), st.booleans())
def test_what_is_imported_is_what_numpy_counts(tmp_path: Path, values: list[int], as_text: bool) -> None:
    if as_text:
        path = text(tmp_path, "a_ns\n" + "".join(f"{value}\n" for value in values))
    else:
        path = tmp_path / "file.parquet"
        with duckdb.connect() as connection:
            connection.register("samples", {"a_ns": np.array(values, np.int64)})
            connection.execute(f"COPY samples TO '{path}' (FORMAT parquet)")
    series = kept(path, tmp_path)
    distinct, counts = np.unique(values, return_counts=True)
    assert in_order(series) == values
    assert (series.values.tolist(), series.counts.tolist()) == (distinct.tolist(), counts.tolist())


@pytest.mark.parametrize("first", ['0"', '17""', 'a,5"'])
def test_a_first_number_with_a_stray_quotation_mark_is_not_taken_for_a_title(tmp_path: Path, first: str) -> None:
    column = "5" if "," not in first else "x,5"
    with pytest.raises(BadInput, match=r"stray quotation mark, which is no column's name"):
        kept(text(tmp_path, f"{first}\n{column}\n"), tmp_path, "csv", unit="ns")


@settings(deadline=None, max_examples=60, suppress_health_check=ANY_FOLDER)
@given(st.text(st.sampled_from('0123456789,.-"ea \n\r\t\x00\x1b\ufeff;'), max_size=60), st.sampled_from(["", "a_ns\n"]))
def test_any_text_is_read_or_refused(tmp_path: Path, content: str, header: str) -> None:
    path = text(tmp_path, header + content)
    try:
        series = kept(path, tmp_path, "csv", unit="ns")
    except BadInput as error:
        assert "\n" not in str(error)
    else:
        first, _, rest = content.partition("\n")
        is_title = not header and not re.fullmatch(r"[\s\ufeff\"]*[-+]?\d+(\.\d+)?[\s\"]*", first)
        numbers = re.findall(r"[-+]?\d+(?:\.\d+)?", rest if is_title else content)
        assert in_order(series) == [int(Decimal(one).quantize(Decimal(1), ROUND_HALF_UP)) for one in numbers]
