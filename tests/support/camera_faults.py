# SPDX-License-Identifier: MIT
"""What each fault of the camera has to cost, on any processor: of the instruments `lidar-faults` and `..-driver`."""

from collections.abc import Mapping

from rtqual_docking.faults import DESCRIPTORS, FAULTS


def assert_costs_through_uvcvideo(told: Mapping[str, float]) -> None:
    assert [told[f"{fault}: lost"] for fault in ("drop", "short", "error", "header", "late")] == [1] * 5
    assert (told["corrupt: wrong"], told["corrupt: lost"]) == (1, 0)
    assert (told["drop: first lost"], told["late: first lost"]) == (20, 21)
    assert (told["unplug: frames"], told["unplug: unplugged"], told["unplug:0: frames"]) == (60, 1, 20)
    assert 0 < told["unplug: replug"] < 1e9
    assert told["descriptors none: frames"] == 5


def assert_costs_through_the_driver(told: Mapping[str, float]) -> None:
    """All 60 frames came, except where the camera did not come back; what was lost or refused adds up."""
    costs = {fault: tuple(told[f"{fault}: {what}"] for what in ("lost", "refused", "wrong")) for fault in FAULTS}
    assert costs == {
        "drop": (1, 0, 0),
        "short": (0, 1, 0),
        "corrupt": (0, 0, 1),
        "error": (0, 1, 0),
        "header": (0, 1, 0),
        "late": (1, 0, 0),
        "stall": (1, 0, 0),
        "unplug": (0, 1, 0),
        "unplug:0": (0, 1, 0),
    }
    assert [told[f"{fault}: frames"] for fault in FAULTS[:-1]] == [60] * (len(FAULTS) - 1)
    assert told["unplug: unplugged"] == 1
    assert all(told[f"descriptors {kind}: frames"] in (0, 5) for kind in DESCRIPTORS)
    assert told["descriptors none: frames"] == 5
