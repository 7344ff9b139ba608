# SPDX-License-Identifier: MIT
"""System images (docs/image.md).

part.py            what this part brings
command.py         words.py   the command, and what it prints
assembly.py        puts an image together and measures it; request.py: from a mission
minimal.py, debian_root.py  the two roots
root.py            a root on its way into an image; ext4.py, archive.py, flash.py: its forms
inside.py          places in a root, with links that never lead out of it; overlay.py: files laid over it
known_good.py      what makes it a board's known-good system
cards/             what measures a board without a network, and is read again
initrd.py, bootpart.py  what else lies on the boot partition
sbom.py, licences.py    the list of what is inside
image_trial.py, two_roots.py  booted, and two roots compared; pi.py: on an emulated Raspberry Pi
measuring_root.py  a root that a campaign measures in
files/             scripts of ours that go into images (own_files.py); elf.py: which libraries a program needs
"""
