# SPDX-License-Identifier: MIT
"""DuckDB's exact quantiles of a record's raw samples."""

import json
import sys
import time

import duckdb

started = time.monotonic()
quantiles = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999, "p99.999": 0.99999}
query = f"SELECT quantile_disc(value, {[*quantiles.values()]}) FROM '{sys.argv[1]}'"  # noqa: S608 - our own file
(found,) = duckdb.connect().execute(query).fetchall()[0]
print(json.dumps({"inside_s": time.monotonic() - started, **dict(zip(quantiles, found, strict=True))}))
