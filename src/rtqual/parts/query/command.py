# SPDX-License-Identifier: MIT
"""`rtqual query`."""

from decimal import Decimal
from pathlib import Path

from rtqual.base.words import clean
from rtqual.face.commands.app import LITERAL, Json, print_json
from rtqual.face.terminal.tables import table

_SHOWN_ROWS, _SHOWN_LETTERS = 200, 400


def query(sql: str, folders: list[Path], /, *, as_json: Json = False) -> int:
    """Ask the records of many campaigns and boards in SQL (docs/query.md).

    Parameters
    ----------
    sql
        One SELECT, in DuckDB's SQL, over the views records, samples, boards, figures and verdicts.
    folders
        The folders of campaigns, or a folder that holds some.
    """
    from rtqual.face.terminal.plain import plain  # noqa: PLC0415
    from rtqual.parts.query.query import query as stage  # noqa: PLC0415 - the libraries behind it are slow to load

    found = stage(sql, folders)
    if as_json:
        rows = [[plain(_number(value)) for value in row] for row in found.rows]
        print_json({"columns": found.columns, "rows": rows, "more": found.more})
        return 0
    shown = [["" if value is None else _shown(value) for value in row] for row in found.rows[:_SHOWN_ROWS]]
    LITERAL.print(table([column[:_SHOWN_LETTERS] for column in found.columns], shown))
    if len(found.rows) > _SHOWN_ROWS:
        LITERAL.print(f"{_SHOWN_ROWS} rows are shown, there are more: LIMIT, or --json", highlight=False)
    return 0


def _number(value: object) -> object:
    return float(value) if isinstance(value, Decimal) else value


def _shown(value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return clean(text if len(text) <= _SHOWN_LETTERS else f"{text[:_SHOWN_LETTERS]}…")  # here, to be as wide as shown
