# SPDX-License-Identifier: MIT
"""The mission file: what the flight engineer wrote -> typed model, or one line on what is wrong with it.

model.py           the tables, as types; candidate.py: those of a candidate; board_table.py: of a board;
                   verify_table.py: of what is verified; language_table.py: how a program is spoken to;
                   program.py: of the user's own software
table.py           what they have in common
values.py          the kinds of values in them
load.py            reading and checking a file
explain.py         a validation error as a sentence
toml_lines.py      on which line a key stands
mission_schema.py  JSON Schema
all_keys.py        what may stand in a mission file, table by table
"""

from rtqual.engine.mission.board_table import BoardTable
from rtqual.engine.mission.candidate import FREERTOS, PUBLISHED, Candidate, Preempt, RootSystem, Tailor, TailorStart
from rtqual.engine.mission.load import load_mission
from rtqual.engine.mission.mission_schema import mission_schema
from rtqual.engine.mission.model import (
    DEFAULT_SCALE,
    Better,
    Criterion,
    Header,
    Mission,
    Need,
    Paper,
    Plan,
    PlannedCell,
    Requirement,
    Scale,
    mission_type,
)
from rtqual.engine.mission.program import Program
from rtqual.engine.mission.table import Statistic
from rtqual.engine.mission.values import Quantity

__all__ = [
    "DEFAULT_SCALE",
    "FREERTOS",
    "PUBLISHED",
    "Better",
    "BoardTable",
    "Candidate",
    "Criterion",
    "Header",
    "Mission",
    "Need",
    "Paper",
    "Plan",
    "PlannedCell",
    "Preempt",
    "Program",
    "Quantity",
    "Requirement",
    "RootSystem",
    "Scale",
    "Statistic",
    "Tailor",
    "TailorStart",
    "load_mission",
    "mission_schema",
    "mission_type",
]
