# SPDX-License-Identifier: MIT
"""A job that runs on the board by itself: it needs no connection, and its result lies there whole or not at all.

Its folder is named by the cell; making the folder is the claim. It measures in memory, ends the loads, and only then
packs, syncs and renames.
"""

import hashlib
from dataclasses import dataclass

from rtqual.board import Job, jobscript
from rtqual.board.remote import truth
from rtqual.board.remote.link import Link, get, put
from rtqual.board.remote.settings import Lost

_RUN = """\
cd {folder} || exit 1
rm -rf /run/result /run/memory
mkdir -p /run/result /run/memory
{before}
cat /proc/interrupts > /run/result/interrupts_before
dmesg -c > /dev/null
setsid sh {folder}/job.sh &
job=$!
wait $job
{ended}
cat /proc/interrupts > /run/result/interrupts
{after}
dmesg > /run/result/kernel
echo boot_id=$(cat /proc/sys/kernel/random/boot_id) >> /run/result/facts
tar -C /run/result -cf {folder}/result.new . && sync && mv {folder}/result.new {folder}/result.tar || exit 1
(cd {folder} && sha256sum result.tar > sum.new) && sync && mv {folder}/sum.new {folder}/sum
sync
"""
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


@dataclass(frozen=True)
class Looked:
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

    def start(self, job: Job, seed: int) -> None:
        """Raises RunFailed where it was started before and is not done."""
        run = _RUN.format(
            folder=self._folder,
            before=truth.script("/run/result/before"),
            ended=ENDED,
            after=truth.script("/run/result/after"),
        )
        script = jobscript.render(job, seed, leave="exit 0")
        self.link.run(f"mkdir -p {self.store}/jobs && mkdir {self._folder}")
        put(self.link, script.encode(), f"{self._folder}/job.sh")
        put(self.link, run.encode(), f"{self._folder}/run.sh")
        quiet = f"> {self._folder}/log 2>&1 < /dev/null"
        self.link.run(f"setsid sh {self._folder}/run.sh {quiet} &\necho $! > /run/rtqual-job-{self.key}")

    def look(self, deadline_s: float = 20.0) -> Looked:
        said = self.link.run(
            f"cat /proc/sys/kernel/random/boot_id; [ -s {self._folder}/sum ] && echo done\n"
            f"kill -0 $(cat /run/rtqual-job-{self.key}) 2> /dev/null && echo lives; exit 0",
            deadline_s=deadline_s,
        )
        words = said.decode(errors="replace").split()
        return Looked("done" in words, "lives" in words, words[0] if words else "")

    def take(self, where: str) -> dict[str, str]:
        """Its result, and whether that is what the board packed. Raises RunFailed."""
        sum_text = get(self.link, f"{self._folder}/sum").decode(errors="replace")
        content = get(self.link, f"{self._folder}/result.tar")
        if hashlib.sha256(content).hexdigest() != sum_text.partition(" ")[0]:
            raise Lost(f"{where}: the result was damaged on its way (sha256 differs)")
        return jobscript.plain_files(content, where)

    def clear(self) -> None:
        self.link.run(f"rm -rf {self._folder}; sync")


def unfinished(link: Link, store: str) -> list[str]:
    """Keys of jobs that were started and are not done."""
    said = link.run(
        f"for one in {store}/jobs/*; do [ -d $one ] && [ ! -s $one/sum ] && echo ${{one##*/}}; done; exit 0"
    )
    return said.decode(errors="replace").split()
