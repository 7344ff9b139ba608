# SPDX-License-Identifier: MIT
"""A campaign's folder: what a report shows is what the campaign kept, by its hash."""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.boards.replay import ReplayBoard
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.folder import Result
from rtqual.engine.campaign.sessions import SESSIONS, begin, sessions_in
from rtqual.engine.mission import Mission, load_mission
from rtqual.parts.explain.timeline import TimeKind
from rtqual.parts.explain.whys import WHY, ExplainedRun, Whys
from rtqual.parts.tailor.stage import STEPWISE, step_by_step
from rtqual.protocols.record.schema import Measurement, Timing, digest
from rtqual.protocols.record.store import Store, make
from rtqual.stages.signature import SEAL
from rtqual_docking.approach import APPROACH, HEIGHT, WIDTH, Approach, Sight
from support import explained
from support.analysis_records import wakeups
from support.command import Fails, Run, mission_text
from support.made_campaign import campaign_of

DOCKING = Path(__file__).parents[3] / "docking/missions/docking.toml"
FLOWN = Approach(sights=(Sight(distance_m=1.0, status="not found"),), pictured=0, picture=(7,) * (WIDTH * HEIGHT))
RESULT = Result((), {}, {"debian-rt": "CONFIG_USB=y\n"}, {APPROACH.file: FLOWN})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    kept.keep(tmp_path, mission_text("debian-rt").encode(), "demo", RESULT)
    return tmp_path


def test_a_campaign_is_loaded_as_it_was_kept(folder: Path) -> None:
    assert kept.load(folder).result == RESULT


def test_a_campaign_that_flew_no_approach_shows_none_of_before(folder: Path) -> None:
    old = (folder / APPROACH.file).read_bytes()
    kept.keep(folder, mission_text("debian-rt").encode(), "demo", replace(RESULT, annexes={}))
    assert kept.load(folder).result.annexes == {}
    (folder / APPROACH.file).write_bytes(old)
    assert kept.load(folder).result.annexes == {}


def test_a_record_of_a_strangers_name_is_refused_in_one_line(folder: Path) -> None:
    index = json.loads((folder / kept.CAMPAIGN).read_text()) | {"records": ["a\nb\x1b[2J"]}
    index["sha256"] = digest({name: one for name, one in index.items() if name != "sha256"})
    (folder / kept.CAMPAIGN).write_text(json.dumps(index))
    (folder / kept.RECORDS / "a\nb\x1b[2J").mkdir(parents=True)
    with pytest.raises(BadInput, match=r"a b \[2J: no record there") as refused:
        kept.load(folder)
    assert str(refused.value).isprintable()
    index["scale"] = "9" * 5000
    index["sha256"] = digest({name: one for name, one in index.items() if name != "sha256"})
    (folder / kept.CAMPAIGN).write_text(json.dumps(index))
    with pytest.raises(BadInput, match=r"no scale '9+ \[\.\.\.\] 9+'; ") as refused:
        kept.load(folder)
    assert len(str(refused.value)) < 2000


@pytest.mark.parametrize("name", [APPROACH.file, f"{kept.CONFIGS}/debian-rt.config"])
def test_a_file_that_is_not_the_one_kept_is_named(folder: Path, name: str) -> None:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content.replace(b"7", b"8") + b" ")
    with pytest.raises(BadInput, match=rf"{name}: not the one that was kept"):
        kept.load(folder)
    (folder / name).unlink()
    assert kept.load(folder).result != RESULT, "a copy may leave out what nobody asks of it"


def test_the_first_campaigns_named_no_files_and_are_read_as_they_stand(folder: Path) -> None:
    campaign = json.loads((folder / kept.CAMPAIGN).read_text())
    del campaign["files"], campaign["manifests"], campaign["sha256"]
    (folder / kept.CAMPAIGN).write_text(json.dumps({**campaign, "schema_version": 1}))
    assert kept.load(folder).result == RESULT


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """With two records."""
    (tmp_path / "out").mkdir()
    runs = tuple(
        make(one.inputs, Measurement(one.series), one.manifest.provenance, timing=Timing.REAL, repeat=0)
        for one in wakeups("debian-rt", [12_000, 13_000])
    )
    for one in runs:
        Store(tmp_path / "out" / kept.RECORDS).write(one)
    kept.keep(tmp_path / "out", mission_text("debian-rt").encode(), "demo", replace(RESULT, records=runs))
    return tmp_path / "out"


def lines_changed(path: Path) -> Iterator[bytes]:
    """Each line of a file taken out, and changed; what is no JSON any more would be refused anyway."""
    lines = path.read_bytes().splitlines(keepends=True)
    for at, line in enumerate(lines):
        yield b"".join(lines[:at] + lines[at + 1 :])
        yield b"".join([*lines[:at], re.sub(rb"[0-9a-z](?=[^0-9a-z]*$)", b"7", line), *lines[at + 1 :]])


def test_a_campaign_of_which_one_line_was_changed_is_refused(measured: Path) -> None:
    """Its list of records, what a record says of problems or its clock, a kernel's configuration."""
    assert len(kept.load(measured).result.records) == 2
    config = measured / kept.CONFIGS / "debian-rt.config"
    for path in (measured / kept.CAMPAIGN, next((measured / kept.RECORDS).glob("*/manifest.json")), config):
        whole = path.read_bytes()
        for content in set(lines_changed(path)) - {whole}:
            path.write_bytes(content)
            with pytest.raises(BadInput):
                kept.load(measured)
        path.write_bytes(whole)
    kept.load(measured)


def test_a_record_that_was_written_anew_is_not_the_one_that_was_kept(measured: Path) -> None:
    """As whoever changes its problems and makes its own hash anew."""
    one = next(Store(measured / kept.RECORDS).read_all())
    Store(measured / kept.RECORDS).write(replace(one, manifest=one.manifest.model_copy(update={"problems": ["x"]})))
    with pytest.raises(BadInput, match="not the record that was kept"):
        kept.load(measured)


@pytest.mark.parametrize(
    "name", [kept.CAMPAIGN, kept.MISSION, APPROACH.file, kept.RECORDS, kept.CONFIGS, f"{kept.CONFIGS}/debian-rt.config"]
)
def test_a_link_in_a_campaigns_folder_is_not_read(measured: Path, name: str) -> None:
    (measured / name).rename(measured.parent / "elsewhere")
    (measured / name).symlink_to(measured.parent / "elsewhere")
    with pytest.raises(BadInput, match=f"{name.rsplit('/', maxsplit=1)[-1]}: is a link"):
        kept.load(measured)


@pytest.mark.parametrize("name", [".lock", kept.RECORDS, kept.SCRATCH, f"{kept.SCRATCH}/jobs"])
def test_nobody_works_in_a_folder_with_links(tmp_path: Path, name: str) -> None:
    (tmp_path / "target").write_text("mine")
    (tmp_path / "out" / name).parent.mkdir(parents=True)
    (tmp_path / "out" / name).symlink_to(tmp_path / "target")
    with pytest.raises(BadInput, match="is a link"), kept.alone(tmp_path / "out"):
        pass
    assert (tmp_path / "target").read_text() == "mine"


def test_a_derived_mission_is_kept_beside_the_file_that_it_came_from(tmp_path: Path) -> None:
    mission = load_mission(DOCKING)
    steps = step_by_step(mission, "tailor")
    assert not mission.is_derived and steps.is_derived and steps.candidates != mission.candidates
    kept.keep(tmp_path, kept.content_of(steps), STEPWISE, Result((), {}, {}), derived=steps)
    again = kept.load(tmp_path)
    assert again.mission == replace_path(steps, tmp_path) and again.mission.is_derived
    assert (tmp_path / kept.MISSION).read_bytes() == DOCKING.read_bytes()


def replace_path(mission: Mission, folder: Path) -> Mission:
    """As it is once loaded: it names the kept file."""
    return mission.derived_from(load_mission(folder / kept.MISSION))


def test_one_at_a_time_works_in_a_folder(tmp_path: Path) -> None:
    raises = pytest.raises(RunFailed, match="another rtqual works there")
    with kept.alone(tmp_path / "out"), raises, kept.alone(tmp_path / "out"):
        pass
    with kept.alone(tmp_path / "out"):
        pass


def test_a_replay_reads_the_configuration_that_was_kept(folder: Path) -> None:
    board = ReplayBoard(f"{folder}/debian-rt", 1, of="virtual", held=kept.held)
    assert board.config() == "CONFIG_USB=y\n"
    (folder / kept.CONFIGS / "debian-rt.config").write_text("CONFIG_USB=y\nCONFIG_PREEMPT_RT=y\n")
    with pytest.raises(BadInput, match="not the one that was kept"):
        board.config()


def test_explanations_are_of_samples_that_their_record_has(measured: Path) -> None:
    """Also where somebody bends them and all hashes with them."""
    campaign = kept.load(measured)
    (first, *_) = campaign.result.records
    told = explained.line(1, (TimeKind.IRQS_OFF, 9_000, "free_pages"), (TimeKind.SCHEDULING, 3_000, "__schedule"))
    good = Whys(runs=(ExplainedRun(record=first.manifest.hash, worst=1, above_ns=0, timelines=(told,)),))

    def keeping(why: Whys) -> Path:
        content = (measured / kept.MISSION).read_bytes()
        kept.keep(measured, content, "demo", replace(campaign.result, annexes={WHY.file: why}))
        return measured

    def before() -> Whys | None:
        return kept.fitting(WHY, kept.before(measured, WHY), campaign.result.records)

    assert kept.load(keeping(good)).result.annexes == {WHY.file: good}
    assert before() == good
    overlapping = replace(told, parts=(told.parts[0], replace(told.parts[1], begin_ns=8_000)))
    backwards = replace(told, parts=(*told.parts, replace(told.parts[0], begin_ns=12_000, duration_ns=-1)))
    bent = {
        "a record that is not there": [replace(told)],
        "which its record does not have": [explained.line(1, (TimeKind.IRQS_OFF, 9_001, "x"))],
        "do not add up": [replace(told, parts=told.parts[:1])],
        "that overlap": [overlapping, backwards],
    }
    for said, lines in bent.items():
        for one in lines:
            of = "0" * 64 if "not there" in said else first.manifest.hash
            run = ExplainedRun(record=of, worst=1, above_ns=0, timelines=(one,))
            with pytest.raises(BadInput, match=rf"{WHY.file}: damaged: .*{said}"):
                kept.load(keeping(Whys(runs=(run,))))
            assert before() is None


@pytest.mark.parametrize(
    "what",
    [
        "*.toml", "campaign.json", "campaign.json.sig", WHY.file, SESSIONS.file, "configs/debian-rt.config",
        "records/*/*.json", "records/*/samples.parquet",
    ],
)  # fmt: skip
def test_a_campaign_with_a_sparse_file_is_refused_at_once(tmp_path: Path, what: str, fails: Fails, rtqual: Run) -> None:
    """40 GiB in some KB of an archive, whichever command opens it; a signature is read by who verifies it alone."""
    folder = campaign_of(tmp_path / "out", wakeups("debian-rt", [20_000], n=20), "debian-rt")
    begin(folder)
    known = {SESSIONS.file: sessions_in(folder), WHY.file: Whys(runs=())}
    result = replace(kept.load(folder).result, annexes=known, configs={"debian-rt": "CONFIG_HZ=250\n"})
    kept.keep(folder, (folder / kept.MISSION).read_bytes(), "demo", result)
    (folder / SEAL).write_text("a signature")
    (path,) = folder.glob(what)
    os.truncate(path, 40 << 30)
    reads = ("seal", folder, "--verify", "/dev/null") if what.endswith(".sig") else ("report", folder)
    assert re.search(rf"{path.name}: .*(?:holds more|larger) than", fails(2, *reads))
    for command in (("show", folder), ("query", "FROM records", folder)):  # they need not read it
        done = rtqual(*command)
        assert done.returncode in (0, 2)
        assert len(done.stderr.splitlines()) == done.returncode // 2
