# SPDX-License-Identifier: MIT
"""ds325-flight on the emulated camera through Debian's RT kernel's own uvcvideo, under telecommands: one guest."""

from collections.abc import Callable, Sequence

import pytest

from rtqual.board import Outcome
from rtqual.packet.codec import Telemetry, telecommand, telemetry
from rtqual.packet.definition import load
from support.camera_guest import camera_guest
from support.flight_programs import flight_program

COMMON = """\
ifconfig lo up
ds325-emulator --write ring --frames 30 --step 0.016666667 --at '0 0.05 -0.03 0.5 5 3 -4' \
    --at '0.25 0.0475 -0.0275 0.49 4.75 2.75 -3.75' --at '0.5 0.05 -0.03 0.5 5 3 -4'
camera() { plug "$@"; for thread in vhci_rx vhci_tx; do chrt -f -p 50 "$(pidof $thread)"; done; }
flight() { ds325-flight --state=state --frame=frame "$@" 2> complaints & }
ground() { flight_ground 10025 "$1" | sed 's/^/ground /'; }
end() { kill "$(pidof ds325-flight)"; wait; cat complaints; unplug; }
"""
DEFINITION = load()
Run = Callable[[str, Sequence[tuple[int, str, dict[str, str | int]]]], "Said"]

pytestmark = pytest.mark.guest


class Said:
    """What the ground heard, with the ns since its start."""

    def __init__(self, text: str) -> None:
        self.text = text
        lines = [line.split()[1:] for line in text.splitlines() if line.startswith("ground ")]
        self.reports: list[tuple[int, Telemetry]] = [
            (int(ns), telemetry(DEFINITION, bytes.fromhex(what)))
            for ns, what in lines if what not in ("sent", "closed", "connected")
        ]  # fmt: skip
        self.sent = [int(ns) for ns, what in lines if what == "sent"]

    def named(self, name: str, **fields: object) -> list[tuple[int, Telemetry]]:
        return [one for one in self.reports if one[1].name == name and fields.items() <= one[1].fields.items()]

    def one(self, name: str, **fields: object) -> tuple[int, Telemetry]:
        found = self.named(name, **fields)
        assert found, f"no {name} {fields} in {[(one.name, dict(one.fields)) for _, one in self.reports]}\n{self.text}"
        return found[0]


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Outcome]:
    folder = tmp_path_factory.mktemp("guest")
    programs = {f"usr/bin/{name}": flight_program(name) for name in ("ds325-flight", "flight_ground")}
    return camera_guest(folder, programs, common=COMMON, options="--priority 70 --replay ring --stamp")


def script(name: str, steps: Sequence[tuple[int, str, dict[str, str | int]]], end_ms: int, first: int = 1) -> str:
    """A shell command that writes the ground's script."""
    lines = [
        f"{ms} {telecommand(DEFINITION, command, arguments, sequence=number).hex()}"
        for number, (ms, command, arguments) in enumerate(steps, first)
    ]
    return f"cat > {name} <<'EOF'\n" + "\n".join([*lines, f"{end_ms} end"]) + "\nEOF\n"


def request(number: int) -> bytes:
    return (0x1800 | DEFINITION.apid).to_bytes(2, "big") + (0xC000 | number).to_bytes(2, "big")


def test_it_streams_loses_the_camera_and_goes_on_through_a_crash(guest: Callable[..., Outcome]) -> None:
    steps: list[tuple[int, str, dict[str, str | int]]] = [
        (300, "LIDAR_START", {}), (1300, "HK_ONCE", {"structure": "CAMERA"}), (1310, "HK_ONCE", {"structure": "POSE"}),
        (1320, "TAKE_FRAME", {}), (3000, "HK_ONCE", {"structure": "CAMERA"}),
    ]  # fmt: skip
    after: list[tuple[int, str, dict[str, str | int]]] = [
        (1200, "HK_ONCE", {"structure": "CAMERA"}), (1210, "HK_ONCE", {"structure": "SYSTEM"}),
        (1220, "LIDAR_STOP", {}),
    ]  # fmt: skip
    out = guest(
        script("first", steps, 3200) + script("second", after, 1500, first=50)
        + "camera --fault unplug@100:500\nflight\nground first\n"
        + "kill -9 $(pidof ds325-flight); wait; flight\nground second\nwc -c frame\nend\n"
    ).stdout  # fmt: skip
    said = Said(out)
    names = [one.name for _, one in said.reports]
    # Started: the first frame completes it.
    assert [one.name for _, one in said.reports if one.request == request(1)] == [
        "ACCEPTED",
        "STARTED",
        "STEP",
        "COMPLETED",
    ]
    before = said.named("HK_CAMERA", mode="STREAM", camera="STREAMING")[0][1].fields
    assert before["frames"] >= 40 and before["lost"] == 0 and before["frame_age_us"] < 50_000
    pose = said.one("HK_POSE")[1].fields
    assert pose["pose_status"] == "VALID" and pose["poses_valid"] >= 30 and 400 < pose["range_mm"] < 550
    assert pose["covariance_0"] > 0 and pose["pose_age_us"] < 50_000
    # The frame that was asked for lies in its file.
    assert said.one("COMPLETED", request=request(4))
    assert "307200 frame" in out
    # Unplugged after 100 frames: degraded at once, and streaming again by itself.
    gone, back = said.one("EVENT_MEDIUM", event="CAMERA_GONE")[0], said.one("EVENT_INFO", event="CAMERA_BACK")[0]
    assert 0 < back - gone < 1_500_000_000
    assert said.named("EVENT_INFO", event="MODE", event_value=3) and said.named("EVENT_LOW", event="FRAMES_LOST")
    assert names.count("HK_CAMERA") == 3
    # Killed while it streamed: it says so, and streams within a second of its start, without a command.
    crashed = said.one("EVENT_INFO", event="BOOTED", event_value=DEFINITION.enums["cause"]["CRASHED"])
    last = said.named("HK_CAMERA")[-1]
    assert last[1].fields["camera"] == "STREAMING" and last[1].fields["frames"] > 20
    assert last[0] > crashed[0]
    assert said.one("HK_SYSTEM")[1].fields["boots"] == 2
    assert said.one("COMPLETED", request=request(52))
