# SPDX-License-Identifier: MIT
"""The engine: a mission's campaign, measured and judged. What it hosts comes in by the protocols below it.

mission/     the mission file as a model
campaign/    cells, their order, their runs, the folder
analysis/    pure functions of records
procedure/   telecommands and faults at their times, judged
dictionary/  telecommands and telemetry as octets
candidates/  operating systems, ready to boot
kernel/      what a kernel's configuration must have, and what in it costs latency
initramfs/   what guests boot from
part.py      what rtqual itself brings
boards/      instruments/  loads/   those that rtqual brings
"""
