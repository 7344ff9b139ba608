# SPDX-License-Identifier: MIT
"""A campaign outlives the package that brought its instrument and load: its records tell what reports say of them."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rtqual.engine.campaign import folder as kept
from rtqual.protocols import part
from rtqual.protocols.instrument.about import about, about_record
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.load.all_loads import all_loads
from rtqual.protocols.record.schema import MOST_TOLD, About, Inputs, Measurement, Record, Series, Timing
from rtqual.protocols.record.store import Store, make
from support.command import Fails, Run
from support.elsewhere import elsewhere_mission
from support.store_records import PROVENANCE, as_version, change_manifest, reseal

HERE = Path(__file__).parent
TITLE, LOAD = "From one look at the clock to the next (date)", "A shell that sums without end"
MISSION = elsewhere_mission("this-machine = true", runs=2)


@pytest.fixture
def remove(tmp_path: Path) -> Iterator[Callable[[], None]]:
    """The package is there until this is called."""
    with pytest.MonkeyPatch.context() as patch:
        site = tmp_path / "site"
        shutil.copytree(HERE / "rtqual_elsewhere", site / "rtqual_elsewhere")
        known = site / "elsewhere-1.dist-info"
        known.mkdir()
        (known / "METADATA").write_text("Metadata-Version: 2.1\nName: elsewhere\nVersion: 1\n")
        (known / "entry_points.txt").write_text("[rtqual.part]\nelsewhere = rtqual_elsewhere.part:PART\n")
        patch.syspath_prepend(site)
        part.forget()

        def gone() -> None:
            patch.undo()
            part.forget()
            assert "elsewhere-pauses" not in all_instruments()

        yield gone
        gone()


def records(known: About | None = None) -> list[Record]:
    instrument, load = all_instruments()["elsewhere-pauses"], all_loads()["elsewhere-sum"]
    return [
        make(
            Inputs(candidate="afar", instrument=instrument.name, load=load.name, board="local", cpus=1, seed=seed,
                   parameters={"looks": 10}),
            Measurement((Series.raw([1_000_000 + seed * number for number in range(9)], name="pause"),)),
            PROVENANCE, timing=Timing.REAL, repeat=0, about=known or about(instrument, load),
        )
        for seed in (1, 2)
    ]  # fmt: skip


def campaign(folder: Path, made: list[Record]) -> Path:
    folder.mkdir()
    for record in made:
        Store(folder / kept.RECORDS).write(record)
    kept.keep(folder, MISSION.encode(), "demo", kept.Result(tuple(made), {}, {}))
    return folder


def outputs(rtqual: Run, folder: Path) -> dict[str, str]:
    """All that is made of a campaign, by the file or the command."""
    files = {"md": "report.md", "html": "report.html", "github": "summary.md", "junit": "junit.xml"}
    done = rtqual("report", folder, *(word for name in files for word in ("--format", name)))
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    made = {file: (folder / file).read_text() for file in files.values()}
    for words in (
        ("report", folder, "--format", "md", "--json"),
        ("show", folder),
        ("show", next((folder / kept.RECORDS).iterdir())),
        ("compare", folder, folder),
        ("query", "SELECT * EXCLUDE (campaign) FROM figures", folder),
        ("query", "SELECT * FROM figures", folder, "--json"),
    ):
        done = rtqual(*words)
        assert done.returncode == 0, (words, done.stderr)
        made[" ".join(map(str, words))] = done.stdout
    goals = ("wishes", "wishes_answer")  # which the package brings, too
    told = json.loads(made.pop(f"report {folder} --format md --json"))
    made["report --json"] = json.dumps({key: value for key, value in told.items() if key not in goals})
    lab = folder.parent / "lab"
    assert rtqual("site", folder, "--out", lab).returncode == 0
    return made | {path.name: path.read_text() for path in lab.iterdir() if path.is_file()}


def test_all_that_is_made_of_it_stays(rtqual: Run, fails: Fails, tmp_path: Path, remove: Callable[[], None]) -> None:
    made = records()
    folder = campaign(tmp_path / "out", made)
    before = outputs(rtqual, folder)
    assert f"{TITLE}." in before["report.md"] and LOAD in before["report.md"]
    remove()
    assert outputs(rtqual, folder) == before
    (folder.parent / "plan.toml").write_text(MISSION)
    assert "unknown instrument 'elsewhere-pauses'" in fails(2, "mission", "check", folder.parent / "plan.toml")
    assert "twice" in fails(2, "reproduce", next((folder / kept.RECORDS).iterdir()))


def test_older_records_are_told_by_the_package_or_not_at_all(
    rtqual: Run, tmp_path: Path, remove: Callable[[], None]
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    store = Store(folder / kept.RECORDS)
    old = [as_version(2, record) for record in records()]
    for record in old:
        store.write(record)
    kept.keep(folder, MISSION.encode(), "demo", kept.Result(tuple(old), {}, {}))
    before = outputs(rtqual, folder)
    assert f"{TITLE}." in before["report.md"] and LOAD in before["report.md"]
    assert all(record.manifest.schema_version == 2 for record in store.read_all())
    remove()
    after = outputs(rtqual, folder)["report.md"]
    assert TITLE not in after and LOAD not in after and "elsewhere-pauses" in after


def test_what_it_tells_changes_no_hash_and_is_sealed(tmp_path: Path, remove: Callable[[], None]) -> None:
    told = records()[0]
    untold = make(told.inputs, Measurement(told.series), PROVENANCE, timing=Timing.REAL, repeat=0)
    said, unsaid = (record.manifest.model_dump() for record in (told, untold))
    assert {name for name in said if said[name] != unsaid[name]} == {"about"}
    path = Store(tmp_path).write(told)
    change_manifest(path, about={"title": "Another"})
    with pytest.raises(Exception, match="was changed after the run"):
        list(Store(tmp_path).read_all())


def test_a_strangers_words_are_dead_text_everywhere(rtqual: Run, tmp_path: Path, remove: Callable[[], None]) -> None:
    evil = "\x1b]0;owned\x07\x1b[31m<script>alert(1)</script>[bold]x[/bold]|`a`\u202e{{7*7}} 12 us " + "y" * 300
    known = About(
        title=evil, program=evil, caveats=(evil,) * 8, family=evil[:60], space=evil[:60], units={"looks": evil},
        load=evil,
    )  # fmt: skip
    folder = campaign(tmp_path / "out", records(known))
    remove()
    for name, text in outputs(rtqual, folder).items():
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text), name
        assert "<script>alert" not in text, name
        assert "49" not in re.findall(r"y{40}", text), name
    assert "alert(1)" in (folder / "report.html").read_text()


@pytest.mark.parametrize(
    "known",
    [{"title": "y" * 10**6}, {"title": "a\nb"}, {"caveats": ["y"] * 10_000}, {"caveats": ["y" * (MOST_TOLD + 1)]},
     {"units": {str(number): "ns" for number in range(10_000)}}, {"units": {"x" * 10**6: "ns"}}, {"news": 1}, "text"],
)  # fmt: skip
def test_what_is_too_long_is_refused_in_one_short_line(
    fails: Fails, tmp_path: Path, remove: Callable[[], None], known: Any
) -> None:
    path = Store(tmp_path / kept.RECORDS).write(records()[0])
    change_manifest(path, about=known)
    reseal(path)
    line = fails(2, "show", path)
    assert "not a record's manifest: about" in line and len(line) < 500


def test_a_package_may_say_more_than_is_kept(remove: Callable[[], None]) -> None:
    from dataclasses import replace

    long = replace(all_instruments()["elsewhere-pauses"], title="y" * 10**6 + "\n", caveats=("a\nb",) * 99)
    told = about(long, None)
    assert len(told.title) == MOST_TOLD and told.caveats == ("a b",) * 8
    assert json.loads(told.model_dump_json())["load"] == ""
    assert about_record(records(told)[0].manifest) == told
