# SPDX-License-Identifier: MIT
"""A board without a network: its card measures by itself, whatever happens, and is read with a stranger's eyes."""

import gzip
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.architecture import AMD64, ARM64
from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.program import find
from rtqual.engine.boards.remote.job import checked, scripts
from rtqual.engine.boards.remote.settings import Settings
from rtqual.engine.boards.remote.staged import StagedFiles
from rtqual.engine.initramfs.contents import pack
from rtqual.parts.images.cards import card_board as card
from rtqual.parts.images.cards.card import Planned, copy, results, write
from rtqual.parts.images.cards.card_board import CardBoard, Missing
from rtqual.protocols.board import Command, Job
from rtqual.protocols.board.system import Kernel
from support.machines import MODEL, PARAMETERS
from support.stand_in import SERIAL

LONELY = Settings("lonely", MODEL, AMD64, "", "", 0, "", "", "systemd-boot", parameters=PARAMETERS)
FIRST, SECOND = "a" * 32, "b" * 32  # candidates
ENDED = ("reboot", "poweroff")
_GOES = "[+.][1-9c]*"  # of an entry's name, where the candidate comes up or was not tried too often


@pytest.fixture
def switched_on(tmp_path: Path) -> Callable[[Settings, str], str]:
    """What the card's script says when a board starts a candidate with it. What would end this machine is left out."""
    boot, programs = tmp_path / "boot", tmp_path / "bin"
    programs.mkdir()
    for name in (*ENDED, "umount", "mount", "sync"):
        (programs / name).write_text(f'#!/bin/sh\n[ {name} != reboot ] || kill -KILL "$PPID"\n')
        (programs / name).chmod(0o755)

    def run(settings: Settings, candidate: str) -> str:
        (tmp_path / "cmdline").write_text(f"quiet rtqual.candidate={candidate} rtqual.card\n")
        text = card.script(settings).replace("/boot", str(boot)).replace("/run/", f"{tmp_path}/")
        text = text.replace("/proc/cmdline", f"{tmp_path}/cmdline").replace("/dev/console", "/dev/stdout")
        environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
        done = subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=False, env=environment)
        assert not done.stderr.replace("Killed", "").strip()
        return done.stdout

    return run


@pytest.mark.parametrize(
    ("settings", "file", "before", "after"),
    [
        (LONELY, "loader/loader.conf", f"default {FIRST}{_GOES}\ntimeout 0\n", f"default {SECOND}{_GOES}\ntimeout 0\n"),
        (
            replace(LONELY, architecture=ARM64, switch="tryboot"),
            "config.txt",
            f"arm_64bit=1\nos_prefix=rtqual/{FIRST}/\nkernel=kernel\n",
            f"arm_64bit=1\nos_prefix=rtqual/{SECOND}/\nkernel=kernel\n",
        ),
    ],
)
def test_a_card_runs_its_jobs_in_their_order_and_gives_up_one_that_restarts_the_board_twice(
    settings: Settings, file: str, before: str, after: str, switched_on: Callable[[Settings, str], str], tmp_path: Path
) -> None:
    """The Raspberry Pi's was not tried on a board."""
    boot = tmp_path / "boot"
    assert card.default(settings, FIRST).strip() in before
    cells = [(FIRST, "1" * 32), (FIRST, "2" * 32), (SECOND, "3" * 32)]
    for _, key in cells:
        folder = boot / "rtqual/jobs" / key
        folder.mkdir(parents=True)
        (folder / "run.sh").write_text(f"echo {key} >> {tmp_path}/ran; echo sum > {folder}/sum")
    (boot / "rtqual/cells").write_text("".join(f"{one} {key} 60\n" for one, key in cells))
    broken = boot / "rtqual/jobs" / cells[1][1] / "run.sh"
    broken.write_text("exit 1\n")
    (boot / file).parent.mkdir(exist_ok=True)
    (boot / file).write_text(before)

    assert "0 of 3 cells are measured\nrtqual: 1 of 3" in switched_on(settings, FIRST)
    assert (boot / file).read_text() == before, "the job is tried again"
    assert "the next candidate" not in switched_on(settings, FIRST)
    assert switched_on(settings, FIRST) == "rtqual: the next candidate\n"
    assert (boot / file).read_text() == after
    assert "measured 2 of 3 cells" in switched_on(settings, SECOND)
    assert "measured 2 of 3 cells" in switched_on(settings, SECOND), "nothing is run again"
    assert (tmp_path / "ran").read_text().split() == [cells[0][1], cells[2][1]]


def test_a_job_that_hangs_is_ended_and_the_board_started_again(
    switched_on: Callable[[Settings, str], str], tmp_path: Path
) -> None:
    folder = tmp_path / "boot/rtqual/jobs" / ("1" * 32)
    folder.mkdir(parents=True)
    (folder / "run.sh").write_text("exec sleep 60")
    (tmp_path / "boot/rtqual/cells").write_text(f"{FIRST} {folder.name} 0.1\n")
    assert switched_on(LONELY, FIRST) == "rtqual: 0 of 1 cells are measured\n"


def test_a_candidate_that_does_not_come_up_is_left_out_and_one_that_does_is_counted_no_more(
    switched_on: Callable[[Settings, str], str], tmp_path: Path
) -> None:
    """As systemd-boot leaves its entries: FIRST was started three times, SECOND once."""
    boot = tmp_path / "boot"
    cells = [(FIRST, "1" * 32), (SECOND, "2" * 32)]
    for _, key in cells:
        folder = boot / "rtqual/jobs" / key
        folder.mkdir(parents=True)
        (folder / "run.sh").write_text(f"echo sum > {folder}/sum")
    (boot / "rtqual/cells").write_text("".join(f"{one} {key} 60\n" for one, key in cells))
    (boot / "rtqual/tune.sh").write_text("echo set\n")
    entries = boot / "loader/entries"
    entries.mkdir(parents=True)
    (entries / f"{FIRST}+0-3.conf").write_text("title broken\nlinux /none\n")
    (entries / f"{SECOND}+2-1.conf").write_text("title good\n")
    said = switched_on(LONELY, SECOND)
    assert said.startswith("set\n") and "broken does not come up\nrtqual: measured 1 of 2 cells" in said
    assert sorted(one.name for one in entries.iterdir()) == [f"{FIRST}+0-3.conf", f"{SECOND}.conf"]


def test_a_result_tells_of_which_cell_it_is(tmp_path: Path) -> None:
    """run.sh as it is made, but in other folders, and without what would end or ask this machine."""
    folder, key = tmp_path / "jobs" / FIRST, FIRST
    folder.mkdir(parents=True)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("dmesg", "sync"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    run = scripts(str(folder), Job(Command(("true",))), 1, {})["run.sh"].replace("/run/", f"{tmp_path}/run/")
    (folder / "job.sh").write_text("true\n")
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    subprocess.run(["sh", "-c", run], env=environment, capture_output=True, check=True)
    files = checked((folder / "result.tar").read_bytes(), (folder / "sum").read_text(), "a board")
    assert files["cell"].strip() == key


def test_a_strangers_card_leads_nowhere_else(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such card"):
        results(tmp_path / "absent", tmp_path)
    stranger = tmp_path / "card"
    (stranger / "rtqual/jobs/sub").mkdir(parents=True)
    assert results(stranger, tmp_path / "out") == (stranger, [])
    shutil.rmtree(stranger / "rtqual")
    (stranger / "rtqual").symlink_to("/etc")
    with pytest.raises(BadInput, match="is a link or a device"):
        results(stranger, tmp_path / "out")


@pytest.mark.guest
def test_a_raspberry_pis_card_starts_the_first_candidate_and_its_results_are_read_from_the_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its layout; not tried on a board."""
    tree, image, key = tmp_path / "kernel", tmp_path / "card.img", "1" * 32
    (tree / "boot").mkdir(parents=True)
    (tree / "boot/vmlinuz-6.1").write_bytes(b"kernel")
    (tree / "broadcom").mkdir()
    (tree / "broadcom/bcm2711-rpi-4-b.dtb").write_text("a device tree\n")
    (tmp_path / "root").mkdir()
    (tmp_path / "root/dropbear").touch()
    (tmp_path / "initramfs").write_bytes(gzip.compress(pack(tmp_path / "root", tmp_path / "plain").read_bytes()))
    kernel = Kernel("debian-rt", tree / "boot/vmlinuz-6.1", tmp_path, tmp_path, (), "", "6.1", "6.1", "6.1", 0, 0)
    candidate = StagedFiles(kernel, {"kernel": kernel.image, "initramfs": tmp_path / "initramfs"}, ("isolcpus=3",))
    pi = replace(LONELY, architecture=ARM64, switch="tryboot", parameters=())
    cells = [Planned(candidate, key, 60, {"run.sh": "true\n", "job.sh": "true\n"})]
    made = write(pi, cells, tmp_path, image, lambda _: None)
    assert [one for one in made.missing if "start4.elf" in one] and made.cells == 1
    listing = json.loads(made.sbom.read_text())
    assert {"6.1", "dropbear-bin", "rtqual"} <= {one["name"] for one in listing["packages"]}
    assert {"./config.txt", "./rtqual/card.sh"} <= {one["fileName"] for one in listing["files"]}
    assert "sysbench" not in str(listing["packages"]), "it is not in this initial file system"
    again = write(pi, cells, tmp_path, tmp_path / "again.img", lambda _: None)
    assert again.sha256 == made.sha256, "the same inputs, the same bytes"

    def on_card(name: str) -> str:
        words = [find("mtype", "mtools"), "-i", f"{image}@@1M", f"::{name}"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    nonce = candidate.identity
    config, parameters = on_card("config.txt").splitlines(), on_card(f"rtqual/{nonce}/cmdline.txt").split()
    assert f"os_prefix=rtqual/{nonce}/" in config and "kernel=kernel" in config
    assert {"rtqual.card", "panic=5", "isolcpus=3", f"rtqual.candidate={nonce}"} <= set(parameters)
    assert on_card(f"rtqual/{nonce}/bcm2711-rpi-4-b.dtb") == "a device tree\n"
    assert on_card("rtqual/cells") == f"{nonce} {key} 60\n" and on_card(f"rtqual/jobs/{key}/run.sh") == "true\n"

    (tmp_path / "sum").write_text("sum\n")
    for name in ("sum", "result.tar", "..ssh"):
        words = [find("mcopy", "mtools"), "-i", f"{image}@@1M", str(tmp_path / "sum"), f"::rtqual/jobs/{key}/{name}"]
        subprocess.run(words, check=True)
    (tmp_path / "out").mkdir()
    odd = tmp_path / "a@@0" / "-d"  # mtools would take them for an offset and an option
    odd.parent.mkdir()
    image.rename(odd)
    folder, keys = results(odd, tmp_path / "out")
    copy(odd, folder, keys)
    assert keys == [key] and sorted(path.name for path in (folder / "rtqual/jobs" / key).iterdir()) == [
        "result.tar",
        "sum",
    ]
    monkeypatch.setattr("rtqual.parts.images.cards.card.FILE_MOST_B", 2)
    copy(odd, folder, keys)
    assert (folder / "rtqual/jobs" / key / "result.tar").read_text() == "sum", "one that is too long is cut"
    (tmp_path / "no.img").write_bytes(bytes(2**21))
    with pytest.raises(BadInput, match="is no card that"):
        results(tmp_path / "no.img", tmp_path / "out")


def test_a_pipe_is_no_card_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="is neither a folder, a device nor an image"):
        results(tmp_path / "pipe", tmp_path)


@pytest.mark.guest
def test_what_lies_on_a_card_is_taken_only_where_it_is_whole_and_of_this_board(
    kernel: Callable[..., Kernel], tmp_path: Path
) -> None:
    job = Job(Command(("true",)))
    board = CardBoard(replace(LONELY, card=tmp_path, serial=SERIAL), kernel("debian-rt"))
    nonce = board.candidate.identity
    folder = tmp_path / "rtqual/jobs" / board.key(job, 1)
    with pytest.raises(Missing):
        board.run(job, seed=1, timeout_s=60)
    folder.mkdir(parents=True)

    def pack(
        cmdline: str = f"rtqual.candidate={nonce}", serial: str = SERIAL, sum_text: str = "", cell: str = folder.name,
        cpus: int = 1, boot_id: str = "x",
    ) -> None:  # fmt: skip
        files = tmp_path / "files"
        files.mkdir(exist_ok=True)
        release = kernel("debian-rt").release
        rest = "rest_ns=20000000000\nrest_window_ns=10000000000\n"
        facts = f"kernel={release} #1\ncmdline={cmdline}\ncpus={cpus}\nboot_id={boot_id}\n{rest}"
        (files / "facts").write_text(facts)
        for name in ("before", "after"):
            (files / name).write_text(f"boot_id=x\nserial={serial}\n")
        (files / "measure.status").write_text("exit 0\n")
        (files / "cell").write_text(f"{cell}\n")
        subprocess.run(["tar", "-C", files, "-cf", folder / "result.tar", "."], check=True)
        found = hashlib.sha256((folder / "result.tar").read_bytes()).hexdigest()
        (folder / "sum").write_text(sum_text or f"{found}  result.tar\n")

    pack()
    found = board.run(job, seed=1, timeout_s=60)
    assert (found.problems, found.facts["connection"], found.facts["board"]) == ((), "card", "lonely")
    for changed, problem in (
        ({"cpus": 2}, "the board has 2 CPUs, the mission says 1"),
        ({"boot_id": "y"}, "the board restarted in the run"),
    ):
        pack(**changed)  # type: ignore[arg-type]
        assert board.run(job, seed=1, timeout_s=60).problems == (problem,)
    for changed, told in (
        ({"sum_text": "0" * 64}, "damaged on its way"),
        ({"sum_text": "0" * 1000}, "holds more than 200 bytes"),
        ({"cmdline": "rtqual.candidate=another"}, "another system measured"),
        ({"cell": board.key(job, 2)}, "is another cell's: it was copied there"),
        ({"serial": "S2"}, f"in a machine with serial number S2, not {SERIAL}"),
    ):
        pack(**changed)
        with pytest.raises(RunFailed, match=told):
            board.run(job, seed=1, timeout_s=60)
    pack()
    (folder / "sum").unlink()
    (folder / "sum").symlink_to("/etc/hostname")
    with pytest.raises(RunFailed, match="is a link or a device"):
        board.run(job, seed=1, timeout_s=60)
    with pytest.raises(RunFailed, match="has no network: `rtqual image MISSION --board lonely --self-measuring`"):
        CardBoard(LONELY, kernel("debian-rt")).run(job, seed=1, timeout_s=60)
