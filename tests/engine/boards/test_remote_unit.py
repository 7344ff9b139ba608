# SPDX-License-Identifier: MIT
"""What a board over ssh rests on, without a board: what boot loaders are told, the link, the order."""

import os
import re
import shlex
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.apt import fetch_closure
from rtqual.base.architecture import AMD64, ARM64
from rtqual.base.errors import RunFailed
from rtqual.engine.boards.remote import check, lease
from rtqual.engine.boards.remote.job import APART, ENDED, scripts
from rtqual.engine.boards.remote.link import Ssh
from rtqual.engine.boards.remote.power import Switched
from rtqual.engine.boards.remote.session import Session
from rtqual.engine.boards.remote.settings import BoardRefused, Out, Settings, Unreachable
from rtqual.engine.boards.remote.staged import disown, room
from rtqual.engine.boards.remote.switch import Boot, Grub, SystemdBoot, Tryboot, switcher_of
from rtqual.engine.initramfs import contents
from rtqual.protocols.board import Command, Job
from rtqual.protocols.board.jobscript import plain_files
from support.grub import GRUB_CFG

SETTINGS = Settings("pi-a", "raspberry-pi-4b", ARM64, "root", "127.0.0.1", 1, "ssh-ed25519 AAAA", "6.6", "tryboot")


def test_tryboot_leaves_config_txt_and_starts_the_candidate_from_its_folder(tmp_path: Path) -> None:
    """The script is run here on a folder as the boot partition has it. Not tried on a board."""
    for name, text in {"config.txt": "arm_64bit=1\n", "bcm2711-rpi-4-b.dtb": "dtb", "cmdline.txt": "good\n"}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "overlays").mkdir()
    (tmp_path / "rtqual/c0ffee").mkdir(parents=True)
    switcher = Tryboot()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    script = switcher.arm(str(tmp_path), Boot("/rtqual/c0ffee", "panic=5 rtqual.candidate=c0ffee"))
    subprocess.run(["sh", "-c", script], check=True)
    lines = (tmp_path / "tryboot.txt").read_text().split()
    kernel = ["os_prefix=rtqual/c0ffee/", "kernel=kernel", "cmdline=cmdline.txt"]
    initramfs = ["initramfs", "initramfs", "followkernel", "auto_initramfs=0"]
    assert lines == ["arm_64bit=1", "[all]", *kernel, *initramfs], "config.txt, and what takes the place of its words"
    assert (tmp_path / "rtqual/c0ffee/cmdline.txt").read_text() == "panic=5 rtqual.candidate=c0ffee\n"
    assert (tmp_path / "rtqual/c0ffee/bcm2711-rpi-4-b.dtb").read_text() == "dtb"
    assert "reboot '0 tryboot'" in switcher.restart(str(tmp_path))
    subprocess.run(["sh", "-c", switcher.disarm(str(tmp_path))], check=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    ("autoboot", "says"),
    [
        (None, ""),
        ("[all]\nboot_partition=2\n", ""),
        ("[all]\n#tryboot_a_b=1\ntryboot_a_b=0\n", ""),
        ("[all]\ntryboot_a_b=1\nboot_partition=2\n", "autoboot.txt has tryboot_a_b=1"),
        ("[all]\n tryboot_a_b = 1\n", "autoboot.txt has tryboot_a_b=1"),
    ],
)
def test_tryboot_is_not_had_beside_two_slots_of_the_firmware(autoboot: str | None, says: str, tmp_path: Path) -> None:
    if autoboot is not None:
        (tmp_path / "autoboot.txt").write_text(autoboot)
    script = f"boot={tmp_path}\n{{ {Tryboot().why_not}\n}} | sed 's/^/why_not=/'"
    told = subprocess.run(["sh", "-c", script], check=True, capture_output=True, text=True).stdout
    assert told.startswith(f"why_not={says}") if says else not told
    assert not says or told.rstrip("\n").partition("\t")[2] == "take that line out of autoboot.txt"


@pytest.mark.parametrize(
    ("release", "unseen"),
    [("6.6.31-mainline", True), ("6.12.34+rpt-rpi-v8", False), ("6.6.51-v8+", False), ("6.1.0-50-armmp", True)],
)
def test_whether_a_kernel_passes_tryboot_on_is_said_to_be_unknown_where_it_is(release: str, unseen: bool) -> None:
    told = {"release": [release], "boot": ["/boot/firmware"]}
    (entry,) = (one for one in check._system(replace(SETTINGS, good=release), told) if one.name == "one-shot entry")
    assert entry.good and ("not checked" in entry.what) == unseen


def test_systemd_boot_is_armed_by_its_variable_and_its_default_is_not_named() -> None:
    script = SystemdBoot().arm("/boot", Boot("/rtqual/c0ffee", "panic=5"))
    assert "linux /rtqual/c0ffee/kernel" in script and "options panic=5" in script
    assert "LoaderEntryOneShot-4a67b082" in script and "loader.conf" not in script
    octal = script.partition("printf '\\")[2].partition("'")[0].split("\\")
    content = bytes(int(one, 8) for one in octal)
    assert (content[:4], content[4:].decode("utf-16-le")) == (b"\x07\x00\x00\x00", "rtqual-candidate.conf\0")


@pytest.fixture
def grub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """A board's folders below `tmp_path` as Debian has them, and GRUB's own programs."""
    closure = fetch_closure(["grub-common"])
    for name in ("grub-editenv", "grub-script-check"):
        contents.copy_program(
            name, _made(tmp_path / "programs/usr/bin").parents[1], [one.tree for one in closure], AMD64.triplet
        )
    monkeypatch.setenv("PATH", f"{tmp_path}/programs/usr/bin:{os.environ['PATH']}")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "programs/lib" / AMD64.triplet))
    folder = _made(tmp_path / "boot/grub")
    subprocess.run(["grub-editenv", folder / "grubenv", "create"], check=True)
    (folder / "grub.cfg").write_text(GRUB_CFG)
    device = subprocess.run(["df", "-P", folder], capture_output=True, text=True, check=True).stdout.split()[-6]
    (_made(tmp_path / "proc") / "mounts").write_text(f"{device} / ext4 rw 0 0\n")
    (_made(tmp_path / "sys/class/block" / device.rpartition("/")[2]) / "partition").write_text("2\n")
    _made(tmp_path / "efi/rtqual/c0ffee")

    def run(script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)

    return run


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.guest
def test_grub_starts_an_entry_of_its_own_once_and_its_default_stays(
    grub: Callable[[str], subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """With GRUB's programs, on folders. Not tried on a board."""
    switcher, efi, folder = Grub(str(tmp_path)), tmp_path / "efi", tmp_path / "boot/grub"
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert grub(switcher.why_not).stdout == ""
    done = grub(switcher.arm(str(efi), Boot("/rtqual/c0ffee", "panic=5 a='b' rtqual.store=0A1B-2C3D")))
    assert done.returncode == 0, done.stderr
    assert grub(f"grub-editenv {folder}/grubenv list").stdout == "next_entry=rtqual-candidate\n"
    entry = (folder / "custom.cfg").read_text()
    assert grub(f"grub-script-check {folder}/custom.cfg").returncode == 0
    assert "--id rtqual-candidate" in entry and "--set=rtqual 0A1B-2C3D" in entry and "/rtqual/c0ffee/kernel" in entry
    assert (folder / "grub.cfg").read_bytes() == before[folder / "grub.cfg"] and (efi / "rtqual/armed").exists()
    again = grub(switcher.arm(str(efi), Boot("/rtqual/c0ffee", "rtqual.store=0A1B-2C3D")))
    assert again.returncode == 0, "what a killed rtqual left is its own"
    assert grub(switcher.disarm(str(efi))).returncode == 0
    assert {path: path.read_bytes() for path in folder.iterdir()} == before and not (efi / "rtqual/armed").exists()
    assert "reboot -f" not in switcher.restart(str(efi))


@pytest.mark.guest
def test_grub_is_refused_where_its_one_start_would_not_be_one(
    grub: Callable[[str], subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    folder, mounts = tmp_path / "boot/grub", tmp_path / "proc/mounts"
    switcher, device = Grub(str(tmp_path)), mounts.read_text().split()[0]
    plain = tmp_path / "sys/class/block" / device.rpartition("/")[2] / "partition"
    secure = tmp_path / "sys/firmware/efi/efivars/SecureBoot-8be4df61"
    faults: list[tuple[Path, bytes | None, str]] = [
        (folder / "grub.cfg", GRUB_CFG.replace("save_env next_entry", "").encode(), "has no save_env next_entry"),
        (folder / "grub.cfg", GRUB_CFG.replace("custom.cfg", "").encode(), "has no custom.cfg"),
        (folder / "grubenv", None, "grubenv\tgrub-editenv"),
        (folder / "custom.cfg", b"menuentry 'mine' { }\n", "custom.cfg is there already"),
        (mounts, f"{device} / btrfs rw 0 0\n".encode(), "GRUB cannot write to btrfs"),
        (plain, None, "LVM, RAID, encrypted"),
        (secure, b"\x06\x00\x00\x00\x01", "Secure Boot is on"),
    ]
    for path, content, told in faults:
        old = path.read_bytes() if path.exists() else None
        _put(path, content)
        assert told in grub(switcher.why_not).stdout
        done = grub(switcher.arm(str(tmp_path / "efi"), Boot("/rtqual/c0ffee", "rtqual.store=0A1B-2C3D")))
        assert done.returncode == 1 and "GRUB starts nothing once here" in done.stderr
        assert not (tmp_path / "efi/rtqual/armed").exists() and path.exists() == (content is not None)
        _put(path, old)
        assert grub(switcher.why_not).stdout == ""


def _put(path: Path, content: bytes | None) -> None:
    path.unlink(missing_ok=True)
    if content is not None:
        _made(path.parent)
        path.write_bytes(content)


def test_a_program_of_ones_own_is_called_with_its_words() -> None:
    own = switcher_of(replace(SETTINGS, switch="command", switch_command=("/opt/switch it", "-v")))
    script = own.arm("/boot", Boot("/rtqual/c0ffee", "panic=5 a=b"))
    assert script == "'/opt/switch it' -v arm /boot/rtqual/c0ffee 'panic=5 a=b'\n"


def test_nobody_at_the_address_is_told_soon(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match=r"board pi-a \(root@127.0.0.1:1\) does not answer: .*refused"):
        Ssh(SETTINGS, tmp_path).run("true")


def test_power_that_fails_is_told_with_its_words(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match="board pi-a: its power command `sh -c 'echo no relay >&2; exit 3'` failed: no"):
        Switched("pi-a", ("sh", "-c", "echo no relay >&2; exit 3"), ("true",)).cycle()
    with pytest.raises(RunFailed, match="No such file"):
        Switched("pi-a", (str(tmp_path / "absent"),), ("true",)).cycle()


def test_a_result_that_is_no_archive_or_holds_a_link_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match="the result is no archive"):
        plain_files(b"no tar" * 200, "x")
    (tmp_path / "measure.out").symlink_to("/etc/passwd")
    (tmp_path / "facts").write_text("cpus=1\n")
    packed = subprocess.run(["tar", "-C", tmp_path, "-cf", "-", "."], capture_output=True, check=True).stdout
    assert plain_files(packed, "x") == {"facts": "cpus=1\n"}


@pytest.mark.parametrize("kind", [b"L", b"K", b"x"])
def test_an_archive_of_headers_or_files_without_end_is_refused(kind: bytes) -> None:
    header = tarfile.TarInfo("x")
    header.type, header.size = kind, 11
    chain = (header.tobuf(tarfile.USTAR_FORMAT) + b"11 path=ab\n".ljust(512, b"\0")) * 2000
    with pytest.raises(RunFailed, match="the result is no archive"):
        plain_files(chain + tarfile.TarInfo("x").tobuf() + bytes(1024), "x")
    with pytest.raises(RunFailed, match="the result holds more than 10000 files"):
        plain_files(tarfile.TarInfo("x").tobuf() * 10_001, "x")


def test_a_board_that_answers_without_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it says: an answer to a look has some lines, and 512 MiB of them would be a list of gigabytes."""
    _program(tmp_path / "bin/ssh", "#!/bin/sh\nexec head -c 3000000 /dev/zero\n")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    with pytest.raises(RunFailed, match="answered with more than 1,048,576 bytes"):
        Ssh(SETTINGS, tmp_path).run("true", deadline_s=60)


@pytest.mark.parametrize("ending", ['eval "$last"', ""])
def test_what_a_login_shell_prints_is_no_answer(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As bash does under sshd, which reads ~/.bashrc; and as an account does that has no shell."""
    noise = "echo Welcome to pi-a; echo 'stty: Inappropriate ioctl' >&2; for last; do :; done"
    _program(tmp_path / "bin/ssh", f"#!/bin/sh\n{noise}\n{ending}\n")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    link = Ssh(SETTINGS, tmp_path)
    if not ending:
        with pytest.raises(RunFailed, match="lets us in and runs nothing: give root a login shell"):
            link.run("true")
        return
    assert link.run("cat", give=b"\0rtqual: begun\n\n") == b"\0rtqual: begun\n\n"
    with pytest.raises(RunFailed, match=r"\(root@127.0.0.1:1\): a command ended with 3"):
        link.run("exit 3")
    with pytest.raises(RunFailed, match=r"\(root@127.0.0.1:1\): no such disk"):
        link.run("echo no such disk >&2; exit 1")


def _program(path: Path, text: str) -> None:
    _made(path.parent)
    path.write_text(text)
    path.chmod(0o755)


class Here:
    """A link to this machine."""

    def run(self, script: str, *, deadline_s: float = 30.0, give: bytes = b"", most_b: int = 0) -> bytes:  # noqa: ARG002
        done = subprocess.run(["dash", "-c", script], capture_output=True, check=False)
        if done.returncode:
            raise RunFailed(f"here: {done.stderr.decode()}")
        return done.stdout

    def drop(self) -> None: ...


def test_the_power_is_switched_only_while_nobody_can_have_taken_the_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a silent board nobody can read whose it is: its owner keeps to the time that he wrote there."""
    on = ("touch", str(tmp_path / "on"))
    settings = replace(SETTINGS, boot_timeout_s=0.01, power_off=("true",), power_on=on, labgrid=("farm:1", "pi-a"))
    told: list[str] = []
    session = Session(settings, "me", tmp_path / "log", told.append)
    monkeypatch.setattr("rtqual.engine.boards.remote.power._OFF_S", 0.0)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    session._lease = ours = lease.take(Here(), str(tmp_path), "me", "pi-a", alone_s=session._alone_s)
    _program(tmp_path / "bin/labgrid-client", "#!/bin/sh\necho 'pi-a already acquired by you/there' >&2; exit 1\n")
    with pytest.raises(BoardRefused, match="already acquired by you"):
        session._recover("silent")
    _program(tmp_path / "bin/labgrid-client", "#!/bin/sh\n")
    ours.heard.at_s -= ours.alone_s + 1
    with pytest.raises(BoardRefused, match="somebody may have taken it: `rtqual board restore pi-a --take`"):
        session._recover("silent")
    assert not (tmp_path / "on").exists()
    session.expect_silence(3600)
    assert session.lease.alone_s >= 3600 and session.lease.holds, "a command was run, so it is ours"
    with pytest.raises(Out, match="not after its power was switched off and on either"):
        session._recover("silent")
    assert (tmp_path / "on").exists()
    assert lease.take(Here(), str(tmp_path), "me", "pi-a").before_s == 0, "who has it loses nothing by himself"
    lease.take(Here(), str(tmp_path), "me", "pi-a", alone_s=77)
    assert lease.take(Here(), str(tmp_path), "you", "pi-a", force=True).before_s == 77


def test_who_was_told_that_the_board_is_anothers_switches_its_power_no_more(tmp_path: Path) -> None:
    ours = lease.take(Here(), str(tmp_path), "me", "pi-a", alone_s=3600)
    assert ours.holds
    lease.take(Here(), str(tmp_path), "you", "pi-a", force=True)
    with pytest.raises(BoardRefused, match="here: somebody else has taken the board since"):
        ours.run("true")
    assert not ours.holds


def test_the_same_owner_takes_a_board_again_whatever_his_folder_is_called(tmp_path: Path) -> None:
    owner = "me@here 'C:\\101\\tx'"  # some shells' echo makes other characters of it

    assert lease.take(Here(), str(tmp_path), owner, "pi-a").number == 1
    assert lease.take(Here(), str(tmp_path), owner, "pi-a").number == 2
    with pytest.raises(BoardRefused, match=re.escape(f"in use by {owner}")):
        lease.take(Here(), str(tmp_path), "another", "pi-a")


def test_the_boards_host_key_goes_with_the_candidates(tmp_path: Path) -> None:
    """Overwritten before it is removed: the other name of the file shows what was written to its blocks."""
    key = _made(tmp_path / "own") / "hostkey"
    key.write_text("PRIVATE\n")
    (tmp_path / "own/hostkey.new").write_text("half")
    os.link(key, tmp_path / "block")
    for _ in range(2):
        subprocess.run(["sh", "-ec", disown(str(tmp_path))], check=True)
        assert not (tmp_path / "own").exists() and not (tmp_path / "block").read_bytes().strip(b"\0")


def test_candidates_that_may_go_are_room_and_nothing_else_is(tmp_path: Path) -> None:
    for name in ("1" * 32, "2" * 32 + ".new", "jobs", "own", "lease-1"):
        (tmp_path / "boot/rtqual" / name).mkdir(parents=True)
        (tmp_path / "boot/rtqual" / name / "file").write_bytes(bytes(2**20))

    def told(boot: Path) -> dict[str, int]:
        done = subprocess.run(["sh", "-c", room(f"'{boot}'")], capture_output=True, text=True, check=True)
        return {key: int(value) for key, _, value in (line.partition("=") for line in done.stdout.splitlines())}

    assert 2048 <= told(tmp_path / "boot")["old_kib"] < 2100 and told(tmp_path / "boot")["free_kib"] > 0
    assert told(tmp_path)["old_kib"] == 0


def test_a_load_ends_with_its_job_and_no_other_process_does(tmp_path: Path) -> None:
    """The script as the board's shell reads it, with its own programs only: the initramfs has no pkill."""
    load = "while sleep 0.01; do :; done & sleep 60 & sleep 60"
    script = f"sleep 60 & other=$!\nsetsid sh -c {shlex.quote(load)} & job=$!\nsleep 0.2\n{ENDED}\n"
    script += "kill -0 $other && kill $other && echo $job"
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sleep", "setsid", "sh", "cat"):
        (programs / name).symlink_to(str(shutil.which(name)))
    done = subprocess.run(["sh", "-c", script], env={"PATH": str(programs)}, capture_output=True, text=True, check=True)
    sessions = [path.read_text().rpartition(")")[2].split() for path in Path("/proc").glob("[0-9]*/stat")]
    assert [one for one in sessions if one[3] == done.stdout.strip() and one[0] != "Z"] == []


def test_a_job_sees_neither_the_boot_partition_nor_keys(tmp_path: Path) -> None:
    """The script as the board runs it, on folders that stand for the board's; outside nothing changes."""
    places = ("/boot", "/etc/dropbear", "/root/.ssh")
    for place in places:
        (tmp_path / place[1:]).mkdir(parents=True)
        (tmp_path / place[1:] / "key").write_text("PRIVATE\n")
    (tmp_path / "job.sh").write_text("".join(f"ls -A {tmp_path}{place}\n" for place in places) + "echo seen\n")
    script = re.sub("|".join(places), lambda found: f"{tmp_path}{found[0]}", APART).replace("/run/", f"{tmp_path}/")
    (tmp_path / "apart.sh").write_text(script)
    apart = ["unshare", "-m" if os.geteuid() == 0 else "-rm", "sh", tmp_path / "apart.sh"]
    done = subprocess.run(apart, capture_output=True, text=True, check=True)
    assert done.stdout == "seen\n"
    assert (tmp_path / "boot/key").read_text() == "PRIVATE\n"


def test_a_program_that_is_watched_runs_once_by_itself_and_once_traced() -> None:
    """On a board over ssh and on a card alike; its disk is mounted where its result is packed."""
    command = Command(("rtqual-program", "--name", "program", "--", "/opt/x/loop"))
    job = Job(command, collect=("program.out",), watched=True, folder="usb")
    made = scripts("/boot/rtqual/jobs/1", job, 1, {"usb": "/dev/sda1"})
    twice = "rtqual-program --name program -- /opt/x/loop || exit; rtqual-here --trace trace --kib 8192 -- "
    assert f"{twice}rtqual-program --name traced -- /opt/x/loop; exit 0" in made["job.sh"]
    assert [f"file.{name}" in made["job.sh"] for name in ("program.out", "trace", "traced.out")] == [True] * 3
    assert "mount /dev/sda1" in made["run.sh"]
    assert "mount /dev/sda1" not in made["job.sh"]
    assert "rtqual-here" not in scripts("/boot/rtqual/jobs/1", Job(command), 1, {})["job.sh"]
