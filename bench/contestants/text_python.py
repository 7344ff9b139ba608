# SPDX-License-Identifier: MIT
"""The usual script: every line of cyclictest -v into a list."""

import json
import sys
import time
from pathlib import Path

started = time.monotonic()
with Path(sys.argv[1]).open() as file:
    samples = sorted(int(line.split(":")[2]) for line in file)
values = {"min": samples[0], "max": samples[-1], "avg": sum(samples) / len(samples)}
for name, part in (("p50", 50_000), ("p99", 99_000), ("p99.99", 99_990)):
    values[name] = samples[-(-len(samples) * part // 100_000) - 1]
print(json.dumps({"inside_s": time.monotonic() - started, **values}))
