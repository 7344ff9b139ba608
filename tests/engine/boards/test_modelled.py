# SPDX-License-Identifier: MIT
"""Boards with the memory of a model (engine/boards/modelled.py)."""

import re
import tomllib
from pathlib import Path

import pytest

from rtqual.base.architecture import AMD64
from rtqual.base.errors import BadInput
from rtqual.engine.boards import modelled
from rtqual.engine.boards.modelled import BUSY, PARALLEL, models
from rtqual.engine.campaign.plan import plan
from rtqual.engine.campaign.provenance import spared_memory
from rtqual.engine.mission.load import load_mission
from rtqual.protocols.board.registry import PACKAGE, leading, row_for, row_of
from rtqual.protocols.load import Load

ROOT = Path(__file__).parents[3]
KEYS = re.findall(r'\{ "(\w+)", &g\.', (ROOT / "target/observers/memory.c").read_text())
NAMES = [name for name in models() if name != PARALLEL]
LOG = "instructions 100\nran_ns 400\nawake_ns 200\ndram_lines 10\nhalf a line"
MISSION = """
[mission]
name = "m"
title = "M"
purpose = "A test."
duration = "1 h"
[[candidate]]
name = "rt"
title = "RT"
{candidate}
[[scale.demo.plan]]
{models}
instruments = ["cyclictest"]
runs = 2
"""


def test_the_models_are_those_that_the_reference_names() -> None:
    reference = (ROOT / "docs/memory.md").read_text()
    assert NAMES and all(f"| `{name}` |" in reference for name in models())


@pytest.mark.parametrize("name", NAMES)
def test_a_model_tells_the_plugin_whole_numbers_for_all_its_keys(name: str) -> None:
    told = models()[name].told
    assert {*told, "ram_mib"} == {*KEYS}
    assert all(isinstance(number, int) and number > 0 for number in told.values())
    assert all(told[f"{level}_sets"].bit_count() == 1 for level in ("l1i", "l1d", "l2"))
    assert told["l2"] < told["dram"] and max(told[f"{kind}_share"] for kind in ("load", "store", "next_line")) <= 256


@pytest.mark.parametrize("name", NAMES)
def test_every_number_says_where_it_comes_from(name: str) -> None:
    numbers = tomllib.loads((Path(modelled.__file__).parent / f"models/{name}.toml").read_text())
    tables = {key: value for key, value in numbers.items() if key != "title"}
    assert all({*table} == {"is", "from"} and len(table["from"]) > 5 for table in tables.values())


def test_no_candidate_comes_to_such_a_board_by_itself() -> None:
    assert row_for(PACKAGE, AMD64).name == "virtual"
    assert not any("+" in name for name in leading())


def test_facts_are_the_plugin_s_and_the_share_of_time_that_dram_was_busy() -> None:
    facts = models()["cortex-a72"].facts(LOG)
    assert facts["memory_ran_ns"] == "400"
    assert float(facts[BUSY]) == pytest.approx(10 * 12.8 / 200)
    assert BUSY not in models()[PARALLEL].facts(LOG)
    assert models()["cortex-a72"].facts("") == {}


@pytest.mark.parametrize(("memory", "busy", "count"), [(True, "0.23", 1), (True, "0.9", 0), (False, "0.01", 0)])
def test_a_load_on_memory_that_spares_dram_is_a_problem(memory: bool, busy: str, count: int) -> None:
    load = Load(name="hog", title="", memory=memory)
    assert len(spared_memory({BUSY: busy}, load)) == count
    assert not spared_memory({}, load)  # another board's


def written(folder: Path, models: str, candidate: str = 'package = "linux-image-rt-amd64"') -> Path:
    path = folder / "m.toml"
    path.write_text(MISSION.format(models=models, candidate=candidate))
    return path


def test_a_plan_s_models_are_boards_of_their_own(tmp_path: Path) -> None:
    cells = plan(load_mission(written(tmp_path, 'models = ["cortex-a53", "parallel"]')), "demo")
    assert {cell.board for cell in cells} == {"virtual+cortex-a53", "virtual+parallel"}
    assert sum(cell.repeat for cell in cells) == 2  # each board's first run is made again
    row = row_of("virtual+cortex-a53")
    assert row and row.modelled == "cortex-a53" and row.repeats


@pytest.mark.parametrize(
    ("models", "candidate", "said"),
    [
        ('models = ["cortex-a99"]', "", "unknown model 'cortex-a99'; did you mean"),
        ("models = []", "", "models: is empty"),
        ("models = 3", "", "should be a list"),
        ('models = ["parallel", "parallel"]', "", "listed twice"),
        ('models = ["parallel"]\nboards = ["pi"]', "", "models: stands beside boards"),
        ('models = ["parallel"]', "this-machine = true", "rt is no kernel on a virtual board"),
        ('models = ["parallel"]', 'rtos = "freertos"', "rt is no kernel on a virtual board"),
    ],
)
def test_what_is_no_model_is_refused_in_a_line(tmp_path: Path, models: str, candidate: str, said: str) -> None:
    given = (candidate,) if candidate else ()
    with pytest.raises(BadInput) as refused:
        load_mission(written(tmp_path, models, *given))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
