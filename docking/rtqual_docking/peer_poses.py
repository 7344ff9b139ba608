# SPDX-License-Identifier: MIT
"""A procedure's peer: poses go over the air to another spacecraft, and into a log on a USB disk, all the while.

The way is that of air.py. Memory is loaded beside it. The log is read back from the disk, not from
memory, before it is counted.
"""

from collections.abc import Mapping

from rtqual.base.errors import RunFailed
from rtqual.protocols.record.schema import Scalar, Series
from rtqual_docking.air import AGE, CAME, LISTEN, LOGGED, POSES_LOG, PROGRAM, RADIOS, SEND, SENT, taken

FILES = (CAME, SENT, POSES_LOG)
_USB = "/run/usb"

BEGIN = f"""\
{RADIOS}mount -t ext4 -o sync /dev/sda {_USB} || fail 'the USB disk cannot be mounted'
rtqual-agent run . memory 0 stress-ng --quiet --timeout 0 --no-rand-seed --temp-path . --stream 1 --stream-l3-size 4m &
{LISTEN}{SEND} | chrt -o 0 dd of={_USB}/{POSES_LOG} bs=4096 2> dd & logger=$!
"""
END = f"""\
pidof stress-ng > /dev/null || fail "the load on memory ended: $(cat memory.err)"
kill $(pidof {PROGRAM}); wait $peer; wait $logger || fail "the log on the USB disk ended: $(cat dd)"
kill $(pidof stress-ng)
umount {_USB} && mount -t ext4 -o ro /dev/sda {_USB} && cp {_USB}/{POSES_LOG} . || fail 'the USB disk gives no log'
umount {_USB}
"""


def figures(files: Mapping[str, str]) -> tuple[list[Series], dict[str, Scalar]]:
    """Of what the programs left: ages in ns as they came, and counts. Raises RunFailed."""
    sent, pairs = taken(files.get(SENT, ""), files.get(CAME, ""))
    log = files.get(POSES_LOG, "")
    whole = {int(one[1]) for line in log.split("\n")[:-1] if (one := LOGGED.fullmatch(line))}
    numbers = {number for number, _ in pairs}
    if strange := {number for number in numbers | whole if number >= sent}:
        raise RunFailed(f"{PROGRAM}: of {sent} poses sent, number {min(strange)} came or was logged")
    ages_ns = [age for _, age in pairs]
    counts = {
        "peer_poses": len(numbers),
        "peer_lost": sent - len(numbers),
        "log_lines": len(whole),
        "log_lines_lost": sent - len(whole),
    }
    scalars = {name: Scalar(value=value, unit="1") for name, value in counts.items()}
    scalars["log_octets"] = Scalar(value=len(log.encode()), unit="B")
    scalars["peer_age_most"] = Scalar(value=max(ages_ns, default=0), unit="ns")
    return [Series.raw(ages_ns, name=AGE)], scalars
