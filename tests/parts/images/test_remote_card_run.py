# SPDX-License-Identifier: MIT
"""A card that measures by itself on the stand-in, whatever happens, and is read again."""

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rtqual.base.program import find
from rtqual.parts.images.cards import card_board as card
from rtqual.protocols.record.store import Store, read
from support.command import Fails, Run
from support.machines import MODEL, PARAMETERS
from support.stand_in import BOTH, KERNELS, SERIAL, candidate, stand_in
from support.stand_in import SECOND as SECOND_DISK

pytestmark = [pytest.mark.full]
MISSION = f"""\
[mission]
name = "card"
title = "Which kernel flies on a board without a network?"
purpose = "Tries the card."
duration = "10 s"

{BOTH}
[[board]]
name = "lonely"
model = "{MODEL}"
architecture = "amd64"
serial = "{SERIAL}"
switch = "systemd-boot"
parameters = {json.dumps(PARAMETERS)}

disks = {{ usb = "{SECOND_DISK}" }}

[parameters.sysbench-fileio-usb]
threads = 2
total_size = "8 MiB"
files = 4
events = 200
fsync_every = 10

[parameters.cyclictest]
interval = "10 ms"
cycles = 100

[[scale.demo.plan]]
boards = ["lonely"]
instruments = ["cyclictest"]
runs = 2

[[scale.demo.plan]]
boards = ["lonely"]
candidates = ["debian"]
instruments = ["sysbench-fileio-usb"]
runs = 1
"""


def test_a_card_measures_two_kernels_by_itself_and_its_results_become_records(
    rtqual: Run, fails: Fails, tmp_path: Path
) -> None:
    """Its power is cut in a job; it goes on where it was."""
    mission, image, out = tmp_path / "card.toml", tmp_path / "card.img", tmp_path / "out"
    mission.write_text(MISSION)
    made = rtqual("image", mission, "--board", "lonely", "--self-measuring", "--out", image, "--json")
    assert (json.loads(made.stdout)["cells"], made.returncode) == (5, 0), made.stderr

    def disk(folder: Path) -> str:
        shutil.copyfile(image, folder / "disk")
        return ""

    with stand_in(tmp_path / "board", disk) as there:
        _until(lambda: "1 of 5 cells" in there.console_log)
        there.cut_power()
        _until(lambda: "measured 5 of 5 cells" in there.console_log and not (there.folder / "pid").exists())
        source = there.folder / "disk"
    done = rtqual("import", source, "--mission", mission, "--out", out, "--json")
    (taken,) = json.loads(done.stdout)
    assert (done.returncode, taken["records"], taken["strange"]) == (0, 5, 0), done.stderr
    records = [read(path).manifest for path in Store(out / "records").paths()]
    assert sorted(one.inputs.candidate for one in records) == ["debian"] * 3 + ["debian-rt"] * 2
    for one in records:
        facts = one.provenance.facts
        assert (one.timing, one.problems, one.inputs.board) == ("real", [], MODEL)
        assert (facts["serial"], facts["connection"]) == (SERIAL, "card") and len(facts["boot_id"]) == 36
        assert ("PREEMPT_RT" in (one.provenance.kernel or "")) == (one.inputs.candidate == "debian-rt")
    judged = rtqual("select", mission, "--out", out, "--json")
    assert judged.returncode == 0 and json.loads(judged.stdout)["failures"] == {}, judged.stderr

    mounted = tmp_path / "mounted"  # a stranger's, with one result of nothing and one damaged
    mounted.mkdir()
    subprocess.run([find("mcopy", "mtools"), "-s", "-n", "-i", f"{source}@@1M", "::rtqual", mounted], check=True)
    jobs = mounted / "rtqual/jobs"
    first, second, *_ = sorted(jobs.iterdir())
    first.rename(jobs / ("0" * 32))
    (second / "result.tar").write_bytes(b"no tar")
    done = rtqual("import", mounted, "--mission", mission, "--out", tmp_path / "other", "--json")
    (taken,) = json.loads(done.stdout)
    assert (done.returncode, taken["records"], taken["strange"], len(taken["missing"])) == (3, 3, 1, 1)
    (why,) = taken["failures"].values()
    assert "the result was damaged on its way" in why
    mission.write_text(MISSION.replace("cycles = 100", "cycles = 99").replace("events = 200", "events = 199"))
    assert "none of its 5 jobs is of this mission's boards" in fails(
        2, "import", source, "--mission", mission, "--out", tmp_path / "another"
    )


def test_a_card_goes_on_without_a_candidate_that_panics_before_it_finds_the_card(rtqual: Run, tmp_path: Path) -> None:
    mission, image, out = tmp_path / "card.toml", tmp_path / "card.img", tmp_path / "out"
    broken = candidate("broken", "Panics", KERNELS["stock"], 'boot = ["rdinit=/no"]')
    first, plan = MISSION.index("[[candidate]]"), MISSION.rindex("[[scale.demo.plan]]")
    text = (
        MISSION[:first]
        + broken
        + MISSION[first:plan].replace("runs = 2", 'runs = 1\ncandidates = ["broken", "debian"]')
    )
    mission.write_text(
        text.replace("cpus = 1", "").replace('switch = "systemd-boot"', 'switch = "systemd-boot"\ntune = true')
    )
    assert rtqual("image", mission, "--board", "lonely", "--self-measuring", "--out", image).returncode == 0

    def disk(folder: Path) -> str:
        shutil.copyfile(image, folder / "disk")
        return ""

    with stand_in(tmp_path / "board", disk) as there:
        _until(lambda: "measured 1 of 2 cells" in there.console_log and not (there.folder / "pid").exists())
        assert there.console_log.count("Kernel panic") == card.STARTS and "broken does not come up" in there.console_log
        done = rtqual("import", there.folder / "disk", "--mission", mission, "--out", out, "--json")
    (taken,) = json.loads(done.stdout)
    assert (taken["records"], len(taken["missing"])) == (1, 1)
    (record,) = (read(path).manifest for path in Store(out / "records").paths())
    assert record.inputs.candidate == "debian" and "tuned" in record.inputs.artefacts


def _until(true: Callable[[], bool]) -> None:
    end_s = time.monotonic() + 1800
    while not true():
        assert time.monotonic() < end_s
        time.sleep(0.2)
