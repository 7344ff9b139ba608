# SPDX-License-Identifier: MIT
"""What this package brings."""

from rtqual.protocols.part import Chapter, CommandOfPart, MissionTables, Part, Row

PART = Part(
    "elsewhere",
    boards=(Row(1000, "rtqual_elsewhere.board:FAR"),),
    instruments=(Row(1000, "rtqual_elsewhere.instrument:PAUSES"),),
    imports=(Row(1000, "rtqual_elsewhere.format:BELL"),),
    loads=(Row(1000, "rtqual_elsewhere.load:SUM"),),
    chapters=(Chapter(65, "rtqual_elsewhere.chapter:lines", "", "Lines that were used"),),
    tables=(MissionTables(1000, "rtqual_elsewhere.wish:Wish", "wish", "What is wished, one [[wish]] each."),),
    judgements=(Row(1000, "rtqual_elsewhere.wish:wished"),),
    commands=(CommandOfPart(1000, "rtqual_elsewhere.command:where", "where", "Print the lines to boards elsewhere."),),
)
