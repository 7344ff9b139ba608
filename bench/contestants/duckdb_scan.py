# SPDX-License-Identifier: MIT
"""DuckDB's own scan of a record's raw samples."""

import json
import sys
import time

import duckdb

started = time.monotonic()
query = f"SELECT count(*), min(value), max(value), avg(value) FROM '{sys.argv[1]}'"  # noqa: S608 - our own file
_, low, high, _ = duckdb.connect().execute(query).fetchall()[0]
print(json.dumps({"inside_s": time.monotonic() - started, "min": low, "max": high}))
