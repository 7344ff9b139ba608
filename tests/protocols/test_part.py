# SPDX-License-Identifier: MIT
"""Who brings what: rows in their order, and parts that cannot be loaded, each told by one line."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.mission import mission_type
from rtqual.protocols import part
from rtqual.protocols.instrument.all_instruments import all_instruments

GOOD = "from rtqual.protocols.part import Part, Row\nPART = Part('one', loads=(Row(5, 'strange:LOADS'),))\n"
Installed = Callable[..., None]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installed]:
    """Installs a module `strange` with entry points that name its PART, or what is given."""

    def install(text: str, *points: str) -> None:
        (tmp_path / "strange.py").write_text(text)
        about = tmp_path / "strange-1.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: strange\nVersion: 1\n")
        (about / "entry_points.txt").write_text("[rtqual.part]\n" + "\n".join(points or ("one = strange:PART",)))
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(__import__("sys").modules, "strange", raising=False)
        part.forget()

    yield install
    monkeypatch.undo()
    part.forget()


def test_rows_come_by_their_numbers_and_several_of_one_row_as_they_stand(installed: Installed) -> None:
    installed(GOOD + "from types import SimpleNamespace as T\nLOADS = (T(name='b'), T(name='a'))\n")
    names = [*part.by_name("loads")]
    assert names[:2] == ["b", "a"] and names[2:4] == ["none", "hackbench"]


def test_an_instrument_of_a_family_is_made_when_its_name_is_met(installed: Installed) -> None:
    row = "families=(Family(5, 'strange:named', 'strange-'),)"
    installed(f"from rtqual.protocols.part import Family, Part\nPART = Part('one', {row})\nnamed = str.upper\n")
    known = all_instruments()
    assert "strange-x" in known and known["strange-x"] == "STRANGE-X" and "strange-x" not in list(known)
    assert "cyclictest" in list(known) and known.get("other") is None


def test_the_folder_of_a_package_with_parts_is_known(installed: Installed, tmp_path: Path) -> None:
    installed(GOOD)
    assert tmp_path in part.packages()


@pytest.mark.parametrize(
    ("text", "points", "said"),
    [
        ("1 / 0", ("one = strange:PART",), "the part 'one' cannot be loaded: strange:PART: division by zero"),
        ("", ("one = strange:PART",), "'strange' has no attribute 'PART'"),
        ("import no_such_library", ("one = strange:PART",), "No module named 'no_such_library'"),
        ("PART = 1", ("one = strange:PART",), "the part 'one' is no part"),
        (GOOD, ("engine = strange:PART",), "two parts are named 'engine'"),
        *(
            (
                GOOD.replace("(Row(5, 'strange:LOADS'),)", rows),
                ("one = strange:PART",),
                "its loads are to be a tuple of Row",
            )
            for rows in (
                "Row(5, 'strange:LOADS')",
                "(1,)",
                "(Row('5', 'strange:LOADS'),)",
                "(Row(5, 'strange'),)",
                "None",
            )
        ),
        (GOOD.replace("loads", "commands"), ("one = strange:PART",), "its commands are to be a tuple of CommandOfPart"),
    ],
)
def test_a_part_that_cannot_be_loaded_is_named(
    installed: Installed, text: str, points: tuple[str, ...], said: str
) -> None:
    installed(text, *points)
    with pytest.raises(BadInput) as told:
        part.parts()
    assert said in str(told.value) and len(str(told.value).splitlines()) == 1


def test_a_part_whose_module_was_removed_brings_nothing(installed: Installed) -> None:
    installed(GOOD, "one = strange.gone:PART", "two = no_such_package.part:PART")
    assert {one.name for one in part.parts()}.isdisjoint({"one", "two"})


def test_a_row_that_names_nothing_is_told_with_its_part(installed: Installed) -> None:
    installed(GOOD)
    with pytest.raises(BadInput, match="the part 'one' names strange:LOADS among its loads"):
        part.brought("loads")


@pytest.mark.parametrize("text", ["1 / 0", "def ", "LOAD = 1", "raise SystemError('x')"])
def test_what_a_row_names_and_cannot_be_loaded_is_told(
    installed: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    installed(GOOD.replace("strange:LOADS", "strange_loads:LOADS"))
    (tmp_path / "strange_loads.py").write_text(text)
    monkeypatch.delitem(__import__("sys").modules, "strange_loads", raising=False)
    with pytest.raises(BadInput, match="the part 'one' names strange_loads:LOADS among its loads") as caught:
        part.brought("loads")
    assert str(caught.value).count("strange_loads:LOADS") == str(caught.value).count("; remove") == 1
    with pytest.raises(BadInput, match="strange_loads:LOADS, which a part brings, cannot be loaded"):
        part.load("strange_loads:LOADS")


def test_a_thing_without_a_name_is_refused(installed: Installed) -> None:
    installed(GOOD + "LOADS = 1\n")
    with pytest.raises(BadInput, match="a part brings 1 among its loads, which has no name"):
        part.by_name("loads")


def test_two_things_of_a_name_are_refused(installed: Installed) -> None:
    installed(GOOD + "from types import SimpleNamespace as T\nLOADS = T(name='hackbench')\n")
    with pytest.raises(BadInput, match="two parts bring 'hackbench' among their loads"):
        part.by_name("loads")


@pytest.mark.parametrize(
    ("key", "model", "said"),
    [
        ("candidate", "Wish", "'candidate' is no key that a part may bring"),
        ("wish,wish", "Wish", "'wish' is no key"),
        ("folder", "Wish", "'folder' is no key"),
        ("_wish", "Wish", "'_wish' is no key"),
        ("wish", "len", "strange:len: is no model of a table with a name"),
        ("wish", "Nameless", "strange:Nameless: is no model"),
        ("a-wish", "Wish", ""),
    ],
)
def test_a_table_that_a_mission_cannot_have_is_told_with_its_row(
    installed: Installed, key: str, model: str, said: str
) -> None:
    rows = [f"MissionTables(900, 'strange:{model}', '{one}', 'Wishes.')" for one in key.split(",")]
    installed(
        f"from rtqual.protocols.part import MissionTables, Part\nPART = Part('one', tables=({', '.join(rows)},))\n"
        "from builtins import len\nfrom rtqual.engine.mission import table\n"
        "class Wish(table.Table):\n    name: str\nclass Nameless(table.Table):\n    what: str\n"
    )
    if said:
        with pytest.raises(BadInput, match=said):
            mission_type()
    else:
        assert key in mission_type().model_fields and mission_type().model_fields[key].description == "Wishes."
