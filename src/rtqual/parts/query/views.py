# SPDX-License-Identifier: MIT
"""What a query can read: the columns of the tables, and the views over them."""

_TEXTS = "MAP(VARCHAR, VARCHAR)"
RECORDS = {
    "id": "INTEGER",
    "campaign": "VARCHAR",
    "hash": "VARCHAR",
    "candidate": "VARCHAR",
    "instrument": "VARCHAR",
    "load": "VARCHAR",
    "board": "VARCHAR",
    "board_name": "VARCHAR",
    "cpus": "INTEGER",
    "seed": "BIGINT",
    "repeat": "INTEGER",
    "timing": "VARCHAR",
    "started": "TIMESTAMP",
    "wall_s": "DOUBLE",
    "kernel": "VARCHAR",
    "rtqual": "VARCHAR",
    "problems": "VARCHAR[]",
    "scalars": "MAP(VARCHAR, DOUBLE)",
    "facts": _TEXTS,
    "artefacts": _TEXTS,
}
FIGURES = {
    "campaign": "VARCHAR",
    "board": "VARCHAR",
    "board_name": "VARCHAR",
    "candidate": "VARCHAR",
    "kernel": "VARCHAR",
    "instrument": "VARCHAR",
    "load": "VARCHAR",
    "cpus": "INTEGER",
    "timing": "VARCHAR",
    "began": "TIMESTAMP",
    "problems": "VARCHAR[]",
    "figure": "VARCHAR",
    "value": "DOUBLE",
    "low": "DOUBLE",
    "high": "DOUBLE",
    "unit": "VARCHAR",
    "samples": "BIGINT",
    "runs": "INTEGER",
    "why_no_interval": "VARCHAR",
}
SERIES = {
    "number": "INTEGER",
    "id": "INTEGER",
    "series": "VARCHAR",
    "unit": "VARCHAR",
    "kind": "VARCHAR",
    "cpu": "INTEGER",
}
VERDICTS = {
    "campaign": "VARCHAR",
    "board": "VARCHAR",
    "ground": "VARCHAR",
    "candidate": "VARCHAR",
    "rank": "INTEGER",
    "score": "DOUBLE",
    "may_fly": "VARCHAR",
    "requirement": "VARCHAR",
    "outcome": "VARCHAR",
    "measured": "DOUBLE",
    "unit": "VARCHAR",
    "reason": "VARCHAR",
}
# A value beyond a histogram's end is known to be at least where that ends, or not at all.
SAMPLES = """\
CREATE VIEW samples AS SELECT records.*, series, unit, kind, cpu, value, count, beyond
FROM kept.histograms JOIN kept.series USING (number) JOIN records USING (id)
"""
# Each board and model over time. The same record again, or the run that tests determinism, is no further draw. What
# lies beyond a histogram's end is counted, and is in no mean. Names are joined last: the values are many.
BOARDS = """\
CREATE VIEW boards AS
WITH alike AS (
  SELECT number, hash, problems, board, board_name, strftime(started, '%Y-%m') AS month, candidate, instrument, load,
    series, unit,
    dense_rank() OVER (ORDER BY board, board_name, month, candidate, instrument, load, series, unit) AS kin
  FROM kept.series JOIN records USING (id)
  WHERE id IN (SELECT min(id) FROM records GROUP BY hash) AND number IN (SELECT DISTINCT number FROM kept.histograms)),
counted AS (
  SELECT kin, value, beyond, sum(count) AS count FROM kept.histograms JOIN alike USING (number) GROUP BY ALL),
placed AS (
  SELECT *, sum(count) OVER (own ORDER BY value) AS seen, sum(count) OVER own AS every
  FROM counted WINDOW own AS (PARTITION BY kin)),
figures AS (
  SELECT kin, sum(count) AS samples,
    sum(value * count) FILTER (NOT beyond) / sum(count) FILTER (NOT beyond) AS mean,
    min(value) FILTER (seen >= 0.99 * every) AS p99, max(value) AS worst, sum(count) FILTER (beyond) AS beyond_end
  FROM placed GROUP BY kin),
runs AS (
  SELECT kin, board, board_name, month, candidate, instrument, load, series, unit, count(DISTINCT hash) AS runs,
    count(DISTINCT hash) FILTER (len(problems) > 0) AS refused
  FROM alike GROUP BY ALL)
SELECT board, board_name, month, candidate, instrument, load, series, unit, runs, refused, samples, mean, p99, worst,
  beyond_end
FROM runs JOIN figures USING (kin) ORDER BY ALL
"""
