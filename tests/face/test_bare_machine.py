# SPDX-License-Identifier: MIT
"""`make demo` where nearly everything is missing: in a container with the devices that containers have, so without USB
and KVM, for a user who has no name, no sudo, no capability and no real-time priority, in a folder with a space."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rtqual.base.cache import cache_dir
from rtqual.protocols.record.store import Store, read

ROOT = Path(__file__).parents[2]
USER = "4321"
HOME = "/home/a flyer"
# Takes the folder to become /home/a flyer, the home to hide, Python's folder (which may lie in there), and a command.
CONTAINER = f"""
set -eu
mount -t tmpfs -o mode=755 tmpfs /home
mkdir "{HOME}" /home/.dev /home/.python
mount --bind "$1" "{HOME}"
mount -t tmpfs -o mode=755 tmpfs /home/.dev
for name in null zero full random urandom tty; do
    touch /home/.dev/$name
    mount --bind /dev/$name /home/.dev/$name
done
mkdir -m 1777 /home/.dev/shm
ln -s /proc/self/fd /home/.dev/fd
mount --move /home/.dev /dev
[ ! -d /sys/bus ] || mount -t tmpfs tmpfs /sys/bus
mount --bind "$3" /home/.python
mount -t tmpfs -o mode=755 tmpfs "$2"
mkdir -p "$3"
mount --bind /home/.python "$3"
cd "{HOME}/rtqual here"
exec prlimit --rtprio=0:0 --memlock=65536:65536 -- setpriv --reuid={USER} --regid={USER} --clear-groups \\
    --no-new-privs --bounding-set=-all --inh-caps=-all -- sh -c "$4"
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A user's, with the source and with what apt fetched before."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.split("\0")[:-1]:
        place = tmp_path / "rtqual here" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, place, follow_symlinks=False)
    archives = tmp_path / ".cache/rtqual/archives"
    archives.mkdir(parents=True)
    for deb in (cache_dir() / "archives").glob("*.deb"):
        shutil.copy2(deb, archives)
    subprocess.run(["chown", "-R", f"{USER}:{USER}", tmp_path], check=True)
    return tmp_path


def inside(home: Path, command: str) -> subprocess.CompletedProcess[str]:
    container = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--ipc", "--uts", "--kill-child"]
    named = ("XDG_", "VIRTUAL_ENV", "LOGNAME", "USER")
    environment = {name: text for name, text in os.environ.items() if not name.startswith(named)}
    return subprocess.run(
        [*container, "sh", "-c", CONTAINER, "sh", home, Path.home(), sys.base_prefix, command],
        env={**environment, "HOME": HOME, "PATH": f"{sys.base_prefix}/bin:/usr/local/bin:/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.manual  # six minutes of processor
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can hide devices and become another user")
def test_the_demo_leaves_out_what_it_lacks_and_says_so(home: Path) -> None:
    done = inside(home, "make demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout.count("─ Verdict, ") == 1
    assert "debian-rt ranks first on the emulator: it meets all 6 requirements there" in done.stdout
    assert "No real-time priority for this machine's cells; the virtual board needs none" in done.stderr
    left_out = f"failed this-machine: cyclictest, load none, {len(os.sched_getaffinity(0))} CPU"
    why = "this machine: real-time priority is not allowed here: run as root, or raise RLIMIT_RTPRIO (ulimit -r)"
    assert {line for line in done.stderr.splitlines() if line.startswith("failed ")} == {
        f"{left_out}, seed {seed}: {why}" for seed in (1, 2)
    }
    assert f"{left_out}: {why}" in done.stdout

    out = home / "rtqual here/out/docking-demo"
    measured = [read(path).inputs for path in Store(out / "records").paths()]
    assert sum(one.board == "virtual" for one in measured) == 76  # all, 20 of them again: USB disks are emulated
    assert {one.instrument for one in measured if one.board == "local"} == {"footprint", "sysbench-cpu"}
    page = (out / "report.html").read_text()
    assert page.count('class="verdict decision') == 1 and "real-time priority is not allowed here" in page

    doctor = inside(home, ".venv/bin/rtqual doctor --json")
    assert (doctor.returncode, doctor.stderr) == (0, ""), doctor.stdout
    found = {one["name"]: one["found"] for one in json.loads(doctor.stdout)["checks"]}
    assert found["real-time priority"].endswith("; a container needs CAP_SYS_NICE and CAP_IPC_LOCK")
