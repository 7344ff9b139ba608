# SPDX-License-Identifier: MIT
"""The flight program's poses at another spacecraft, over a simulated Wi-Fi link (air.py). A record has:

pose age at the peer   since the end of its frame, of each pose when it came
jitter                 how much the ages of two poses that came in succession differ (RFC 3550's D)
poses_sent, .._came    of those with an answer, also that the target is not found
poses_lost             sent and never come, in per cent
stalest                the oldest that the newest pose at the peer has become before another one came
emulator_lost          frames that the camera could not send

Where the way loses packets, each that leaves by the near radio is lost by chance, before it is on the air (the kernel's
netem): no radio sends it again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

from pydantic import Field

from rtqual.base.errors import RunFailed
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.instrument.output import clock_problems, require_success
from rtqual.protocols.record.schema import Measurement, Scalar, Series
from rtqual_docking.air import AGE, CAME, FIFO, LISTEN, LOGGED, MODULES, POSES_LOG, PROGRAM, RADIOS, SEND, SENT, taken
from rtqual_docking.guest_script import COMMON, FLOWN_RAISED, ON_BUS, UVC_NODE, flown
from rtqual_docking.stream_output import of_emulator, sections

JITTER = "jitter"
_RATE = 60
_LOOK_US = 50_000
_FLY = """\
rtqual-agent run . flight 1 ds325-flight --device={node} --start=stream --poses={fifo} & flight=$!
left={looks}
until [ "$(wc -l < {log})" -ge {poses} ]; do
    left=$((left - 1)); [ $left -gt 0 ] || fail "only $(wc -l < {log}) of {poses} poses: $(cat flight.err {sent})"
    usleep {look}
done
kill $(pidof ds325-flight); wait $flight
kill $sender; wait $sender; usleep 200000; kill $peer; wait $peer
unplug
"""
_LEFT = {"came": CAME, "sent": SENT, "poses": POSES_LOG, "emulator": "report"}  # part of the output -> file


class WifiParameters(Parameters):
    poses: Annotated[int, Field(ge=60, le=60_000)] = 300
    """How many are sent, at 60 a second, and a few more."""


class LossyParameters(WifiParameters):
    loss: Annotated[int, Field(ge=1, le=90)] = 10
    """Of 100 packets, how many never leave."""


@dataclass(frozen=True, kw_only=True)
class Wifi(Instrument):
    """Over a way that loses nothing, unless asked otherwise."""

    program: str = PROGRAM
    parameters: type[Parameters] = WifiParameters
    several: bool = True
    modules: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ("Camera, flight program and both radios share the CPU; the radios are simulated.",)

    def job(self, parameters: WifiParameters, *, cpus: int, seed: int) -> Job:
        plugged = f"plug --replay flown {ON_BUS}\nawaited [ -e {UVC_NODE} ] || fail 'no camera'\n{FLOWN_RAISED}"
        near = '"$(ls /sys/class/ieee80211/*/device/net)"'
        lossy = ""
        if isinstance(parameters, LossyParameters):
            lossy = f"{PROGRAM} --lossy={near} --percent={parameters.loss} || exit\n"
        fly = _FLY.format(
            node=UVC_NODE, fifo=FIFO, log=POSES_LOG, poses=parameters.poses, sent=SENT, look=_LOOK_US,
            looks=(30 + 2 * parameters.poses // _RATE) * 1_000_000 // _LOOK_US,
        )  # fmt: skip
        way = f"{RADIOS}{lossy}{LISTEN}{SEND} > {POSES_LOG} & sender=$!\n"
        told = "".join(f"echo == {part}; cat {file}\n" for part, file in _LEFT.items()) + "echo == end\n"
        return Job(
            setup=(Command(("sh", "-c", f"{COMMON}{flown(seed)}\n{plugged}")),),
            measure=Command(("sh", "-c", COMMON + way + fly + told), fifo=1),
            modules=("uvcvideo", "vhci-hcd", *MODULES, *self.modules),
            version=(PROGRAM, "--version"),
        )

    def read(self, parameters: WifiParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:
        require_success("the flight", outcome)
        said = sections(outcome.stdout, tuple(_LEFT), of=PROGRAM)
        sent, came = taken(said["sent"], said["came"])
        end_ns = _ends(said["poses"])
        if len(end_ns) != sent or any(number not in end_ns for number, _ in came):
            raise RunFailed(f"{PROGRAM}: {sent} poses sent, {len(end_ns)} logged, and others than those came")
        if len(came) < 2:
            raise RunFailed(f"{PROGRAM}: {len(came)} of {sent} poses came: no ages to compare")
        ages_ns = [age for _, age in came]
        each = {
            "poses_sent": sent,
            "poses_came": len({number for number, _ in came}),
            "poses_came_twice": len(came) - len({number for number, _ in came}),
            "emulator_lost": of_emulator(said["emulator"])["frames_lost_without_urb"],
        }
        scalars = {name: Scalar(value=value, unit="1") for name, value in each.items()}
        scalars["poses_lost"] = Scalar(value=100 * (1 - each["poses_came"] / sent), unit="%")
        scalars["stalest"] = Scalar(value=_stalest([(end_ns[number], age) for number, age in came]), unit="ns")
        jitter_ns = [abs(after - before) for before, after in pairwise(ages_ns)]
        series = (Series.raw(ages_ns, name=AGE), Series.raw(jitter_ns, name=JITTER))
        return Measurement(series, scalars, tuple(clock_problems(outcome)))

    def seconds(self, parameters: WifiParameters, load: str) -> float:
        return 4.0 + parameters.poses / _RATE


SENT_BY_WIFI = (
    Wifi(name="lidar-wifi", title="Age and jitter of the flight program's poses at another spacecraft, over Wi-Fi"),
    Wifi(
        name="lidar-wifi-lossy",
        title="Age and jitter of those poses over a Wi-Fi link that loses packets",
        parameters=LossyParameters,
        modules=("sch_netem",),
    ),
)


def _ends(log: str) -> dict[int, int]:
    """Number of a pose -> the end of its frame in ns, by the sender's log."""
    lines = [LOGGED.fullmatch(line) for line in log.splitlines()]
    if not all(lines):
        raise RunFailed(
            f"{PROGRAM}: the sender's log has a line that is no pose; run it by hand on the board to see why"
        )
    ends = [(int(line[1]), int(line[2])) for line in lines if line]
    if any(after[0] <= before[0] or after[1] <= before[1] for before, after in pairwise(ends)):
        raise RunFailed(f"{PROGRAM}: the sender's log has numbers or times that do not rise")
    return dict(ends)


def _stalest(came: Sequence[tuple[int, int]]) -> int:
    """Of (frame's end, age) as they came."""
    newest, stalest = came[0][0], came[0][1]
    for end_ns, age_ns in came:
        stalest = max(stalest, end_ns + age_ns - newest)
        newest = max(newest, end_ns)
    return stalest
