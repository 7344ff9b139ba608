# SPDX-License-Identifier: MIT
"""rtqual reads a record, checks the hash of every file in it, and gives all its figures."""

import json
import sys
import time
from pathlib import Path

from rtqual.engine.analysis.figure.summary import groups, measure
from rtqual.protocols.record.store import read

started = time.monotonic()
((group, records),) = groups([read(Path(sys.argv[1]))]).items()
figures = measure(group, records).summary.figures
values = {name: figure.value for name, figure in figures.items()}
print(json.dumps({"inside_s": time.monotonic() - started, **values}))
