# SPDX-License-Identifier: MIT
"""rtqual counts a record's raw samples anew, as it did when it imported them, and gives all figures."""

import json
import sys
import time
from pathlib import Path

from rtqual.engine.analysis.figure.summary import groups, measure
from rtqual.protocols.record.parquet import RAW, InParquet
from rtqual.protocols.record.schema import Record, Series
from rtqual.protocols.record.store import read_manifest

started = time.monotonic()
folder = Path(sys.argv[1])
manifest = read_manifest(folder)
series = Series.of_order(InParquet((folder / RAW,)), manifest.series[0])
((group, records),) = groups([Record(manifest, (series,))]).items()
figures = measure(group, records).summary.figures
values = {name: figure.value for name, figure in figures.items()}
print(json.dumps({"inside_s": time.monotonic() - started, **values}))
