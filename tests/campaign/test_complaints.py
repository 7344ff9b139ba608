# SPDX-License-Identifier: MIT
"""What a kernel says went wrong spoils a record, but for the panic that a procedure asked for."""

from rtqual.campaign.provenance import kernel_complaints

PANIC = """\
[   30.06] Kernel panic - not syncing: sysrq triggered crash
[   30.07] Call Trace:
[   30.07] Kernel Offset: disabled
rtqual: booted
"""


def test_only_a_panic_that_was_asked_for_is_none() -> None:
    assert kernel_complaints(PANIC, resets=True) == []
    assert kernel_complaints(PANIC) != []
    assert kernel_complaints(PANIC + "[ 9.0] BUG: scheduling while atomic", resets=True) != []
    assert kernel_complaints(PANIC.replace("sysrq triggered crash", "Fatal exception"), resets=True) != []
