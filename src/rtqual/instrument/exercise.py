# SPDX-License-Identifier: MIT
# ruff: noqa: ARG004  every instrument takes the same arguments, whether it needs them or not
"""Exercise: whether what a docking mission needs of a kernel works, not only stands in its configuration.

usb_disk_compared  bytes written to a USB disk's file system, and found equal when they were read from the disk again
camera_frames      read from a simulated Video4Linux camera (the kernel's test driver vivid), by read(2)
camera_driver      1: the driver of USB cameras (uvcvideo) is registered on the USB bus
radios_up          simulated Wi-Fi radios (mac80211_hwsim) whose interfaces came up

Whatever does not work ends the run with the reason; the figures say how much did.
"""

import re
from typing import ClassVar

from rtqual.board import Command, Job, Outcome
from rtqual.errors import RunFailed
from rtqual.instrument import Parameters
from rtqual.instrument.output import last_line, require_success
from rtqual.record.schema import Measurement, Scalar

DISK_B, FRAMES, RADIOS = 2 * 2**20, 10, 2
_UNITS = {"usb_disk_compared": "B", "camera_frames": "1", "camera_driver": "1", "radios_up": "1"}
_LINE = re.compile(r"^(\w+): (\d{1,15})$", re.MULTILINE | re.ASCII)

# /run/memory lies in RAM and holds what was written; a dropped cache makes the file come from the disk.
_SCRIPT = f"""\
fail() {{ echo "$*" >&2; exit 1; }}
grep -q '^/dev/sda /run/usb ' /proc/mounts || fail 'the USB disk is not mounted'
head -c {DISK_B} /dev/urandom > /run/memory/written || fail 'no memory for what is written'
cp /run/memory/written read && sync || fail 'the USB disk cannot be written'
echo 3 > /proc/sys/vm/drop_caches
cmp /run/memory/written read || fail 'the USB disk gave other bytes than were written'
echo "usb_disk_compared: $(wc -c < read)"

i=0
until [ -c /dev/video0 ]; do i=$((i + 1)); [ $i -lt 50 ] || fail 'no camera appeared'; usleep 100000; done
dd if=/dev/video0 of=/dev/null bs=4M count={FRAMES} 2> /run/memory/dd || fail "no frames: $(cat /run/memory/dd)"
echo "camera_frames: $(sed -n 's/^[0-9]*+\\([0-9]*\\) records in/\\1/p' /run/memory/dd)"
[ -d /sys/bus/usb/drivers/uvcvideo ] || fail 'uvcvideo, the driver of USB cameras, is not registered'
echo "camera_driver: 1"

up=0
for phy in /sys/class/ieee80211/*; do
    interface=$(ls "$phy/device/net") && ip link set "$interface" up || fail "the radio $interface does not come up"
    case $(ip -o link show "$interface") in *[\\<,]UP[,\\>]*) up=$((up + 1)) ;; esac
done
echo "radios_up: $up"
"""


class ExerciseParameters(Parameters):
    """Nothing to set."""


class Exercise:
    name: ClassVar[str] = "exercise"
    title: ClassVar[str] = "Whether a USB disk, a simulated camera and simulated radios work"
    program: ClassVar[str] = "sh"
    parameters: ClassVar[type[Parameters]] = ExerciseParameters
    disks: ClassVar[bool] = True
    caveats: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def job(parameters: ExerciseParameters, *, cpus: int, seed: int) -> Job:
        measure = Command(("sh", "-c", _SCRIPT))
        return Job(measure=measure, folder="usb", modules=("vivid", "uvcvideo", "mac80211_hwsim"))

    @staticmethod
    def read(parameters: ExerciseParameters, outcome: Outcome, *, cpus: int) -> Measurement:
        require_success("the exercise", outcome)
        found = {name: int(value) for name, value in _LINE.findall(outcome.stdout)}
        missing = [name for name in _UNITS if name not in found]
        if missing:
            raise RunFailed(f"the exercise says nothing of {missing[0]}, last line: {last_line(outcome.stdout)!r}")
        wanted = {"usb_disk_compared": DISK_B, "camera_frames": FRAMES, "camera_driver": 1, "radios_up": RADIOS}
        for name, least in wanted.items():
            if found[name] < least:
                raise RunFailed(f"the exercise: {name} is {found[name]}, at least {least} was due")
        return Measurement(scalars={name: Scalar(value=found[name], unit=unit) for name, unit in _UNITS.items()})

    @staticmethod
    def seconds(parameters: ExerciseParameters, load: str) -> float:
        return 10.0
