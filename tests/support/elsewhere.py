# SPDX-License-Identifier: MIT
"""A mission whose instrument and load are those of the package in tests/parts/elsewhere."""

MISSION = """\
[mission]
name = "afar"
title = "What another package brings"
purpose = "Shows that nothing else has to know it."
duration = "1 min"

[[candidate]]
name = "afar"
title = "Where it runs"
{candidate}

[[requirement]]
name = "messages"
instrument = "elsewhere-pauses"
load = "elsewhere-sum"
statistic = "max"
at_most = "1 h"
{tables}
[parameters.elsewhere-pauses]
looks = 10

[[scale.demo.plan]]
instruments = ["elsewhere-pauses"]
loads = ["elsewhere-sum"]
runs = {runs}
"""


def elsewhere_mission(candidate: str, runs: int, tables: str = "") -> str:
    """`candidate`: the key that says where it runs; `tables`: those that stand behind the requirement."""
    return MISSION.format(candidate=candidate, runs=runs, tables=tables)
