# SPDX-License-Identifier: MIT
"""Exercise: whether what a docking mission needs of a kernel works, beyond being in its configuration.

usb_disk_compared  bytes written to a USB disk's file system, and found equal when they were read from the disk again
usb_camera_frames  of the depth camera in software (ds325-emulator), which is plugged into a USB port over a socket
                   (vhci_hcd) and driven by uvcvideo: each is compared with what the camera sent
camera_frames      read from a simulated Video4Linux camera (the kernel's test driver vivid), by read(2)
radios_up          simulated Wi-Fi radios (mac80211_hwsim) whose interfaces came up

Whatever does not work ends the run with the reason; the figures say how much did.
"""

import re

from rtqual.base.errors import RunFailed
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument, NoParameters
from rtqual.protocols.instrument.output import last_line, require_success
from rtqual.protocols.record.schema import Measurement, Scalar
from rtqual_docking.guest_script import COMMON, STREAM, UVC_NODE, rendered

DISK_B, USB_FRAMES, FRAMES, RADIOS = 2 * 2**20, 60, 10, 2
_WANTED = {  # figure: unit, the least that is due
    "usb_disk_compared": ("B", DISK_B),
    "usb_camera_frames": ("1", USB_FRAMES),
    "camera_frames": ("1", FRAMES),
    "radios_up": ("1", RADIOS),
}
_LINE = re.compile(r"^(\w+): (\d{1,15})$", re.MULTILINE | re.ASCII)

# /run/memory lies in RAM and holds what was written; a dropped cache makes the file come from the disk. vivid comes
# last: before it the depth camera's node is the only one.
_SCRIPT = f"""\
grep -q '^/dev/sda /run/usb ' /proc/mounts || fail 'the USB disk is not mounted'
head -c {DISK_B} /dev/urandom > /run/memory/written || fail 'no memory for what is written'
cp /run/memory/written read && sync || fail 'the USB disk cannot be written'
echo 3 > /proc/sys/vm/drop_caches
cmp /run/memory/written read || fail 'the USB disk gave other bytes than were written'
echo "usb_disk_compared: $(wc -c < read)"

cd /run/memory
plug --replay frames
awaited [ -c {UVC_NODE} ] || fail 'uvcvideo did not take the USB camera'
{STREAM} --device={UVC_NODE} --method=mmap --decode=none --frames={USB_FRAMES} --check=frames --output=stream ||
    fail "the USB camera does not stream: $(tail -n 1 stream)"
grep -q '^check_wrong=0$' stream || fail 'the USB camera gave other frames than were sent'
echo "usb_camera_frames: $(sed -n 's/^check_good=//p' stream)"
unplug

modprobe vivid || fail 'the kernel has no module vivid'
awaited [ -c /dev/video0 ] || fail 'no simulated camera appeared'
dd if=/dev/video0 of=/dev/null bs=4M count={FRAMES} 2> /run/memory/dd || fail "no frames: $(cat /run/memory/dd)"
echo "camera_frames: $(sed -n 's/^[0-9]*+\\([0-9]*\\) records in/\\1/p' /run/memory/dd)"

up=0
for phy in /sys/class/ieee80211/*; do
    interface=$(ls "$phy/device/net") && ip link set "$interface" up || fail "the radio $interface does not come up"
    case $(ip -o link show "$interface") in *[\\<,]UP[,\\>]*) up=$((up + 1)) ;; esac
done
echo "radios_up: $up"
"""


class _Exercise(Instrument):
    def job(self, parameters: NoParameters, *, cpus: int, seed: int) -> Job:
        script = f"{COMMON}( cd /run/memory && {rendered(seed)} ) || exit\n{_SCRIPT}"
        measure = Command(("sh", "-c", script))
        return Job(measure=measure, folder="usb", modules=("uvcvideo", "vhci-hcd", "mac80211_hwsim"))

    def read(self, parameters: NoParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:
        require_success("the exercise", outcome)
        found = {name: int(value) for name, value in _LINE.findall(outcome.stdout)}
        missing = [name for name in _WANTED if name not in found]
        if missing:
            raise RunFailed(f"the exercise says nothing of {missing[0]}, last line: {last_line(outcome.stdout)!r}")
        for name, (_, least) in _WANTED.items():
            if found[name] < least:
                raise RunFailed(f"the exercise: {name} is {found[name]}, at least {least} was due")
        return Measurement(scalars={name: Scalar(value=found[name], unit=unit) for name, (unit, _) in _WANTED.items()})

    def seconds(self, parameters: NoParameters, load: str) -> float:
        return 30.0  # most of it is the camera rendering its frames


EXERCISE = _Exercise(
    name="exercise",
    title="Whether a USB disk, a USB camera, a simulated camera and simulated radios work",
    program=STREAM,  # brings the camera
    disks=True,
)
