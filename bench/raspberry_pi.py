# SPDX-License-Identifier: MIT
"""What kernels do for each need of a mission on the Raspberry Pis that QEMU emulates.

    python bench/raspberry_pi.py [--mission FILE] [--kept FOLDER] [--write docs/verification/raspberry-pi.md] KERNEL...

A KERNEL is one of Debian's packages, or a candidate of the mission. Each lies with a minimal root on a card of
`rtqual image`, which is started as `--boot` does, with a program in the root that uses what there is: words by the
serial port in both directions, a file on the card and on a USB disk, read back after the kernel has forgotten it, and
the watchdog, after whose reset the machine starts again (QEMU resets it as soon as it is armed). What a kernel did is
kept in the folder, in a file each, and not done again. The table has a row for what was exercised, and a column for
each kernel that is kept:

| yes | it was used, and did what it should |
| driver | the driver found its controller, or waits for a device that QEMU's machine has not |
| off | the kernel's own device tree has it off |
| no | the kernel does not have it, or it did not work |
"""

import argparse
import json
import socket
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

from rtqual.base.architecture import of_kernel
from rtqual.base.errors import RunFailed
from rtqual.engine.mission import Need, load_mission
from rtqual.parts.images import pi
from rtqual.parts.images.assembly import Image, build
from rtqual.parts.images.image_trial import watch
from rtqual.parts.images.request import request_for

NEEDS = (
    *(Need.REALTIME, Need.SERIAL, Need.I2C, Need.SPI, Need.GPIO, Need.USB, Need.USB_STORAGE),
    *(Need.DEPTH_CAMERA, Need.WIFI, Need.ETHERNET),
)
MODULES = ("vfat", "nls_cp437", "nls_ascii", "bcm2835_rng")  # the boot partition's, the chip's random generator
CONSOLE_AT = {"raspi3b": 1, "raspi2b": 0}  # the serial port that the system writes to, by QEMU's numbers
TIMEOUT_S = 1800.0
RESETS = "watchdog: armed, it resets the machine"
BEGIN, END, LEFT = "<!-- what was exercised: made by bench/raspberry_pi.py -->", "<!-- end -->", "rtqual-image: end"
ASKED, ANSWER, HEARD = "rtqual-exercise: say something", "something", "rtqual-exercise: serial|"

EXERCISE = r"""#!/bin/sh
# Uses what there is, and says so in lines "rtqual-exercise: need|what|how".
say() { echo "rtqual-exercise: $1|$2|$3"; }
try() {
	need=$1 what=$2 word=$3
	shift 3
	if "$@" > /run/tried 2>&1; then
		say "$need" "$what" "$word"
	else
		say "$need" "$what" "no, $(tail -n 1 /run/tried)"
	fi
}
off() { # whether the device tree has all of a kind off
	for node in /proc/device-tree/soc/"$1"@*; do
		grep -q disabled "$node/status" || return 1
	done
}
there() { for place in $1; do [ ! -e "$place" ] || return 0; done; echo "there is no $1"; return 1; }
same() {
	dd if=/dev/urandom of=/run/written bs=64k count=16 && dd if=/run/written of="$1" bs=64k conv=notrunc,fsync &&
		sync && echo 3 > /proc/sys/vm/drop_caches && dd if="$1" of=/run/read bs=64k count=16 &&
		cmp /run/written /run/read
}
card() {
	for part in /dev/mmcblk?p1; do
		[ ! -b "$part" ] || mount -t vfat "$part" /mnt && return 0
	done
	echo "no card with a FAT"
	return 1
}
realtime() { uname -v | grep -q PREEMPT_RT || { uname -v && return 1; }; }
wakeup() { rtqual-probe wakeup iterations=100 out=/run/wakeup && grep -q '^benchmark .* ok#' /run/wakeup; }
asked() {
	echo "SAY" > /dev/console
	read -r -t 60 answer < /dev/console
	[ "$answer" = ANSWER ] || { echo "heard '$answer'" && return 1; }
}
usb_disk() {
	for _ in $(seq 60); do
		for disk in /sys/class/block/sd?; do
			[ ! -e "$disk" ] || { same "/dev/${disk##*/}" && return 0; }
		done
		sleep 1
	done
	return 1
}
if card && [ -e /mnt/rtqual-once ]; then
	umount /mnt
	say board "RESETS" yes
	exit 0
fi
try realtime "PREEMPT_RT" yes realtime
try realtime "100 wake-ups by the probe" yes wakeup
try realtime "four processors" yes [ "$(nproc)" = 4 ]
try serial "words from the console, and back to it" yes asked
try i2c "controller (/dev/i2c-*)" driver there "/dev/i2c-[0-9]*"
if off spi; then
	say spi "controller (spi_master)" off
else
	try spi "controller (spi_master)" driver there "/sys/class/spi_master/spi*"
fi
try gpio "controller (gpiochip)" driver there "/sys/bus/gpio/devices/gpiochip*"
try usb "host controller (dwc2), its root hub" yes there "/sys/bus/usb/devices/usb1"
try usb-storage "1 MiB written to a disk and read back" yes usb_disk
try depth-camera "uvcvideo" driver there "/sys/bus/usb/drivers/uvcvideo"
try wifi "brcmfmac on SDIO" driver there "/sys/bus/sdio/drivers/brcmfmac"
try ethernet "smsc95xx on USB" driver there "/sys/bus/usb/drivers/smsc95xx"
try board "SD card: its ext4 is the root" yes grep -q "^/dev/\(root\|mmcblk[^ ]*\) / ext4" /proc/mounts
try board "SD card: 1 MiB written to its FAT and read back" yes same /mnt/rtqual-file
try board "random generator of the chip" yes dd if=/dev/hwrng of=/run/random bs=16 count=1
say board "RESETS" "no, it went on"
: > /mnt/rtqual-once
umount /mnt
exec 3> /dev/watchdog && sleep 60
"""


def exercise(image: Image, log: Path) -> dict[str, Any]:
    """Start an image, and what its program said; all that its console did is in the log. Raises RunFailed where it did
    not come up."""
    model = pi.MODELS[image.architecture.name]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        ports = [folder / name for name in ("first", "second")]
        console = ports[CONSOLE_AT[model.machine]]
        command = on_sockets(pi.command(image.path, folder, console, ("rtqual.report", "rtqual.off")), ports)
        command.remove("-no-reboot")
        over = Event()
        talk = Thread(target=talking, args=(console, over), daemon=True)
        talk.start()
        try:
            ran = watch(command, folder, console, lambda text: LEFT in text, timeout_s=TIMEOUT_S, off=True)
        finally:
            over.set()
            talk.join()
        log.write_text(ran.text)
        if not ran.done:
            raise RunFailed(f"{image.release} {ran.why(TIMEOUT_S)}")
        found = told(ran.text)
        found["board|power off"] = "yes" if ran.ended else "no"
    qemu = pi.version(image.architecture)
    return {"release": image.release, "machine": model.machine, "qemu": qemu, "found": found}


def on_sockets(command: Sequence[str], ports: Sequence[Path]) -> list[str]:
    """QEMU's command with each serial port on a socket of its own, what is written to it in that file too."""
    at = command.index("-chardev")
    chosen = []
    for port in ports:
        of = f"socket,id={port.name},server=on,wait=off,path={port}.socket,logfile={port}"
        chosen += ["-chardev", of, "-serial", f"chardev:{port.name}"]
    return [*command[:at], *chosen, *command[at + 6 :]]


def talking(console: Path, over: Event) -> None:
    """Answer on the console's socket every two seconds, once its system has asked. What it writes there is taken and
    dropped: QEMU waits for that."""
    answered = 0.0
    with socket.socket(socket.AF_UNIX) as held:
        held.settimeout(0.05)
        while not over.wait(0.01) and held.connect_ex(f"{console}.socket"):
            pass
        while not over.wait(0.01):
            with suppress(OSError):  # nothing in time, or it has ended
                text = console.read_text(errors="replace")
                if time.monotonic() > answered + 2 and ASKED in text and HEARD not in text:
                    answered = time.monotonic()
                    held.sendall(f"{ANSWER}\n".encode())
                held.recv(2**16)


def told(text: str) -> dict[str, str]:
    """What the last line of each thing says."""
    lines = [line.partition("rtqual-exercise: ")[2] for line in text.replace("\r", "").splitlines()]
    found = {}
    for line in lines:
        if line.count("|") == 2:
            need, what, how = line.split("|")
            found[f"{need}|{what}"] = how
    return found


def table(kept: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = list(dict.fromkeys(row for course in kept for row in course["found"]))
    rows.sort(key=lambda row: [*NEEDS, "board"].index(row.split("|")[0]))  # within a need as they were exercised
    heads = " | ".join(f"{course['name']}: {course['release']}, {course['machine']}" for course in kept)
    lines = [f"| need | exercised | {heads} |", f"|---|---|{'---|' * len(kept)}"]
    for row in rows:
        need, what = row.split("|")
        cells = (course["found"].get(row, "").partition(",")[0] for course in kept)
        lines.append(f"| {need} | {what} | {' | '.join(cells)} |")
    return lines


def kept_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def make(mission_at: Path, kernel: str, folder: Path, overlay: Path) -> None:
    kept = folder / f"{kernel}.json"
    if kept.exists():
        return
    mission = load_mission(mission_at)
    candidate = next((named for named in mission.candidates if named.name == kernel), None)
    architecture = candidate.architecture if candidate and candidate.architecture else of_kernel(kernel)
    request = request_for(
        mission,
        kernel,
        architecture=architecture.name,
        flavour="minimal",
        form="disk",
        modules=MODULES,
        overlay=overlay,
    )
    with tempfile.TemporaryDirectory() as place:
        found = exercise(build(request, Path(place) / "card", print), kept.with_suffix(".log"))
    kept.write_text(json.dumps({"name": kernel, **found}, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--mission", type=Path, default=Path(__file__).with_suffix(".toml"))
    parser.add_argument("--kept", type=Path, default=Path("out/raspberry-pi"))
    parser.add_argument("--write", type=Path, default=None)
    given = parser.parse_args()
    given.kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "etc/init.d/mission"
        program.parent.mkdir(parents=True)
        program.write_text(EXERCISE.replace("SAY", ASKED).replace("ANSWER", ANSWER).replace("RESETS", RESETS))
        program.chmod(0o755)
        for kernel in given.kernels:
            make(given.mission, kernel, given.kept, Path(place))
    lines = table(kept_of(given.kept))
    print("\n".join(lines))
    if given.write:
        text = given.write.read_text()
        before, _, rest = text.partition(BEGIN)
        after = rest.partition(END)[2]
        given.write.write_text("\n".join([before + BEGIN, "", *lines, "", END + after]))


if __name__ == "__main__":
    main()
