# SPDX-License-Identifier: MIT
"""The boards that rtqual brings.

house.py          the boards, a row each
local.py          this machine as it is
here.py           programs of the user's on it, among files of their own and traced
start_awaited.py  this machine's start is waited for
virtual.py        QEMU with the instruction clock: boot a candidate once, restore it for every job
virtual_pi.py     what a kernel boots with on the Raspberry Pi 3 that QEMU emulates
device_tree.py    a device tree with entropy, as that board's firmware adds it
rtos_board.py     an RTOS image in QEMU, with the same clock
replay.py         runs that were recorded before
remote/           a board on the network: each candidate is put on it
job_programs.py   programs that run for a job: their deadline, and the end of all
machine.py        the machines that QEMU emulates
modelled.py       models of CPUs and memory that virtual boards may have
disk_models.py    models of the disks that virtual boards have
unpacked.py       a PC's kernel unpacked by the host
saved.py          booted guests, kept in the cache
guest.py          whether a machine is a guest of a hypervisor
jobs.py           what a plugin is told to see the jobs of programs; btf.py, calls.py: of the kernel's own tables
monitor.py        QEMU through its monitor: a guest saved and restored
trial.py          whether this machine can start a guest at all
parts.py          the parts of a recorded run, found by their hashes
"""
