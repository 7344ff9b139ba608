# SPDX-License-Identifier: MIT
"""A made-up study whose figures are right."""

TOML = """
[source]
key = "made-up"
title = "Made up"
hardware = "none"
[[table]]
id = "table"
place = "Table 1"
caption = "Made up"
columns = ["min", "avg", "max", "p95", "range", "lead", "part"]
rows = [["a", 1.00, 3.00, 9.00, 2.00, 8.00, -1.00, 0.8889]]
"""
