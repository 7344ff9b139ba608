# SPDX-License-Identifier: MIT
"""digest.json: it gives what the records give, a stale one is made anew, and a damaged one is refused in a line."""

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.analysis.figure.summary import groups, measure
from rtqual.engine.campaign import digest
from rtqual.engine.campaign import folder as kept
from rtqual.parts.query.query import query
from rtqual.protocols.record.schema import Timing
from rtqual.stages import digests
from rtqual.stages.digests import campaigns_in, digest_of
from rtqual.stages.history import history
from support.gate_records import noisy
from support.made_campaign import campaign_of


def made(folder: Path, shift_ns: int = 0, first: int = 0) -> Path:
    return campaign_of(folder, noisy(shift_ns, 12, Timing.INSTRUCTIONS, first=first), "debian-rt")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = made(tmp_path_factory.mktemp("sound") / "v0")
    digest_of(folder)
    return folder


@pytest.fixture
def campaign(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "v0"))


def test_it_gives_the_figures_that_the_records_give(sound: Path) -> None:
    found = digest_of(sound)
    ((group, records),) = groups(kept.load(sound).result.records).items()
    summary, (of,) = measure(group, records).summary, found.body.groups
    assert of.group == group
    for name, figure in summary.figures.items():
        again = found.figures(of)[name]
        assert (again.value, again.unit, again.n, again.runs) == (figure.value, figure.unit, figure.n, figure.runs)
        assert again.why_no_interval == figure.why_no_interval
        ends = [(each.interval.low, each.interval.high) if each.interval else None for each in (again, figure)]
        assert ends[0] == ends[1]
    assert found.asked(of) == ["max"]
    (verdict,) = found.body.verdicts
    assert [gate.requirement for gate in verdict.standings[0].gates] == ["wake-up under load"]


def test_history_and_query_read_no_record_where_there_is_one(tmp_path: Path) -> None:
    folders = [made(tmp_path / f"v{n}", shift, 31 * n) for n, shift in enumerate((0, 0, 0, 3_000, 3_000, 3_000))]
    by_records = history(folders, records=True)
    assert all((folder / digest.NAME).exists() for folder in folders)
    for folder in folders:
        shutil.rmtree(folder / kept.RECORDS)
    assert history(folders) == by_records
    assert [change.at for series in by_records.series if series.name == "p50" for change in series.changes] == [3]
    told = query("SELECT campaign, value FROM figures WHERE figure = 'p50' ORDER BY ALL", folders).rows
    assert [name for name, _ in told] == [f"v{n}" for n in range(6)]
    assert query("SELECT DISTINCT requirement FROM verdicts", folders).rows == [("wake-up under load",)]
    with pytest.raises(BadInput, match="no record there"):
        query("FROM records", folders)
    with pytest.raises(BadInput):
        history(folders, records=True)


def test_a_stale_one_is_made_anew(campaign: Path, tmp_path: Path) -> None:
    other = made(tmp_path / "other", 5_000)
    shutil.copy(campaign / digest.NAME, other / digest.NAME)
    assert digest_of(other).campaign == kept.load(other).digest
    head = json.loads((other / digest.NAME).read_bytes().partition(b"\n")[0])
    assert head["campaign"] == kept.load(other).digest
    assert digest.read(other, digest_of(campaign).campaign) is None


def test_one_that_somebody_else_wrote_is_made_anew_from_the_records(campaign: Path) -> None:
    """Its hashes all agree; only that this user's rtqual never made it tells."""
    sound = (campaign / digest.NAME).read_bytes()
    true = digest_of(campaign)
    rewritten(campaign, '"cpus":1', '"cpus":8', believed=False)
    assert digest_of(campaign).body == true.body
    assert (campaign / digest.NAME).read_bytes() == sound
    (gate,) = true.body.verdicts[0].standings[0].gates
    rewritten(campaign, gate.reason, "It may fly.", believed=False)
    assert query("SELECT DISTINCT reason FROM verdicts", [campaign]).rows == [(gate.reason,)]


def test_one_of_another_user_is_believed_once_the_records_gave_the_same(
    campaign: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Under a seal nothing is written, and yet it is read anew once only."""
    (campaign / digests._SEAL).write_text("a signature")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    assert digest.read(campaign, kept.load(campaign).digest) is None
    digest_of(campaign)
    shutil.rmtree(campaign / kept.RECORDS)
    assert digest_of(campaign).body.groups


def rewritten(folder: Path, old: str, new: str, *, believed: bool = True) -> None:
    """With hashes that agree, as whoever changes it on purpose leaves them; `believed` as if it came of records."""
    head, _, text = (folder / digest.NAME).read_bytes().partition(b"\n")
    assert old.encode() in text
    text = text.replace(old.encode(), new.encode(), 1).removesuffix(b"\n")
    told = json.loads(head) | {"sha256": hashlib.sha256(text).hexdigest()}
    content = json.dumps(told).encode() + b"\n" + text + b"\n"
    (folder / digest.NAME).write_bytes(content)
    if believed:
        digest.note(content)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"runs":12', '"runs":"many"'),
        ('"figures":[[', '"figures":[[null,'),
        ('"cpus":1', '"cpus":1,"more":2'),
        ('"timing":"instructions"', '"timing":"guessed"'),
        ('"samples":2400', '"samples":NaN'),
        ('"texts":[', '"texts":[[[['),
        ('"began":"', '"began":"1999<b/>&'),  # it stands in a site's feed
    ],
)
def test_what_does_not_fit_is_refused_in_a_line(campaign: Path, old: str, new: str) -> None:
    rewritten(campaign, old, new)
    with pytest.raises(BadInput, match=r"digest\.json: damaged: .*delete it: it is made anew"):
        digest_of(campaign)


def test_a_length_beyond_all_numbers_is_refused_in_a_line(campaign: Path) -> None:
    (place,) = (of.conditions for of in digest_of(campaign).body.groups)
    body = digest_of(campaign).body
    texts = [f'{{"lengths": [{"9" * 400}]}}' if n == place else text for n, text in enumerate(body.texts)]
    changed = body.model_copy(update={"texts": texts})
    content = digest.as_file(digest_of(campaign).campaign, changed)
    digest.note(content)
    (campaign / digest.NAME).write_bytes(content)
    with pytest.raises(BadInput, match=r"digest\.json: damaged: .*delete it"):
        history([campaign, campaign])


def test_few_notes_look_whether_they_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Path] = []
    every = Path.iterdir
    monkeypatch.setattr(digest, "_memory", lambda: tmp_path)
    monkeypatch.setattr(digest, "_MOST_NOTED", 300)
    monkeypatch.setattr(Path, "iterdir", lambda path: looked.append(path) or every(path))
    for number in range(3000):
        digest.note(b"%d" % number)
    monkeypatch.undo()
    assert 0 < len(looked) < 60, "of 3000 notes"
    assert len(list(tmp_path.iterdir())) < 3000 and (tmp_path / digest.sha256_of(b"2999")).exists()


def test_a_record_that_tells_no_time_has_none(tmp_path: Path) -> None:
    """What a stranger's record says of its start is no date."""
    odd = []
    for one in noisy(0, 12, Timing.INSTRUCTIONS):
        made_by = one.manifest.provenance.model_copy(update={"started": "1999<b/>&"})
        odd.append(replace(one, manifest=one.manifest.model_copy(update={"provenance": made_by})))
    (of,) = digest_of(campaign_of(tmp_path / "v0", odd, "debian-rt")).body.groups
    assert (of.began, of.ended) == (None, None)


def test_a_place_without_a_text_is_refused(campaign: Path) -> None:
    rewritten(campaign, '"figures":[[', '"figures":[[9999,0,1.0,1,1,null,null,-1,-1,0],[')
    with pytest.raises(BadInput, match="no text 9999"):
        history([campaign, campaign])


@pytest.mark.parametrize("content", [b"", b"\n", b"[]\n{}", b"{}\n{}", b'{"version":1}', b"\xff\n", b"[" * 100_000])
def test_what_is_no_digest_is_refused_in_a_line(campaign: Path, content: bytes) -> None:
    (campaign / digest.NAME).write_bytes(content)
    with pytest.raises(BadInput, match=r"digest\.json: damaged"):
        digest_of(campaign)


def test_a_changed_octet_and_a_newer_version_are_seen(campaign: Path) -> None:
    whole = (campaign / digest.NAME).read_bytes()
    (campaign / digest.NAME).write_bytes(whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:])
    with pytest.raises(BadInput, match="its hash differs; delete it"):
        digest_of(campaign)
    (campaign / digest.NAME).write_bytes(b'{"version": 99}\n{}')
    with pytest.raises(BadInput, match="newer than this rtqual reads"):
        digest_of(campaign)


def test_no_link_is_followed_and_none_written_through(campaign: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("keep")
    (campaign / digest.NAME).unlink()
    (campaign / digest.NAME).symlink_to(tmp_path / "theirs")
    with pytest.raises(BadInput, match="is a link"):
        digest_of(campaign)
    assert (tmp_path / "theirs").read_text() == "keep"


def test_what_is_sealed_is_left_as_it_is(campaign: Path) -> None:
    (campaign / digest.NAME).unlink()
    (campaign / digests._SEAL).write_text("a signature")
    before = sorted(path.name for path in campaign.iterdir())
    assert digest_of(campaign).body.groups
    assert sorted(path.name for path in campaign.iterdir()) == before


def test_campaigns_are_found_in_a_folder_and_what_has_none_is_refused(campaign: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(campaign)
    assert campaigns_in([tmp_path, campaign]) == [campaign]
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="no finished campaign there"):
        campaigns_in([tmp_path / "empty"])
