# SPDX-License-Identifier: MIT
"""Who may open the camera's node: root, and with the udev rule that comes with the modules, the group `video`."""

from pathlib import Path

import pytest

from rtqual.base.apt import fetch_closure
from rtqual.base.architecture import AMD64
from rtqual.engine.initramfs.contents import copy_program, find
from support.kmod_guest import KMOD, boot
from support.software_camera import programs as emulator_programs

SCRIPT = """\
printf 'root:x:0:\\nvideo:x:44:\\n' > /etc/group
ln -s udevadm /usr/bin/systemd-udevd
try() {
    /usr/bin/setpriv --reuid=1000 --regid=1000 "$2" sh -c ': < /dev/ds325-0' 2> /dev/null && echo "$1 $2 opens" ||
        echo "$1 $2 is refused"
}
look() { stat -c "$1 %a %u:%g" /dev/ds325-0; try "$1" --clear-groups; try "$1" --groups=44; }
load
look bare
systemd-udevd --daemon
udevadm trigger --type=devices --action=add --subsystem-match=misc && udevadm settle || exit 1
look rule
unload
load
udevadm settle || exit 1
look again
plug
/usr/bin/setpriv --reuid=1000 --regid=1000 --groups=44 dd if=/dev/ds325-0 bs=8 count=2 2> /dev/null | wc -c
unplug > /dev/null
udevadm control --exit
unload
"""


@pytest.mark.full  # boots a guest
def test_only_root_and_the_group_open_the_node(tmp_path: Path) -> None:
    root = tmp_path / "tools"
    (root / "usr/bin").mkdir(parents=True)
    packages = [package.tree for package in fetch_closure(("udev", "util-linux"))]
    for name in ("udevadm", "setpriv"):
        copy_program(find(packages, ("usr/bin", "bin"), name), root, packages, AMD64.triplet)
    files = {str(p.relative_to(root)): p for p in root.rglob("*") if p.is_file() and not p.is_symlink()}
    files["usr/lib/udev/rules.d/60-ds325.rules"] = KMOD / "60-ds325.rules"
    emulator = {"ds325-emulator": emulator_programs() / "ds325-emulator"}
    said = boot("linux-image-rt-amd64", tmp_path, emulator, files=files)(SCRIPT).stdout
    assert said.splitlines() == [
        "bare 660 0:0",
        "bare --clear-groups is refused",
        "bare --groups=44 is refused",
        "rule 660 0:44",
        "rule --clear-groups is refused",
        "rule --groups=44 opens",
        "again 660 0:44",  # a node that comes later
        "again --clear-groups is refused",
        "again --groups=44 opens",
        "16",  # and frames are published to a member: two counts of 8 bytes
    ]
