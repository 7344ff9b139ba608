# SPDX-License-Identifier: MIT
"""The mission file: what the flight engineer wrote -> typed model, or one line on what is wrong with it.

model.py       the tables, as types; candidate.py: those of a candidate; goal.py: of a goal; board.py: of a board;
               verify.py: of what is verified
table.py       what they have in common
values.py      the kinds of values in them
load.py        reading and checking a file
explain.py     a validation error as a sentence
toml_lines.py  on which line a key stands
schema.py      JSON Schema
templates/     missions that `rtqual init` begins with
"""

from rtqual.mission.board import BoardTable
from rtqual.mission.candidate import PUBLISHED, Candidate, Preempt, RootSystem, Rtos, Tailor, TailorStart
from rtqual.mission.goal import Goal
from rtqual.mission.load import load_mission
from rtqual.mission.model import (
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
)
from rtqual.mission.schema import mission_schema
from rtqual.mission.table import Statistic
from rtqual.mission.values import Quantity

__all__ = [
    "DEFAULT_SCALE",
    "PUBLISHED",
    "Better",
    "BoardTable",
    "Candidate",
    "Criterion",
    "Goal",
    "Header",
    "Mission",
    "Need",
    "Paper",
    "Plan",
    "PlannedCell",
    "Preempt",
    "Quantity",
    "Requirement",
    "RootSystem",
    "Rtos",
    "Scale",
    "Statistic",
    "Tailor",
    "TailorStart",
    "load_mission",
    "mission_schema",
]
