# SPDX-License-Identifier: MIT
"""What this part brings."""

from rtqual.protocols.part import CommandOfPart, Keyed, MissionTables, Part, Row, Section

PART = Part(
    "docking",
    commands=(
        CommandOfPart(
            40, "rtqual_docking.command:lidar", "lidar",
            "Stream the docking camera on every kernel, by every way from frames to ranges (docs/docking/lidar.md).",
        ),
        CommandOfPart(
            60, "rtqual_docking.yamcs.command:ground", "ground",
            "Write what Yamcs needs to be the flight program's ground, and how to start it (docs/docking/ground.md).",
        ),
        CommandOfPart(
            70, "rtqual_docking.yamcs.command_serial:serial", "serial",
            "Carry the flight program's serial line to a TCP port, for Yamcs and others (docs/docking/ground.md).",
        ),
    ),
    instruments=(
        Row(140, "rtqual_docking.exercise:EXERCISE"),
        Row(150, "rtqual_docking.ways:WAYS"),
        Row(160, "rtqual_docking.faults:WITH_FAULTS"),
        Row(170, "rtqual_docking.radios:SENT_BY_WIFI"),
        Row(180, "rtqual_docking.docking:DOCKINGS"),
    ),
    carried=(Row(20, "rtqual_docking.camera_files:carried"),),
    needed=(Row(10, "rtqual_docking.camera_files:NEEDED"),),
    tables=(
        MissionTables(
            10, "rtqual_docking.goal:Goal", "goal",
            "What the docking camera's ways are to reach, one [[goal]] each.",
        ),
    ),
    judgements=(Row(10, "rtqual_docking.camera_goals:judged"),),
    templates=(Row(20, "rtqual_docking.template:DOCKING"),),
    boxes=(Row(10, "rtqual_docking.chapter:goals_box"),),
    sections=(
        Section(20, "rtqual_docking.chapter:lidar", "LIDAR"),
        Section(30, "rtqual_docking.chapter_docking:docking", "Docking"),
    ),
    verified=(Keyed(10, "rtqual_docking.procedures.own_flown:OWN", "ds325-flight"),),
    annexes=(Row(30, "rtqual_docking.approach:APPROACH"),),
)  # fmt: skip
