# SPDX-License-Identifier: MIT
"""Docking in a closed loop: a chaser flies by the poses that the flight program gives, and the camera sees where it is.

A pose that comes late costs accuracy at the latch. An instrument a delay, by which each pose is held back besides what
the system takes itself, so that a campaign tells what latency costs. The record has:

pose age        of the pose in use at each firing of the thrusters, since its frame's end: 100 a second
lateral         how far beside the port's axis the two touch
lateral_last    the same over the last second, root of the mean square
closing, drift  speed at the contact, towards the target and sideways
angle           between the two at the contact
thrust          how long thrusters fired, all axes together
"""

import re
from dataclasses import dataclass

from rtqual.base.errors import RunFailed
from rtqual.base.units import format_value
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument, NoParameters
from rtqual.protocols.instrument.output import clock_problems, last_line, require_success
from rtqual.protocols.record.schema import Measurement, Scalar, Series
from rtqual_docking.guest_script import CHASER, COMMON, FLOWN_RAISED, ON_BUS, UVC_NODE
from rtqual_docking.stream_output import of_emulator, values_of

PREFIX = "docking"
DELAYS_MS = (0, 20, 50, 100)
REPORT, FLOWN = "report", "chaser.out"
_CONTROLLER_FIFO = 85
_SECONDS = 8.0
_SETUP = """\
rtqual-agent run . chaser {fifo} {chaser} --steered steered --poses poses --seed {seed} --delay-ms {delay} &
awaited [ -p poses ] && awaited [ -s steered ] || fail "no chaser: $(cat chaser.err)"
plug --steered steered --seed {seed} {on_bus}
awaited [ -e {node} ] || fail 'no camera'
{raised}"""
_FLY = """\
rtqual-agent run . flight 1 ds325-flight --device={node} --start=stream --poses=poses & flight=$!
ended() {{ ! pidof {chaser} > /dev/null; }}
while ! ended; do usleep 50000; done
kill "$(pidof ds325-flight)"; wait $flight
unplug
grep -q '^ended=' chaser.out || {{ cat chaser.err flight.err >&2; exit 1; }}
"""
_FIGURES = {  # of the chaser's: the record's name, its unit, how many of the chaser's make one
    "lateral_um": ("lateral", "mm", 1e3),
    "last_rms_um": ("lateral_last", "mm", 1e3),
    "closing_um_s": ("closing", "mm/s", 1e3),
    "drift_um_s": ("drift", "mm/s", 1e3),
    "angle_urad": ("angle", "mrad", 1e3),
    "thrust_ms": ("thrust", "s", 1e3),
    "contact_s": ("contact", "s", 1),
    "poses_valid": ("poses_valid", "1", 1),
    "poses_other": ("poses_other", "1", 1),
    "control_late_most_ns": ("control_late_most", "ns", 1),
}
_PORT_MM = 45.0  # the outer radius of the target's port (scene.c): who touches beside it has not docked
_LOST_NS = 1_000_000_000  # without a pose; the camera has 60 frames in it
_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,9})?", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Docking(Instrument):
    """One approach, every pose held back by `delay_ms`."""

    delay_ms: int
    program: str = CHASER
    scene: bool = True
    caveats: tuple[str, ...] = (
        "Chaser, target and thrusters are assumed (docs/docking/closed-loop.md): it ranks, no more than that.",
        "Camera, chaser and flight program share the CPU; the camera's frames cost none.",
    )

    def job(self, parameters: NoParameters, *, cpus: int, seed: int) -> Job:
        setup = _SETUP.format(
            fifo=_CONTROLLER_FIFO, chaser=CHASER, seed=seed, delay=self.delay_ms, on_bus=ON_BUS,
            node=UVC_NODE, raised=FLOWN_RAISED,
        )  # fmt: skip
        fly = _FLY.format(node=UVC_NODE, chaser=CHASER)
        return Job(
            setup=(Command(("sh", "-c", COMMON + setup)),),
            measure=Command(("sh", "-c", COMMON + fly), fifo=1),
            collect=(FLOWN, REPORT),
            modules=("uvcvideo", "vhci-hcd"),
            version=(CHASER, "--version"),
        )

    def read(self, parameters: NoParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:
        require_success("the approach", outcome)
        told = values_of(outcome.files.get(FLOWN, ""))
        if told.get("ended") != "docked":
            raise RunFailed(f"the chaser did not dock, last words: {last_line(outcome.files.get(FLOWN, ''))!r}")
        scalars = {}
        for name, (figure, unit, scale) in _FIGURES.items():
            if not _NUMBER.fullmatch(told.get(name, "")):
                raise RunFailed(f"{self.name}: {name} is {told.get(name, 'missing')[:40]!r}, a number was due")
            scalars[figure] = Scalar(value=float(told[name]) / scale, unit=unit)
        ages = told.get("pose_age_ns", "").split()
        if not ages or not all(one.isascii() and one.isdigit() and len(one) < 19 for one in ages):
            raise RunFailed(f"{self.name}: the chaser tells no ages of poses; run it by hand on the board to see why")
        if (beside := scalars["lateral"].value) > _PORT_MM:
            raise RunFailed(f"{self.name}: the chaser missed the port: they touched {beside:.0f} mm beside its axis")
        if (oldest := max(map(int, ages)) - self.delay_ms * 1_000_000) > _LOST_NS:
            raise RunFailed(
                f"{self.name}: the chaser had no pose for {format_value(oldest, 'ns')}, and flew on blindly"
            )
        emulated = of_emulator(outcome.files.get(REPORT, ""))
        scalars["emulator_lost"] = Scalar(value=emulated["frames_lost_without_urb"], unit="1")
        series = Series.raw(list(map(int, ages)), name="pose age")
        return Measurement((series,), scalars, tuple(clock_problems(outcome)))

    def seconds(self, parameters: NoParameters, load: str) -> float:
        return _SECONDS


def _named(delay_ms: int) -> str:
    return f"{PREFIX}-{delay_ms}ms" if delay_ms else PREFIX


DOCKINGS = tuple(
    Docking(
        name=_named(delay_ms),
        title="Docking by poses" + (f" that are {delay_ms} ms late" if delay_ms else ""),
        delay_ms=delay_ms,
    )
    for delay_ms in DELAYS_MS
)
