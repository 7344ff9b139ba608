# SPDX-License-Identifier: MIT
"""A campaign where users work: odd paths, clocks, languages, masks, other users, two at a time with an empty cache."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from rtqual.base.cache import cache_dir
from rtqual.protocols.record.store import Store, read
from support.command import Run, mission_text, rtqual_command

NOBODY = 65534


def hashes(folder: Path) -> dict[str, str]:
    return {path.name: read(path).manifest.hash for path in Store(folder / "records").paths()}


def cold_cache(folder: Path) -> Path:
    """Nothing but the downloads, which are the user's."""
    (archives := folder / "rtqual/archives").mkdir(parents=True)
    for deb in (cache_dir() / "archives").glob("*.deb"):
        (archives / deb.name).symlink_to(deb)
    return folder


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "environment"),
    [
        ('it\'s "mine", 50 % of $HOME; (köttbullar) 漢字 [a]=b', {}),
        ("-rf", {"TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8"}),
        ("plain", {"TZ": "bad/zone", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    ],
)
def test_paths_clocks_and_languages_change_no_sample(
    name: str, environment: Mapping[str, str], rtqual: Run, campaign: Path, mission_file: Path, tmp_path: Path
) -> None:
    """The mission lies there, the folder and the temporary files too; the mask leaves nothing to others."""
    place = tmp_path / name
    (place / "tmp").mkdir(parents=True)
    mission = place / f"{name[:8]}.toml"
    shutil.copy(mission_file, mission)
    before = os.umask(0o077)
    try:
        done = rtqual(
            "select", f"./{mission.name}", "--out", f"./{name}", cwd=place,
            env={**environment, "TMPDIR": str(place / "tmp")},
        )  # fmt: skip
    finally:
        os.umask(before)
    assert done.returncode == 0, done.stderr
    out = place / name
    assert hashes(out) == hashes(campaign)
    assert (out / "junit.xml").read_bytes() == (campaign / "junit.xml").read_bytes()
    assert list((place / "tmp").iterdir()) == []
    assert {path.stat().st_mode & 0o077 for path in out.rglob("*") if not path.is_symlink()} == {0}
    shown = rtqual("show", "--json", f"./{name}", cwd=place, env=dict(environment))
    assert len(json.loads(shown.stdout)) == 6


@pytest.mark.guest
def test_a_folder_whose_name_begins_with_a_dash_is_named_as_any_other(
    rtqual: Run, mission_file: Path, tmp_path: Path
) -> None:
    done = rtqual("select", mission_file, "--out=-rf", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shutil.copy(mission_file, tmp_path / "-x.toml")
    assert rtqual("mission", "check", "./-x.toml", cwd=tmp_path).returncode == 0


@pytest.mark.full
def test_two_campaigns_at_once_fill_one_empty_cache(campaign: Path, mission_file: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cold_cache(tmp_path / "cache"))}
    both = [
        subprocess.Popen(
            rtqual_command("select", mission_file, "--out", tmp_path / name),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]
    said = [process.communicate()[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert hashes(tmp_path / "one") == hashes(tmp_path / "two") == hashes(campaign)
    assert list((tmp_path / "cache/rtqual").glob("*/rtqual-*")) == []


@pytest.mark.full
def test_a_cache_that_lost_or_changed_a_guests_image_changes_no_record(
    campaign: Path, rtqual: Run, tmp_path: Path
) -> None:
    """As a power cut or a disk leaves it: the name stands, with the time, and not what it stood for."""
    mission, cache = tmp_path / "tiny.toml", cold_cache(tmp_path / "cache")
    mission.write_text(mission_text("debian-rt", loads=("none",), runs=1))

    def measured(name: str) -> dict[str, str]:
        done = rtqual("select", mission, "--out", tmp_path / name, env={"XDG_CACHE_HOME": str(cache)})
        assert done.returncode == 0, done.stderr
        return hashes(tmp_path / name)

    sound = measured("sound")
    assert sound and sound.items() <= hashes(campaign).items()
    images = [path for path in (cache / "rtqual/initramfs").iterdir() if path.suffix == ".cpio"]
    assert images
    for damage in ("changed", "lost"):
        for image in images:
            content, times = image.read_bytes(), image.stat()
            at = content.index(b"cyclictest V")
            image.write_bytes(content[:at] + b"C" + content[at + 1 :] if damage == "changed" else b"")
            os.utime(image, ns=(times.st_atime_ns, times.st_mtime_ns))
        shutil.rmtree(cache / "rtqual/guests")  # which were booted from what was sound
        assert measured(damage) == sound


@pytest.mark.full
def test_another_user_without_rights_measures_what_needs_none(tmp_path: Path) -> None:
    """In the guest all is as for root; real-time priority on this machine is missing, and is said to be."""
    if os.geteuid():
        pytest.skip("only root can become another user: run the tests as root")
    place = Path("/dev/shm") / f"rtqual-test-{os.getpid()}"  # noqa: S108 - where others may go, unlike tmp_path
    place.mkdir()
    try:
        (place / "tiny.toml").write_text(mission_text("here", "debian-rt"))
        cold_cache(place / "cache")
        for path in (place, *place.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"]
        # Python and the downloads may lie in root's home: this user may read there, and no more than that.
        only = "-all,+dac_read_search"
        user += [f"--inh-caps={only}", f"--ambient-caps={only}", f"--bounding-set={only}"]
        done = subprocess.run(
            ["prlimit", "--rtprio=0:0", "--", *user, *rtqual_command("select", "tiny.toml", "--out", "out")],
            cwd=place,
            env={"PATH": os.environ["PATH"], "HOME": str(place), "XDG_CACHE_HOME": str(place / "cache")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        assert done.returncode == 0, done.stderr  # this machine is there for comparison
        assert "real-time priority is not allowed here" in done.stderr
        found = [read(path).inputs.board for path in Store(place / "out/records").paths()]
        assert found == ["virtual"] * 6
    finally:
        shutil.rmtree(place)
