# SPDX-License-Identifier: MIT
"""A job that runs on the board by itself: it needs no connection, and its result lies there whole or not at all.

Its folder is named by the cell; making the folder is the claim. It measures in memory, ends the loads, and only then
packs, syncs and renames. What it runs sees neither the boot partition nor the board's keys: a program that errs cannot
harm them (with root's rights and of a mind to, it can).
"""

import hashlib
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from rtqual.base.errors import RunFailed
from rtqual.base.words import whole
from rtqual.engine.boards import here
from rtqual.engine.boards.remote import truth
from rtqual.engine.boards.remote.link import Link, get, put
from rtqual.engine.boards.remote.settings import Unreachable
from rtqual.protocols.board import Job, jobscript

_RUN = """\
cd {folder} || exit 1
rm -rf /run/result /run/memory
mkdir -p /run/result /run/memory
tries=0
while [ ! -e /run/rest ] && [ $tries -lt {rest_s} ]; do # until then the candidate tells whether it has come to rest
	tries=$((tries + 1))
	sleep 1 # a process each: ten a second would themselves be no rest on a slow board
done
{mount}
{before}
cat /proc/interrupts > /run/result/interrupts_before
dmesg -c > /dev/null
cp {folder}/job.sh {folder}/apart.sh /run/
setsid unshare -m sh /run/apart.sh &
job=$!
wait $job
echo room > /run/result/room || : > /run/result/failed
{ended}
rm -rf /run/memory
{given_back}cat /proc/interrupts > /run/result/interrupts
{after}
dmesg > /run/result/kernel
echo boot_id=$(cat /proc/sys/kernel/random/boot_id) >> /run/result/facts
echo {key} > /run/result/{cell}
tar -C /run/result -cf {folder}/result.new . && sync && mv {folder}/result.new {folder}/result.tar || exit 1
(cd {folder} && sha256sum result.tar > sum.new) && sync && mv {folder}/sum.new {folder}/sum
sync
"""
_MOST_UNFINISHED = 100
_OLDEST_S = 400 * 86400  # of a result: beyond, the clock was another when it was measured
REST_S = 70  # a candidate has told by then whether it is at rest (target/agent/init-board)
CELL = "cell"  # of a result: the name of its job's folder
# Debian's busybox has no pkill: who is in the job's session (in stat the fourth field behind the name, proc(5)) is
# looked for until nobody is; the dead that wait for their parent (Z) are nobody.
ENDED = """\
tries=0
while [ $tries -lt 100 ]; do
	left=
	for one in /proc/[0-9]*; do
		read -r stat 2> /dev/null < "$one/stat" || continue
		set -- ${stat##*) }
		[ "$4" = "$job" ] && [ "$1" != Z ] && left="$left ${one#/proc/}"
	done
	[ -n "$left" ] || break
	kill -KILL $left 2> /dev/null
	tries=$((tries + 1))
	sleep 0.05
done
[ -z "$left" ] || echo "its loads could not be ended" > /run/result/failed
"""
# In a mount namespace of the job's own; what packs its result is in the board's.
APART = """\
umount -l /boot 2> /dev/null
for one in /boot /etc/dropbear /root/.ssh; do
	[ ! -d $one ] || mount -t tmpfs -o mode=700 none $one || {
		echo "the board's keys cannot be hidden from what it runs" > /run/result/failed
		exit 1
	}
done
exec sh /run/job.sh
"""
# A disk of the board: the job works in a folder of its own there. The last job may have left it, with the board.
_ON_DISK = "rtqual-job"
_MOUNT = """\
modprobe -q ext4; modprobe -q crc32c_generic
tries=0
until mount {disk} {at} 2> /dev/null || [ $tries -ge 50 ]; do # one on USB appears late
	tries=$((tries + 1))
	usleep 200000
done
grep -q ' {at} ' /proc/mounts && rm -rf {at}/{own} && mkdir {at}/{own}"""
_GIVEN_BACK = """\
grep ' {at} ' /proc/mounts | sed 's/^/disk=/' >> /run/result/facts
rm -rf {at}/{own}
umount {at}
"""


@dataclass(frozen=True)
class JobLook:
    """At a job, from afar."""

    done: bool
    lives: bool
    boot_id: str


@dataclass(frozen=True)
class Detached:
    """The job `key` in the board's store."""

    link: Link
    store: str
    key: str

    @property
    def _folder(self) -> str:
        return f"{self.store}/jobs/{self.key}"

    def start(self, job: Job, seed: int, disks: Mapping[str, str]) -> None:
        """`disks`: the board's, for jobs that work on one. Raises RunFailed where it was started before."""
        self.link.run(f"mkdir -p {self.store}/jobs && mkdir {self._folder}")
        for name, text in scripts(self._folder, job, seed, disks).items():
            put(self.link, text.encode(), f"{self._folder}/{name}")
        quiet = f"> {self._folder}/log 2>&1 < /dev/null"
        self.link.run(f"setsid sh {self._folder}/run.sh {quiet} &\necho $! > /run/rtqual-job-{self.key}")

    def look(self, deadline_s: float = 20.0) -> JobLook:
        said = self.link.run(
            f"cat /proc/sys/kernel/random/boot_id; [ -s {self._folder}/sum ] && echo done\n"
            f"kill -0 $(cat /run/rtqual-job-{self.key}) 2> /dev/null && echo lives; exit 0",
            deadline_s=deadline_s,
        )
        words = said.decode(errors="replace").split()
        return JobLook("done" in words, "lives" in words, words[0] if words else "")

    def take(self, where: str) -> dict[str, str]:
        """Its result, and whether that is what the board packed. Raises RunFailed."""
        sum_text = get(self.link, f"{self._folder}/sum").decode(errors="replace")
        content = get(self.link, f"{self._folder}/result.tar")
        return checked(content, sum_text, where)

    def age_s(self) -> int | None:
        """For how long its result has lain there, by the board's clock; None where that is no answer."""
        said = self.link.run(f"echo $(($(date +%s) - $(date -r {self._folder}/sum +%s))); exit 0")
        age_s = whole(said.decode(errors="replace").strip())
        return age_s if age_s is not None and age_s < _OLDEST_S else None

    def clear(self) -> None:
        self.link.run(f"rm -rf {self._folder}; sync")


def scripts(folder: str, job: Job, seed: int, disks: Mapping[str, str]) -> dict[str, str]:
    """What lies in a job's folder before it starts: `run.sh` runs the job and packs its result. Raises RunFailed."""
    mount = given_back = ""
    if job.folder != "memory":
        if job.folder not in disks:
            raise RunFailed(f'the board\'s table names no such disk: disks = {{ {job.folder} = "/dev/..." }}')
        names = {"disk": shlex.quote(disks[job.folder]), "at": f"/run/{job.folder}", "own": _ON_DISK}
        mount, given_back = _MOUNT.format(**names), _GIVEN_BACK.format(**names)
    run = _RUN.format(
        folder=folder,
        key=PurePosixPath(folder).name,
        cell=CELL,
        rest_s=REST_S,
        mount=mount,
        given_back=given_back,
        before=truth.script("/run/result/before"),
        ended=ENDED,
        after=truth.script("/run/result/after"),
    )
    there = f"[ -d /run/{job.folder}/{_ON_DISK} ]" if mount else ""
    twice = here.twice(job)
    script = jobscript.render(twice, seed, leave="exit 0", mount=there, inside=f"/{_ON_DISK}" if mount else "")
    return {"job.sh": script, "run.sh": run, "apart.sh": APART}


def checked(content: bytes, sum_text: str, where: str) -> dict[str, str]:
    """A result that is what the board packed. Raises Lost, RunFailed."""
    if hashlib.sha256(content).hexdigest() != sum_text.partition(" ")[0]:
        raise Unreachable(f"{where}: the result was damaged on its way (sha256 differs)")
    return jobscript.plain_files(content, where)


_UNFINISHED = "for one in {store}/jobs/*; do [ -d $one ] && [ ! -s $one/sum ] && {then}; done; exit 0"


def unfinished(link: Link, store: str) -> list[str]:
    """Keys of jobs that were started and are not done. There are a few; a board that lies tells of any number."""
    said = link.run(_UNFINISHED.format(store=store, then="echo ${one##*/}"))
    words = said.decode(errors="replace").split()
    return [key for key in words[:_MOST_UNFINISHED] if re.fullmatch(r"[0-9a-f]+", key)]


def clear_unfinished(link: Link, store: str) -> None:
    """By the board itself, in one command, however many there are."""
    link.run(_UNFINISHED.format(store=store, then="rm -rf $one") + "\n", deadline_s=60)
