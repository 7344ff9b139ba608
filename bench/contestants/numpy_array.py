# SPDX-License-Identifier: MIT
"""numpy on the samples as one array."""

import json
import sys
import time

import numpy as np

started = time.monotonic()
samples = np.load(sys.argv[1])
low, high, mean, std = samples.min(), samples.max(), samples.mean(), samples.std(ddof=1)
parts = {
    "p50": 50_000,
    "p90": 90_000,
    "p95": 95_000,
    "p99": 99_000,
    "p99.9": 99_900,
    "p99.99": 99_990,
    "p99.999": 99_999,
}
ranks = [-(-len(samples) * part // 100_000) - 1 for part in parts.values()]
found = np.partition(samples, ranks)[ranks].tolist()
values = {"min": int(low), "max": int(high), **dict(zip(parts, found, strict=True))}
print(json.dumps({"inside_s": time.monotonic() - started, **values}))
