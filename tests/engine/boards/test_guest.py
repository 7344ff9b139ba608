# SPDX-License-Identifier: MIT
"""Whether a machine is a guest: one rule, and what is not known does not fly."""

import pytest

from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.verdict.model import Ground
from rtqual.engine.boards.guest import UNTOLD, guest_of
from rtqual.engine.boards.remote.clock_rate import NOT_COMPARED
from rtqual.protocols.record.schema import Timing
from rtqual.reports.machine.junit import to_junit
from rtqual.reports.machine.prometheus import to_prometheus
from support.analysis_records import WAKE_UP, mission, one_group, wakeups

PC = {"cpu_flags": "8", "virtual_machine": "0", "dmi": "Dell Inc. OptiPlex 7010 Dell Inc. Dell Inc."}
PI = {"cpu_flags": "0", "virtual_machine": "0", "tree_compatible": "raspberrypi,4-model-b brcm,bcm2711"}
ARM_GUEST = {"cpu_flags": "0", "virtual_machine": "0", "tree_compatible": "linux,dummy-virt"}


@pytest.mark.parametrize("signs", [PC, PI, {**PC, "sys_hypervisor": "unknown"}, {"dmi": "Ampere(TM) Mt. Jade"}])
def test_hardware(signs: dict[str, str]) -> None:
    assert guest_of(signs) is None


@pytest.mark.parametrize(
    ("signs", "named"),
    [
        ({**PC, "virtual_machine": "8", "machine": "KVM"}, "KVM"),
        (ARM_GUEST, "dummy-virt"),
        ({"dmi": "QEMU QEMU Virtual Machine", "cpu_flags": "0", "virtual_machine": "0"}, "QEMU"),
        ({**PC, "dmi": "VMware, Inc. VMware Virtual Platform"}, "VMware"),
        ({**PI, "tree_hypervisor": "xen,xen-4.17 xen,xen"}, "xen"),
        ({**PC, "sys_hypervisor": "xen"}, "xen"),
        ({"cpu_flags": "0", "virtual_machine": "0"}, UNTOLD),  # arm64 has no flag, and nothing else was read
        ({"cpu_flags": "unknown", "virtual_machine": "unknown"}, UNTOLD),
        ({}, UNTOLD),
    ],
)
@pytest.mark.parametrize("connection", ["ssh", "card"])
def test_a_guest_or_what_does_not_tell_flies_nowhere(signs: dict[str, str], named: str, connection: str) -> None:
    assert named in str(guest_of(signs))
    facts = {**signs, "connection": connection, "board": "desk"}
    records = wakeups("rt", [20_000] * 10, board="pi", timing=Timing.REAL, facts=facts)
    asked = mission(["rt"], requirements=[WAKE_UP], accept_virtual=True)
    found = analyse(asked, "demo", records, {})
    verdict = next(one for one in found.verdicts if one.board == "pi")
    assert (verdict.ground, verdict.fly, verdict.first) == (Ground.REFERENCE, None, None)
    flies = [line for line in to_prometheus(asked, found).splitlines() if line.startswith("rtqual_fly{")]
    assert flies and all(line.endswith(" 0.0") for line in flies)
    assert 'type="for comparison"' in to_junit(asked, found)


@pytest.mark.parametrize("signs", [PC, PI])
def test_hardware_over_ssh_may_fly(signs: dict[str, str]) -> None:
    records = wakeups("rt", [20_000] * 10, board="pi", timing=Timing.REAL, facts={**signs, "connection": "ssh"})
    found = analyse(mission(["rt"], requirements=[WAKE_UP]), "demo", records, {})
    assert next(one for one in found.verdicts if one.board == "pi").fly == "rt"


def test_a_clock_that_was_not_compared_is_told() -> None:
    facts = {**PI, "connection": "card", "clock_rate": NOT_COMPARED}
    assert any(
        NOT_COMPARED in one for one in one_group(wakeups("rt", [20_000] * 10, timing=Timing.REAL, facts=facts)).caveats
    )
