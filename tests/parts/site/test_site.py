# SPDX-License-Identifier: MIT
"""`rtqual site`: what its files say, which of them another campaign changes, and that a stranger's names stay names."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.analysis.regression.changes import changes
from rtqual.engine.campaign import digest
from rtqual.parts.site.lab import TOGETHER, Lab, lab, natural
from rtqual.parts.site.stage import MARK, WrittenSite, site
from rtqual.protocols.record.schema import Timing
from rtqual.stages.digests import digest_of
from support.command import Fails, Run
from support.gate_records import noisy, runs
from support.made_campaign import campaign_of
from support.made_lab import HOSTILE, campaign, hostile
from support.made_lab import lab as made_lab

BOARDS, VERSIONS = 24, 24


@pytest.fixture(scope="module")
def campaigns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("campaigns")
    made_lab(folder, BOARDS, VERSIONS)
    return folder


@pytest.fixture(scope="module")
def found(campaigns: Path) -> Lab:
    return lab(sorted(campaigns.iterdir()))


def data(out: Path, name: str) -> Any:
    """What a file of data gives to the page."""
    key, _, value = (out / "data" / name).read_text().removeprefix("rtq(").removesuffix(")\n").partition(",")
    return json.loads(key) and json.loads(value)


def changed(folder: Path, groups: list[digest.GroupDigest]) -> None:
    """Its digest with other groups, as if its records gave them."""
    its = digest_of(folder)
    content = digest.as_file(its.campaign, its.body.model_copy(update={"groups": groups}))
    digest.note(content)
    (folder / digest.NAME).write_bytes(content)


def test_a_site_has_every_board_version_and_figure_in_small_files(campaigns: Path, tmp_path: Path) -> None:
    told = site([campaigns], tmp_path / "public")
    index = data(tmp_path / "public", "index.js")
    assert [version[0] for version in index["versions"]] == [f"v{n:03}" for n in range(VERSIONS)]
    assert {system[0] for system in index["systems"]} == {f"board-{n:03}" for n in range(BOARDS)}
    assert [name for name, _ in index["figures"]] == ["p99", "max", "p50"]
    assert told.largest[1] < 300_000
    assert len(list((tmp_path / "public").rglob("*.*"))) == told.files + 1
    board = data(tmp_path / "public", f"board-{index['systems'][0][2]}.js")
    ((_, row),) = board["rows"].items()
    assert len(row["figures"]["p99"]["value"]) == len(row["versions"]) <= VERSIONS
    assert dict(board["facts"])["governor"] == "performance"
    page = (tmp_path / "public/index.html").read_text()
    assert "board-003" in page
    assert "default-src 'none'; script-src 'self'" in page
    assert not re.search(r"https?://", page)


def test_marks_are_those_of_history(found: Lab) -> None:
    marked = 0
    for row in found.rows:
        points = [point for _, point in row.compared("p99").points]
        alone = [change for change in changes(points, TOGETHER) if change.gone is None]
        assert [change.at for change in row.courses["p99"].changes] == [change.at for change in alone]
        marked += bool(alone)
    assert marked


def test_the_same_campaigns_again_write_nothing_and_a_boards_new_one_few_files(campaigns: Path, tmp_path: Path) -> None:
    first = site([campaigns], tmp_path / "public")
    assert (first.written, first.removed) == (first.files, 0)
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "public").rglob("*.*")}
    again = site([campaigns], tmp_path / "public")
    assert (again.written, again.removed, again.octets) == (0, 0, 0)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "public").rglob("*.*")} == times
    campaign(tmp_path / "more/v999", [("board-005", 41_000.0)], VERSIONS)
    more = site([campaigns, tmp_path / "more"], tmp_path / "public")
    assert 0 < more.written < 20
    boards = [path for path in (tmp_path / "public/data").glob("board-*") if path.stat().st_mtime_ns != times.get(path)]
    assert len(boards) == 1
    fewer = site([campaigns], tmp_path / "public")
    assert fewer.removed == 1
    assert len(list((tmp_path / "public/data").glob("version-*"))) == VERSIONS


def test_names_of_strangers_are_text_and_no_places(tmp_path: Path) -> None:
    folders = hostile(tmp_path / "campaigns", HOSTILE)
    told = site(folders, tmp_path / "public")
    assert told.rows == len(HOSTILE)
    names = [str(path.relative_to(tmp_path / "public")) for path in (tmp_path / "public").rglob("*.*")]
    assert all(re.fullmatch(r"(data/[a-z0-9-]+\.js|[a-z-]+\.(html|css|js|xml|json))", name) for name in names)
    page = (tmp_path / "public/index.html").read_text()
    assert "<img" not in page
    assert page.count("<script") == 2
    assert "49" not in re.findall(r"<th scope=\"row\">(.*?)</th>", page)
    for path in (tmp_path / "public/data").iterdir():
        data(tmp_path / "public", path.name)
        assert path.read_text().isascii()
        assert "\x1b" not in path.read_text()
    ElementTree.fromstring((tmp_path / "public/changes.xml").read_text())  # noqa: S314 - ours


def test_versions_are_kernels_in_their_order_where_that_is_asked(tmp_path: Path) -> None:
    kernels = ("6.12.0", "6.9.1", "6.12.0-rc3", "6.1.0-9", "6.1.0-30")
    for n, kernel in enumerate(kernels):
        campaign(tmp_path / f"c{n}", [("pi", 40_000.0)], n, kernel=f"{kernel} #1 SMP")
    found = lab(sorted(tmp_path.iterdir()), by_kernel=True)
    assert list(found.versions) == ["6.1.0-9", "6.1.0-30", "6.9.1", "6.12.0-rc3", "6.12.0"]
    assert [seen.kernel for seen in found.rows[0].seen] == list(found.versions)
    assert list(lab(sorted(tmp_path.iterdir())).versions) == ["c0", "c1", "c2", "c3", "c4"]
    assert natural("6.12") > natural("6.9")
    assert natural("9" * 5000) > natural("1")


def test_the_same_records_again_and_other_settings_are_no_further_versions(tmp_path: Path) -> None:
    def version(n: int, priority: int, first: int) -> Path:
        records = noisy(0, 12, Timing.INSTRUCTIONS, first=first) if not priority else runs(
            [[9_000 + 7 * i + first for i in range(100)]] * 12, timing=Timing.INSTRUCTIONS,
            parameters={"priority": priority},
        )  # fmt: skip
        return campaign_of(tmp_path / f"v{n}", records, "debian-rt")

    found = lab([version(0, 0, 0), version(1, 0, 0), version(2, 3, 31), version(3, 4, 62)])
    (row,) = found.rows
    assert row.known("p50") == [3]
    assert "measured otherwise: priority" in row.compared("p50").why
    assert "since v3 only" in row.compared("p50").why


def test_a_report_is_linked_where_there_is_one(tmp_path: Path) -> None:
    folder = campaign(tmp_path / "with a blank", [("pi", 40_000.0)], 0)
    (folder / "report.html").write_text("<p>")
    campaign(tmp_path / "without", [("pi", 40_000.0)], 1)
    site([tmp_path], tmp_path / "web/public")
    (name,) = (tmp_path / "web/public/data").glob("board-*")
    links = [link for _, _, link, _ in data(tmp_path / "web/public", name.name)["campaigns"]]
    assert links == ["../../with%20a%20blank/report.html", ""]
    site([tmp_path], tmp_path / "web/public", reports="https://lab.example/runs/")
    links = [link for _, _, link, _ in data(tmp_path / "web/public", name.name)["campaigns"]]
    assert links == ["https://lab.example/runs/with%20a%20blank/report.html", ""]


def test_a_folders_name_that_is_no_text_is_linked_by_its_octets(tmp_path: Path) -> None:
    folder = campaign(tmp_path / "v", [("pi", 40_000.0)], 0).rename(tmp_path / "v\udcff")
    (folder / "report.html").write_text("<p>")
    for reports, link in (("", "../v%FF/report.html"), ("../runs", "../runs/v%FF/report.html")):
        site([tmp_path / "v\udcff"], tmp_path / "public", reports=reports)
        (name,) = (tmp_path / "public/data").glob("board-*")
        assert [row[2] for row in data(tmp_path / "public", name.name)["campaigns"]] == [link]


@pytest.mark.parametrize("reports", ["javascript:alert(1)", "//elsewhere", "data:text/html,x", "x y"])
def test_an_address_of_reports_that_is_none_is_refused(campaigns: Path, tmp_path: Path, reports: str) -> None:
    with pytest.raises(BadInput, match="give an address"):
        site([campaigns], tmp_path / "public", reports=reports)


def test_a_folder_that_holds_anything_else_is_left_alone(campaigns: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").write_text("years")
    with pytest.raises(BadInput, match="holds files, and no site"):
        site([campaigns], tmp_path / "mine")
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match="is no folder"):
        site([campaigns], tmp_path / "file")
    for content in ("", "[]", '{"files": [1]}', '{"files": 3}', "\xff"):
        (tmp_path / "mine" / MARK).write_text(content)
        with pytest.raises(BadInput, match="damaged"):
            site([campaigns], tmp_path / "mine")
    (tmp_path / "mine" / MARK).write_text('{"files": ["../file"]}')
    with pytest.raises(BadInput):
        site([campaigns], tmp_path / "mine")
    assert (tmp_path / "file").read_text() == "x"
    assert (tmp_path / "mine/thesis.tex").read_text() == "years"


def test_odd_figures_make_a_site_and_none_at_all_is_refused(tmp_path: Path) -> None:
    for n, p99 in enumerate((1e-300, 1e300, 5e-324, 1.0, 1e15, 3.0, 2.0)):
        campaign(tmp_path / "odd" / f"v{n}", [("pi", p99), (" ", p99)], n)
    assert site([tmp_path / "odd"], tmp_path / "public").rows == 2
    for n in range(16):  # a change by more than a number can say
        made = campaign(tmp_path / "far" / f"v{n:02}", [("pi", 40_000.0)], n)
        value = 1e-200 if n < 8 else 1e200
        (group,) = digest_of(made).body.groups
        rows = [(*row[:2], value, *row[3:5], value * 0.99, value * 1.01, row[1], *row[8:]) for row in group.figures]
        changed(made, [group.model_copy(update={"figures": rows})])
    assert site([tmp_path / "far"], tmp_path / "far-public").changes
    campaign(tmp_path / "none/v0", [], 0)
    with pytest.raises(BadInput, match="no figure there"):
        site([tmp_path / "none"], tmp_path / "other")
    assert site([tmp_path / "odd", tmp_path / "none"], tmp_path / "public").written <= 4


def test_the_command_says_what_it_wrote_and_bad_input_in_a_line(
    rtqual: Run, fails: Fails, campaigns: Path, tmp_path: Path
) -> None:
    said = rtqual("site", campaigns, "--out", tmp_path / "public").stdout
    assert f"{VERSIONS} campaigns, {BOARDS} series of {VERSIONS} versions" in said.replace("\n", " ")
    told = json.loads(rtqual("site", campaigns, "--out", tmp_path / "public", "--json").stdout)
    assert told["written"] == 0
    (tmp_path / "empty").mkdir()
    assert "no finished campaign there" in fails(2, "site", tmp_path / "empty", "--out", tmp_path / "x")
    assert "no folder there" in fails(2, "site", tmp_path / "absent", "--out", tmp_path / "x")
    broken = campaign(tmp_path / "broken", [("pi", 40_000.0)], 0)
    (broken / digest.NAME).write_bytes(b"{}")
    assert "digest.json: damaged" in fails(2, "site", broken, "--out", tmp_path / "x")
    assert not (tmp_path / "x").exists()
    assert isinstance(site([campaigns], tmp_path / "public"), WrittenSite)
