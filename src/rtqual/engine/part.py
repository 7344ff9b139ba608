# SPDX-License-Identifier: MIT
"""What rtqual itself brings: its boards, instruments and loads."""

from rtqual.protocols.part import Keyed, Part, Row

_INSTRUMENTS = "rtqual.engine.instruments"
PART = Part(
    "engine",
    boards=(Row(10, "rtqual.engine.boards.house:BOARDS"),),
    instruments=(
        Row(10, f"{_INSTRUMENTS}.cyclictest.measure:CYCLICTEST"),
        Row(20, f"{_INSTRUMENTS}.stress_ng_cyclic:STRESS_NG_CYCLIC"),
        Row(50, f"{_INSTRUMENTS}.hackbench:HACKBENCH"),
        Row(60, f"{_INSTRUMENTS}.sysbench.tests:SYSBENCH"),
        Row(70, f"{_INSTRUMENTS}.probe.families:PROBES"),
        Row(80, f"{_INSTRUMENTS}.tracer:TRACERS"),
        Row(90, f"{_INSTRUMENTS}.late:LATE"),
        Row(100, f"{_INSTRUMENTS}.probe.families:MEMORY_PROBE"),
        Row(110, f"{_INSTRUMENTS}.probe.families:KERNEL_PROBES"),
        Row(130, f"{_INSTRUMENTS}.footprint:FOOTPRINT"),
    ),
    loads=(Row(10, "rtqual.engine.loads.stock:LOADS"),),
    annexes=(Row(5, "rtqual.engine.campaign.sessions:SESSIONS"), Row(6, "rtqual.engine.campaign.guests:GUESTS")),
    carried=(Row(10, "rtqual.engine.candidates.carried:probes"),),
    kernels=(
        Keyed(20, "rtqual.engine.candidates.kernel:packaged", "package"),
        Keyed(30, "rtqual.engine.candidates.kernel:built_elsewhere", "built"),
    ),
)
