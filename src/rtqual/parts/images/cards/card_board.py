# SPDX-License-Identifier: MIT
"""A board without a network: its card holds the candidates and their jobs, measures by itself, and is read here.

The card is the board's own for as long as it measures, so what it starts by default may change: card.sh runs the jobs
in the campaign's order and restarts into the candidate of the next one. Each job lies in a folder named by its cell, as
over ssh, with the same scripts and the same result. A job that restarts the board is tried once more. systemd-boot
counts a candidate's starts until it comes up (systemd.io/AUTOMATIC_BOOT_ASSESSMENT); if it does not, it is left out.
"""

import time
from pathlib import Path

from rtqual.base import unlinked
from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.boards.remote import clock_rate
from rtqual.engine.boards.remote.job import CELL, checked
from rtqual.engine.boards.remote.link import FILE_MOST_B
from rtqual.engine.boards.remote.measured import MeasuredBoard
from rtqual.engine.boards.remote.settings import STORE, Settings
from rtqual.protocols.board import Job, JobOutcome
from rtqual.protocols.board.system import Kernel

ASKED = "rtqual.card"  # in a candidate's command line: target/agent/init-board runs the card
SCRIPT, CELLS, JOBS = "card.sh", "cells", "jobs"  # in STORE; a line of CELLS: candidate, job, its longest time in s
RESULT, SUM = "result.tar", "sum"
_MOST_SUM_B = 200
_TRIES = 2
ENTRIES, STARTS, TUNE = "loader/entries", 3, "tune.sh"
# By loader: the file that says what starts by default, the line's beginning, and its end behind the candidate.
# systemd-boot's is a pattern: an entry with no starts left is ID+0-3.conf, fits it not, and another candidate starts.
_DEFAULTS = {
    "systemd-boot": ("loader/loader.conf", "default ", "[+.][1-9c]*"),
    "tryboot": ("config.txt", f"os_prefix={STORE}/", "/"),
}
_SCRIPT = """\
#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the jobs of this card in their order; made by `rtqual image --self-measuring`.
cd /
store=/boot/{store}
told() {{ tr ' ' '\\n' < /proc/cmdline | sed -n "s/^$1=//p" | tail -n 1; }}
say() {{ echo "rtqual: $*" > /dev/console; }}
again() {{
	sync
	umount /boot || mount -o remount,ro /boot
	reboot -f
	sleep 600
}}
done_of() {{ ls $store/{jobs}/*/{sum} 2> /dev/null | wc -l; }}
own=$(told rtqual.candidate)
all=$(wc -l < $store/{cells})
for entry in /boot/{entries}/"$own"+*.conf; do # it has come up
	[ ! -e "$entry" ] || mv "$entry" /boot/{entries}/"$own".conf
done
[ ! -e $store/{tune} ] || sh $store/{tune}
cp $store/{cells} /run/cells
while read -r candidate job most_s <&3; do
	folder=$store/{jobs}/$job
	[ ! -s $folder/{sum} ] || continue
	[ "$(cat $folder/tries 2> /dev/null | wc -c)" -lt {tries} ] || continue
	if [ "$candidate" != "$own" ]; then
		[ -z "$(ls /boot/{entries}/"$candidate"+0-*.conf 2> /dev/null)" ] || continue
		say "the next candidate"
		sed "s|^{begin}.*|{begin}$candidate{end}|" /boot/{file} > /boot/{file}.new && sync &&
			mv /boot/{file}.new /boot/{file} || say "the card cannot be written"
		again
	fi
	printf x >> $folder/tries
	sync
	say "$(done_of) of $all cells are measured"
	timeout -s KILL $most_s sh $folder/run.sh > $folder/log 2>&1 < /dev/null || again
	[ -s $folder/{sum} ] || again
done 3< /run/cells
for entry in /boot/{entries}/*+0-*.conf; do
	[ ! -e "$entry" ] || say "$(sed -n 's/^title //p' "$entry") does not come up"
done
say "measured $(done_of) of $all cells; switch the board off, then: rtqual import CARD --mission FILE"
sync
umount /boot || mount -o remount,ro /boot
poweroff -f
"""


def script(settings: Settings) -> str:
    """card.sh, for the board's boot loader."""
    file, begin, end = _DEFAULTS[settings.switch]
    names = {"store": STORE, "jobs": JOBS, "cells": CELLS, "sum": SUM, "entries": ENTRIES, "tune": TUNE}
    return _SCRIPT.format(**names, tries=_TRIES, file=file, begin=begin, end=end)


def default(settings: Settings, candidate: str) -> str:
    """The line of the loader's file that starts a candidate."""
    _, begin, end = _DEFAULTS[settings.switch]
    return f"{begin}{candidate}{end}\n"


class Missing(RunFailed):
    """A cell that the card did not measure."""


class CardBoard(MeasuredBoard):
    """Its runs are those that lie on the card; nothing runs here."""

    connection = "card"

    def __init__(self, settings: Settings, kernel: Kernel, programs: tuple[str, ...] = ()) -> None:
        super().__init__(settings, kernel, f"card of {settings.name}", programs)
        self._parts: Path | None = settings.card

    def run(self, job: Job, *, seed: int, timeout_s: float) -> JobOutcome:  # noqa: ARG002
        name, started = self._settings.name, time.monotonic()
        if self._parts is None:
            raise RunFailed(
                f"board {name} has no network: `rtqual image MISSION --board {name} --self-measuring` makes the card "
                "that measures there, `rtqual import CARD --mission MISSION` takes its results"
            )
        key = self.key(job, seed)
        folder = f"{STORE}/{JOBS}/{key}"
        content, sum_text = self._read(f"{folder}/{RESULT}", FILE_MOST_B), self._read(f"{folder}/{SUM}", _MOST_SUM_B)
        files = checked(content, sum_text.decode(errors="replace"), self.where)
        if files.get(CELL, "").strip() != key:
            raise RunFailed(f"{self.where}: the result in its folder is another cell's: it was copied there")
        rate, _ = clock_rate.compared(None, None)
        found = self.outcome(job, files, rate, console=files.get("kernel", ""), wall_s=time.monotonic() - started)
        serial = found.facts.get("serial", "")
        if self._settings.serial and serial != self._settings.serial:
            raise RunFailed(
                f"{self.where}: the card was in a machine with serial number {serial}, not {self._settings.serial}"
            )
        return found

    def _read(self, name: str, most_b: int) -> bytes:
        assert self._parts  # noqa: S101 it was looked at
        try:
            return unlinked.read(self._parts, name, most_b)
        except FileNotFoundError:
            raise Missing(f"{self.where}: the card holds no result of this cell") from None
        except (BadInput, OSError) as error:
            raise RunFailed(f"{self.where}: {error}") from None
