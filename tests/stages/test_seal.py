# SPDX-License-Identifier: MIT
"""`rtqual seal`: who signed a campaign, and that it is what was signed."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.folder import Result
from rtqual.face.commands.commands import application
from rtqual.reports.page.document import Printed
from rtqual.stages import signature
from rtqual.stages.selection import report
from rtqual.stages.signature import SEAL, seal, verify_report, verify_seal
from support.analysis_records import wakeups
from support.command import mission_text
from support.made_campaign import campaign_of

CONFIG = f"{kept.CONFIGS}/debian-rt.config"


def keep(folder: Path, config: str) -> None:
    kept.keep(folder, mission_text("debian-rt").encode(), "demo", Result((), {}, {"debian-rt": config}))


@pytest.fixture
def key(tmp_path: Path) -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key")], check=True)
    return tmp_path / "key"


@pytest.fixture
def signers(tmp_path: Path, key: Path) -> Path:
    path = tmp_path / "signers"
    path.write_text(f"lab@example.org {key.with_suffix('.pub').read_text()}")
    return path


@pytest.fixture
def folder(tmp_path: Path, key: Path) -> Path:
    """A sealed campaign."""
    folder = tmp_path / "out"
    folder.mkdir()
    keep(folder, "CONFIG_USB=y\n")
    assert seal(folder, key) == ()
    return folder


@pytest.fixture
def reported(tmp_path: Path) -> Path:
    """A campaign with records, and a report or two."""
    folder = campaign_of(tmp_path / "reported", wakeups("debian-rt", [20_000] * 2, n=20), "debian-rt")
    report(folder, ["junit", "github"])
    (folder / "scratch").mkdir(exist_ok=True)
    (folder / "scratch" / "job.sh").write_text("true\n")
    return folder


def test_a_sealed_campaign_names_who_sealed_it(folder: Path, signers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    holds = verify_seal(folder, signers)
    assert (holds.who, holds.digest) == ("lab@example.org", kept.load(folder).digest)
    app = application(listed=False)
    assert app(["seal", str(folder), "--verify", str(signers)], exit_on_error=False, result_action="return_value") == 0
    assert "sealed by lab@example.org" in capsys.readouterr().out


def test_a_changed_file_breaks_the_seal(folder: Path, signers: Path) -> None:
    (folder / CONFIG).write_text("CONFIG_USB=y\nCONFIG_PREEMPT_RT=y\n")
    with pytest.raises(BadInput, match="not the one that was sealed"):
        verify_seal(folder, signers)


def test_a_file_that_was_taken_out_breaks_the_seal(folder: Path, signers: Path) -> None:
    (folder / CONFIG).unlink()
    kept.load(folder)
    with pytest.raises(BadInput, match=rf"{CONFIG}: is missing, and was there when the campaign was sealed"):
        verify_seal(folder, signers)


def test_hashes_that_were_made_anew_break_the_seal(folder: Path, signers: Path) -> None:
    """What no hash in the folder can find."""
    keep(folder, "CONFIG_USB=y\nCONFIG_PREEMPT_RT=y\n")
    kept.load(folder)
    with pytest.raises(BadInput, match="does not hold"):
        verify_seal(folder, signers)


def test_a_seal_of_somebody_else_is_none(folder: Path, tmp_path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "other")], check=True)
    other = tmp_path / "others"
    other.write_text(f"lab@example.org {(tmp_path / 'other.pub').read_text()}")
    with pytest.raises(BadInput, match=f"nobody in {other} made it"):
        verify_seal(folder, other)
    (folder / SEAL).unlink()
    with pytest.raises(BadInput, match="no seal to verify"):
        verify_seal(folder, other)


def test_an_older_campaign_has_not_the_hashes_to_seal(folder: Path, key: Path) -> None:
    campaign = json.loads((folder / kept.CAMPAIGN).read_text())
    del campaign["manifests"], campaign["sha256"]
    (folder / kept.CAMPAIGN).write_text(json.dumps({**campaign, "schema_version": 2}))
    with pytest.raises(BadInput, match="older, without the records' hashes"):
        seal(folder, key)


def test_whatever_lies_in_a_sealed_folder_is_sealed(reported: Path, key: Path, signers: Path) -> None:
    assert seal(reported, key) == ("junit.xml", "summary.md")
    verify_seal(reported, signers)
    files = [path for path in sorted(reported.rglob("*")) if path.is_file() and path.name != kept.LOCK]
    assert {"junit.xml", "summary.md", "job.sh", "samples.parquet", "mission.toml"} <= {path.name for path in files}
    for path in files:
        content = path.read_bytes()
        path.write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
        with pytest.raises(BadInput, match=path.name):
            verify_seal(reported, signers)
        path.unlink()
        with pytest.raises(BadInput, match=path.name):
            verify_seal(reported, signers)
        path.write_bytes(content)
    (reported / "plots").mkdir()
    (reported / "plots" / "figure-99.svg").write_text("<svg/>")
    with pytest.raises(BadInput, match=r"plots/figure-99\.svg: was not there when the campaign was sealed"):
        verify_seal(reported, signers)


def test_what_is_put_in_the_place_of_what_was_signed_is_told(
    reported: Path, key: Path, signers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the signature and the look at the files."""
    seal(reported, key)
    trusted, signed = signature._who, (reported / kept.CAMPAIGN).read_bytes()

    def swapped(*arguments: Any) -> str:
        who = trusted(*arguments)
        told = json.loads(signed) | {"sealed": None}
        (reported / kept.CAMPAIGN).write_text(json.dumps(told))
        (reported / "summary.md").write_text("Fly it.\n")
        return who

    monkeypatch.setattr(signature, "_who", swapped)
    with pytest.raises(BadInput, match=r"summary\.md: not the one that was sealed"):
        verify_seal(reported, signers)


def test_an_empty_folder_is_sealed_too(reported: Path, key: Path, signers: Path) -> None:
    (reported / "lost").mkdir()
    seal(reported, key)
    verify_seal(reported, signers)
    (reported / "lost").rmdir()
    with pytest.raises(BadInput, match=r"lost/?: is missing, and was there when the campaign was sealed"):
        verify_seal(reported, signers)
    (reported / "lost").write_text("")
    with pytest.raises(BadInput, match="lost"):
        verify_seal(reported, signers)
    (reported / "lost").unlink()
    (reported / "lost").mkdir()
    (reported / "plots").mkdir()
    with pytest.raises(BadInput, match=r"plots/?: was not there when the campaign was sealed"):
        verify_seal(reported, signers)


def test_a_report_that_was_changed_is_not_sealed(reported: Path, key: Path) -> None:
    (reported / "summary.md").write_text((reported / "summary.md").read_text() + "Fly it.\n")
    with pytest.raises(BadInput, match=r"summary\.md: is not what the campaign gives, made anew"):
        seal(reported, key)


def test_a_sparse_file_in_a_sealed_folder_is_told_by_its_size(folder: Path, signers: Path) -> None:
    with (folder / CONFIG).open("r+b") as file:
        file.truncate(40 << 30)
    with pytest.raises(BadInput, match="not the one that was sealed"):
        verify_seal(folder, signers)


def test_every_line_of_the_signers_is_tried_and_a_pattern_names_nobody(folder: Path, key: Path, tmp_path: Path) -> None:
    public = " ".join(key.with_suffix(".pub").read_text().split()[:2])
    signers = tmp_path / "several"
    signers.write_text(f'carol@x namespaces="git" {public}\n# a note\nalice@x,bob@x {public}\n')
    assert verify_seal(folder, signers).who == "alice@x and bob@x"
    signers.write_text(f"*@example.com {public}\nlab@example.org {public}\n")
    assert verify_seal(folder, signers).who == "lab@example.org"
    for field in ("*@example.com", "!alice@x,*"):
        signers.write_text(f'"{field}" {public}\n')
        assert verify_seal(folder, signers).who.endswith(f"allows for '{field}', a pattern that names nobody")
    signers.write_text(f'carol@x namespaces="git" {public}\n')
    with pytest.raises(BadInput, match=r'does not hold: key is not permitted for use in signature namespace "rtqual"'):
        verify_seal(folder, signers)
    signers.write_text(f'carol@x valid-before="20200101" {public}\n')
    with pytest.raises(BadInput, match="nobody in"):
        verify_seal(folder, signers)
    with pytest.raises(BadInput, match="/dev/zero: holds more than 1,048,576 bytes"):
        verify_seal(folder, Path("/dev/zero"))


def test_while_another_rtqual_works_in_a_folder_it_is_not_sealed(folder: Path, key: Path) -> None:
    with kept.alone(folder), pytest.raises(RunFailed, match="another rtqual works there"):
        seal(folder, key)


@pytest.mark.guest  # pages are drawn
def test_a_pdf_is_told_from_another_campaigns_by_the_digest_at_the_foot_of_each_page(
    reported: Path, key: Path, tmp_path: Path
) -> None:
    pdf, annex = tmp_path / "a.pdf", tmp_path / "annex.pdf"
    report(reported, ["pdf"], pdf)
    report(reported, ["pdf"], annex, Printed(annex=True))
    pages = subprocess.run(["pdftotext", str(annex), "-"], capture_output=True, text=True, check=True).stdout.split(
        "\f"
    )
    assert all(f"Campaign, SHA-256: {kept.load(reported).digest}" in page for page in pages[:-1])
    assert verify_report(reported, pdf).startswith("what this campaign gives, made anew")
    assert "--annex" in verify_report(reported, annex)
    other = campaign_of(tmp_path / "other", wakeups("debian-rt", [30_000] * 2, n=20), "debian-rt")
    with pytest.raises(BadInput, match=f"is of the campaign {kept.load(reported).digest}; that of"):
        verify_report(other, pdf)
    changed = tmp_path / "changed.pdf"
    changed.write_bytes(pdf.read_bytes() + b"\n")
    with pytest.raises(BadInput, match="names this campaign, and is not what it gives here"):
        verify_report(reported, changed)
    (reported / "report.pdf").write_bytes(annex.read_bytes())
    assert "report.pdf" in seal(reported, key), "printed in another way, it is a report of it nevertheless"
    assert verify_report(reported, annex) == "the report.pdf that was sealed"
