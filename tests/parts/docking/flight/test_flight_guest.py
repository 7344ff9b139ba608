# SPDX-License-Identifier: MIT
"""ds325-flight on the emulated camera, under Debian's RT kernel and telecommands, through the kernel's own uvcvideo and
through the camera's driver: one guest."""

from collections.abc import Callable, Sequence

import pytest

from rtqual.protocols.board import JobOutcome
from rtqual_docking.packets.codec import Telemetry, telecommand, telemetry
from rtqual_docking.packets.definition import load
from support.camera_guest import camera_guest
from support.flight_programs import flight_program

COMMON = """\
ifconfig lo up
ds325-emulator --write ring --frames 30 --step 0.016666667 --at '0 0.05 -0.03 0.5 5 3 -4' \
    --at '0.25 0.0475 -0.0275 0.49 4.75 2.75 -3.75' --at '0.5 0.05 -0.03 0.5 5 3 -4'
camera() { plug "$@"; for thread in vhci_rx vhci_tx; do chrt -f -p 50 "$(pidof $thread)"; done; }
flight() { ds325-flight --state=state --frame=frame "$@" 2> complaints & }
driver() { insmod /lib/rtqual/ds325-ring.ko && insmod /lib/rtqual/ds325-usb.ko || exit 1; }
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
def guest(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., JobOutcome]:
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


def test_it_streams_loses_the_camera_and_goes_on_through_a_crash(guest: Callable[..., JobOutcome]) -> None:
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


Steps = list[tuple[int, str, dict[str, str | int]]]
DRIVER = ("vhci-hcd",)


def test_through_its_own_driver_it_streams_loses_the_camera_and_goes_on_through_a_crash(
    guest: Callable[..., JobOutcome],
) -> None:
    steps: Steps = [
        (300, "LIDAR_START", {}), (1300, "HK_ONCE", {"structure": "CAMERA"}), (1310, "HK_ONCE", {"structure": "POSE"}),
        (1320, "TAKE_FRAME", {}), (4500, "HK_ONCE", {"structure": "CAMERA"}), (4510, "RESET_CAMERA", {}),
        (5000, "HK_ONCE", {"structure": "CAMERA"}),
    ]  # fmt: skip
    after: Steps = [
        (700, "HK_ONCE", {"structure": "CAMERA"}), (710, "LIDAR_STOP", {}), (1000, "HK_ONCE", {"structure": "CAMERA"}),
    ]  # fmt: skip
    out = guest(
        script("first", steps, 5200) + script("second", after, 1300, first=50)
        + "driver; camera --fault unplug@100:500 --fault drop@150 --fault late@170:300\n"
        "flight --camera=driver\nground first\n"
        "kill -9 $(pidof ds325-flight); wait; flight --camera=driver\nground second\nwc -c frame\nend\n"
        "rmmod ds325_usb ds325_ring || exit 1\n",
        modules=DRIVER,
    ).stdout  # fmt: skip
    said = Said(out)
    assert [one.name for _, one in said.reports if one.request == request(1)] == [
        "ACCEPTED",
        "STARTED",
        "STEP",
        "COMPLETED",
    ]
    camera = [one.fields for _, one in said.named("HK_CAMERA")]
    assert camera[0]["camera"] == "STREAMING" and camera[0]["frames"] >= 50 and camera[0]["lost"] == 0
    assert camera[0]["frame_age_us"] < 50_000
    pose = said.one("HK_POSE")[1].fields
    assert pose["pose_status"] == "VALID" and pose["poses_valid"] >= 30 and 400 < pose["range_mm"] < 550
    # What the driver has of a frame is its ranges.
    assert said.one("COMPLETED", request=request(4))
    assert "153600 frame" in out
    # Unplugged, and back; then a silence of 300 ms, which is a stall; each time streaming again by itself.
    gone = [one.fields["event_value"] for _, one in said.named("EVENT_MEDIUM", event="CAMERA_GONE")]
    assert gone == [DEFINITION.enums["camera"]["GONE"], DEFINITION.enums["camera"]["STALLED"]], said.text
    assert len(said.named("EVENT_INFO", event="CAMERA_BACK")) == 2
    # The frame in flight when it was unplugged, the dropped one, and those that the silence had room for.
    assert camera[1]["camera"] == "STREAMING" and camera[1]["disconnections"] == 2 and camera[1]["recoveries"] == 2
    lost = sum(one.fields["event_value"] for _, one in said.named("EVENT_LOW", event="FRAMES_LOST"))
    assert camera[1]["lost"] == lost and 17 <= lost <= 22, said.text
    assert camera[1]["refused"] == 1
    assert said.one("COMPLETED", request=request(6)), "the driver's stream begins anew"
    assert camera[2]["lost"] == lost and camera[2]["frames"] > camera[1]["frames"] + 15
    assert said.one("EVENT_INFO", event="BOOTED", event_value=DEFINITION.enums["cause"]["CRASHED"])
    assert camera[3]["camera"] == "STREAMING" and camera[3]["frames"] > 20 and camera[3]["lost"] == 0
    assert said.one("COMPLETED", request=request(51))
    assert camera[4]["camera"] == "OFF"


REFUSED = (
    "2047 1000001 0 25000",
    "2047 700000 10000 75000",
    "2047 0 0",
    "2047 0 0 0 0",
    "x 0 0 0",
    "99999999999 0 0 0",
    "",
    "1" * 80,
)


def test_the_driver_takes_rate_exposure_confidence_and_calibration_while_it_streams(
    guest: Callable[..., JobOutcome],
) -> None:
    def put(parameter: str, value: int) -> tuple[str, dict[str, str | int]]:
        return "SET_PARAMETERS", {"parameter": parameter, "value": value}

    take: tuple[str, dict[str, str | int]] = ("TAKE_FRAME", {})
    hk: tuple[str, dict[str, str | int]] = ("HK_ONCE", {"structure": "CAMERA"})
    played: list[Steps] = [
        # Set while there is no stream: it holds from its beginning on.
        [(100, *put("OFFSET_UM", 1000)), (200, "LIDAR_START", {}), (600, *take)],
        [(10, *put("OFFSET_UM", -500_000)), (100, *take)],
        [(10, *put("TEMPERATURE_MC", 75_000)), (20, *put("DRIFT_UM_PER_K", 10_000)), (100, *take)],
        [(10, *put("CONFIDENCE", 2047)), (100, *take)],
        [(10, *put("EXPOSURE", 50)), (20, *put("RATE", 30)), (500, *hk), (1500, *hk)],
    ]
    scripts = [script(f"s{n}", steps, steps[-1][0] + 200, first=1 + 10 * n) for n, steps in enumerate(played)]
    # A pixel of the target's, in the driver's frames.
    grounds = [
        f"ground s{n}; echo pixel $(dd if=frame bs=2 skip=34100 count=1 2> /dev/null | od -An -tu2)\n"
        for n in range(len(played))
    ]
    out = guest(
        "".join(scripts) + "driver; camera\nflight --camera=driver\n" + "".join(grounds) + "here=$PWD\n"
        "cd /sys/module; grep -H . ds325_usb/parameters/rate ds325_usb/parameters/exposure ds325_ring/parameters/*\n"
        "echo 59 2> /dev/null > ds325_usb/parameters/rate || cat ds325_usb/parameters/rate\n"
        "cd ds325_ring/parameters; cat calibration\n"
        f'for one in {" ".join(map(repr, REFUSED))}; do echo "$one" 2> /dev/null > calibration && echo taken; done\n'
        "cat calibration; echo 10 700000 0 25000 > calibration && cat calibration; cd $here; end\n",
        modules=DRIVER,
    ).stdout
    said = Said(out)
    for n, steps in enumerate(played):
        for number, (_, name, _) in enumerate(steps, 1 + 10 * n):
            assert name == "HK_ONCE" or said.named("COMPLETED", request=request(number)), (name, said.text)
    assert not said.named("EVENT_MEDIUM"), said.text
    pixels = [int(line.split()[1]) for line in out.splitlines() if line.startswith("pixel ")]
    first, farther, back, dark = pixels[:4]
    assert 400 < first < 600
    assert 440 < farther - first < 560, "what is read too little is added: 501 mm, and the scene moves"
    assert abs(back - first) < 60, "50 degrees warmer, that is taken off again"
    assert dark == 0, "no pixel has so much light"
    slow = [one.fields["frames"] for _, one in said.named("HK_CAMERA")]
    assert 29 <= slow[1] - slow[0] <= 31, "30 frames/s"
    for wanted in ("usb/parameters/rate:30", "usb/parameters/exposure:50", "confidence:2047", "offset_um:-500000",
                   "drift_um_per_k:10000", "temperature_mc:75000"):  # fmt: skip
        assert wanted in out, out
    held = "2047 -500000 10000 75000\n"
    assert f"\n30\n{held}{held}" in out and "taken" not in out, "what the modules cannot be is refused, nothing changes"
    assert "\n10 700000 0 25000\n" in out, "all at once: this offset is not possible with the drift before"
