# SPDX-License-Identifier: MIT
"""`rtqual seal`: who signed a campaign, and that it is what was signed."""

import json
import subprocess
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.folder import Result
from rtqual.face.commands.commands import application
from rtqual.stages.seal import SEAL, seal, verify
from support.command import mission_text

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
    assert seal(folder, key) == folder / SEAL
    return folder


def test_a_sealed_campaign_names_who_sealed_it(folder: Path, signers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(folder, signers) == "lab@example.org"
    app = application(listed=False)
    assert app(["seal", str(folder), "--verify", str(signers)], exit_on_error=False, result_action="return_value") == 0
    assert "sealed by lab@example.org" in capsys.readouterr().out


def test_a_changed_file_breaks_the_seal(folder: Path, signers: Path) -> None:
    (folder / CONFIG).write_text("CONFIG_USB=y\nCONFIG_PREEMPT_RT=y\n")
    with pytest.raises(BadInput, match="not the one that was kept"):
        verify(folder, signers)


def test_a_file_that_was_taken_out_breaks_the_seal(folder: Path, signers: Path) -> None:
    (folder / CONFIG).unlink()
    kept.load(folder)
    with pytest.raises(BadInput, match=rf"{CONFIG}: is missing, and was there"):
        verify(folder, signers)


def test_hashes_that_were_made_anew_break_the_seal(folder: Path, signers: Path) -> None:
    """What no hash in the folder can find."""
    keep(folder, "CONFIG_USB=y\nCONFIG_PREEMPT_RT=y\n")
    kept.load(folder)
    with pytest.raises(BadInput, match="does not hold"):
        verify(folder, signers)


def test_a_seal_of_somebody_else_is_none(folder: Path, tmp_path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "other")], check=True)
    other = tmp_path / "others"
    other.write_text(f"lab@example.org {(tmp_path / 'other.pub').read_text()}")
    with pytest.raises(BadInput, match=f"nobody in {other} made it"):
        verify(folder, other)
    (folder / SEAL).unlink()
    with pytest.raises(BadInput, match="no seal to verify"):
        verify(folder, other)


def test_an_older_campaign_has_not_the_hashes_to_seal(folder: Path, key: Path) -> None:
    campaign = json.loads((folder / kept.CAMPAIGN).read_text())
    del campaign["manifests"], campaign["sha256"]
    (folder / kept.CAMPAIGN).write_text(json.dumps({**campaign, "schema_version": 2}))
    with pytest.raises(BadInput, match="older, without the records' hashes"):
        seal(folder, key)
