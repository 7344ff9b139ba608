# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import CommandOfPart, Part, Row

_HERE = "rtqual.parts.importers"
PART = Part(
    "importers",
    commands=(
        CommandOfPart(
            200, f"{_HERE}.command:import_", "import", "Read what other tools measured into records (docs/import.md)."
        ),
    ),
    boards=(Row(70, f"{_HERE}.board_rows:BOARD"),),
    imports=(  # a file is of the first format whose mark is in it
        Row(10, f"{_HERE}.columns:PARQUET"),
        Row(20, f"{_HERE}.probe_result:PROBE"),
        Row(30, f"{_HERE}.histogram_table:FORMAT"),
        Row(40, f"{_HERE}.columns:CSV"),
        Row(50, f"{_HERE}.rteval:FORMAT"),
        Row(55, f"{_HERE}.rteval_report:FORMAT"),
        Row(60, f"{_HERE}.stress_ng:FORMAT"),
        Row(70, f"{_HERE}.osadl:FORMAT"),
        Row(80, f"{_HERE}.jitterdebugger:FORMAT"),
        Row(90, f"{_HERE}.rt_tests_json:FORMAT"),
        Row(100, f"{_HERE}.cyclictest_json:FORMAT"),
        Row(110, f"{_HERE}.rtla:FORMAT"),
        Row(120, f"{_HERE}.rtla_top:FORMAT"),
        Row(130, f"{_HERE}.xenomai:PLOT"),
        Row(140, f"{_HERE}.xenomai:SCREEN"),
        Row(150, f"{_HERE}.stress_ng_text:FORMAT"),
        Row(160, f"{_HERE}.rt_pairs:FORMAT"),
        Row(170, f"{_HERE}.hwlatdetect:FORMAT"),
        Row(175, f"{_HERE}.hwlat_trace:FORMAT"),
        Row(180, f"{_HERE}.latency_tracer:FORMAT"),
        Row(190, f"{_HERE}.tracer_lines:FORMAT"),
        Row(200, f"{_HERE}.noise:OSLAT"),
        Row(210, f"{_HERE}.noise:SYSJITTER"),
        Row(220, f"{_HERE}.perf_sched:LATENCY"),
        Row(230, f"{_HERE}.perf_sched:TIMEHIST"),
        Row(240, f"{_HERE}.rt_app:FORMAT"),
        Row(250, f"{_HERE}.zephyr:LATENCY_MEASURE"),
        Row(260, f"{_HERE}.zephyr:THREAD_METRIC"),
        Row(270, f"{_HERE}.sysbench:FORMAT"),
        Row(280, f"{_HERE}.cyclictest_verbose:FORMAT"),
        Row(290, f"{_HERE}.cyclictest_histogram:FORMAT"),
        Row(300, f"{_HERE}.cyclictest_summary:FORMAT"),
        Row(310, f"{_HERE}.hackbench_times:FORMAT"),
        Row(320, f"{_HERE}.rtosbench:FORMAT"),
    ),
)
