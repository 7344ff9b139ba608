# SPDX-License-Identifier: MIT
"""What a killed rtqual leaves is cleared by the next one, and nothing else is."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import rtqual
from rtqual.base.scratch import scratch, sweep, sweep_fresh, sweep_named

HOLDS = """
import sys, time
from pathlib import Path
import rtqual
from rtqual.base.scratch import scratch
with scratch(Path(sys.argv[1])) as folder:
    (folder / "samples").write_text("many")
    (folder / "link").symlink_to(sys.argv[2])
    print(folder, flush=True)
    time.sleep(1000)
"""


def test_a_folder_goes_when_its_user_is_dead_and_its_links_are_not_followed(tmp_path: Path) -> None:
    parent, outside = tmp_path / "tmp", tmp_path / "outside"
    parent.mkdir()
    outside.mkdir()
    (outside / "precious").touch()
    user = subprocess.Popen([sys.executable, "-c", HOLDS, parent, outside], stdout=subprocess.PIPE, text=True)
    assert user.stdout
    folder = Path(user.stdout.readline().strip())
    assert sweep({parent}) == []  # it is in use
    assert (folder / "samples").exists()
    user.send_signal(signal.SIGKILL)
    user.communicate()
    assert sweep({parent}) == [folder]
    assert list(parent.iterdir()) == []
    assert (outside / "precious").exists()


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    parent, elsewhere = tmp_path / "tmp", tmp_path / "elsewhere"
    for folder in (parent / "rtqual-unmarked", parent / "other-x", elsewhere):
        folder.mkdir(parents=True)
        (folder / "precious").touch()
    for folder in (parent / "other-x", elsewhere):
        (folder / ".rtqual-scratch").touch()
    (parent / "rtqual-link").symlink_to(elsewhere)
    (parent / "rtqual-mark").mkdir()
    (parent / "rtqual-mark" / ".rtqual-scratch").symlink_to(elsewhere / ".rtqual-scratch")
    (parent / "rtqual-fifo").mkdir()
    os.mkfifo(parent / "rtqual-fifo" / ".rtqual-scratch")
    (parent / "rtqual-file").touch()
    before = sorted(tmp_path.rglob("*"))
    assert sweep({parent, tmp_path / "missing"}) in ([], [parent / "rtqual-fifo"])
    assert {one for one in before if "fifo" not in one.name + one.parent.name} <= set(tmp_path.rglob("*"))


def test_a_folder_in_use_here_stays(tmp_path: Path) -> None:
    with scratch(tmp_path) as folder:
        assert sweep({tmp_path}) == []
        assert folder.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_what_a_dead_process_began_to_write_goes(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    dead = tmp_path / f".0123456789abcdef-0.{gone.pid}"
    alive = tmp_path / f".0123456789abcdef-1.{os.getpid()}"
    record = tmp_path / "0123456789abcdef-2"
    for folder in (dead, alive, record):
        folder.mkdir()
        (folder / "samples.parquet").touch()
    (tmp_path / f".link.{gone.pid}").symlink_to(record)
    assert sweep_fresh(tmp_path) == [dead]
    assert not dead.exists()
    assert (record / "samples.parquet").exists() and (alive / "samples.parquet").exists()
    assert sweep_fresh(tmp_path / "missing") == []
    (tmp_path / f".report.html.{gone.pid}").touch()
    (tmp_path / f".theirs.{gone.pid}").touch()
    assert sweep_fresh(tmp_path, r"[a-z]+\.html") == [tmp_path / f".report.html.{gone.pid}"]


def test_a_folder_that_was_not_marked_yet_or_no_longer_goes_with_its_process(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    dead, alive = (tmp_path / f"rtqual-{pid}-scratch-abcdefgh" for pid in (gone.pid, os.getpid()))
    for folder in (dead, alive):
        folder.mkdir()
        (folder / "samples").touch()
    (tmp_path / f"rtqual-{gone.pid}-scratch-abcdefgi").symlink_to(alive)
    with scratch(tmp_path) as mine:  # the next one beside it sweeps
        assert not dead.exists()
        assert (alive / "samples").exists() and mine.is_dir()


def test_a_dead_programs_old_files_go_and_nobody_elses(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    kept = {f"cyclictest{os.getpid()}", f"cyclictest{gone.pid}.txt", "cyclictest", "cyclictest0", "cyclictest-notes"}
    for name in (*kept, f"cyclictest{gone.pid}"):
        (tmp_path / name).write_text("status")
    (tmp_path / f"cyclictest{2**22 + 1}").symlink_to(tmp_path / "cyclictest")  # no process has such a number
    (tmp_path / f"cyclictest{2**22 + 2}").mkdir()
    assert sweep_named(tmp_path, "cyclictest", 3600) == []  # too young
    assert sweep_named(tmp_path, "cyclictest", -3600) == [tmp_path / f"cyclictest{gone.pid}"]
    assert len(list(tmp_path.iterdir())) == len(kept) + 2


@pytest.mark.parametrize("name", ["rtqual-2024-results", "rtqual-1-backup", "rtqual-9999999999-scratch-abcdefgh"])
def test_a_folder_that_somebody_named_like_ours_stays(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "thesis").write_text("years")
    sweep({tmp_path})
    with scratch(tmp_path):
        pass
    assert (tmp_path / name / "thesis").read_text() == "years"


def test_nothing_else_makes_scratch_folders() -> None:
    """What it made would stay for ever when rtqual is killed."""
    sources = Path(rtqual.__file__).parent
    makes = re.compile(r"tempfile\.(?!gettempdir\b)|from tempfile import|mkdtemp|TemporaryDirectory|NamedTemporaryFile")
    found = {str(path.relative_to(sources)) for path in sources.rglob("*.py") if makes.search(path.read_text())}
    assert found == {"base/scratch.py"}
