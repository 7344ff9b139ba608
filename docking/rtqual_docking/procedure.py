# SPDX-License-Identifier: MIT
"""A procedure as an instrument: the software camera on its approach, the flight program, and the ground beside them.

All run on the board itself: what the host sends to a guest that counts instructions arrives at random times. The record
keeps the ground's log to its last octet, so that it can be judged again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rtqual.base.errors import RunFailed
from rtqual.engine.mission.verify_table import Camera
from rtqual.engine.procedure.line import script
from rtqual.engine.procedure.played_log import LOG_SERIES, OCTET, PREFIX
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument, NoParameters, Parameters
from rtqual.protocols.instrument.output import clock_problems, last_line
from rtqual.protocols.record.schema import Measurement, Scalar, Series
from rtqual_docking import air, peer_poses
from rtqual_docking.camera_files import KEPT_DISK
from rtqual_docking.guest_script import (
    COMMON,
    DRIVER_MODULE,
    EMULATOR,
    FLOWN_RAISED,
    GROUND,
    HANDED,
    MODULES_AT,
    ON_BUS,
    RAISED,
    RING_MODULE,
    RING_NODE,
    UVC_NODE,
    WORKERS_FIFO,
    flown,
)
from rtqual_docking.packets.definition import Definition
from rtqual_docking.procedures.log_figures import figures
from rtqual_docking.procedures.model import Procedure
from rtqual_docking.procedures.peer import judged
from rtqual_docking.procedures.script import CLOSING_NS, CONTROL, FRAME_FILE, KEY, KEY_FILE, PROGRAM, compiled
from rtqual_docking.stream_output import of_emulator

LOG, REPORT = "ground.log", "report"
_GROUND_FIFO = 60  # above what answers it, so that an answer is stamped when it leaves; below camera and control loop
_PREPARATION_S = 4.0
# The program is started again whenever it ends, as a board's first process would do.
_PLUGGED = f"plug --replay flown {ON_BUS} --control {CONTROL}"
# By the camera's own driver; its thread has a real-time priority by itself, and nothing is to be raised.
_LOADED = f"""\
grep -q ^ds325_usb /proc/modules || {{ insmod {MODULES_AT}/{RING_MODULE} && insmod {MODULES_AT}/{DRIVER_MODULE}; }} ||
    fail 'no driver of the camera'
"""
_NOTHING = ":\n"
# A board that is not restored keeps what a job that failed has left: a camera, and the disk of the state.
_SETUP = """\
! pidof {emulator} > /dev/null || unplug
mkdir -p state && mount -t tmpfs -o size=256k none state || fail 'no disk for the state'
{flown}
cat > script <<'END'
{script}END
{key}{plugged}; awaited [ -e {node} ] || fail 'no camera'
{raised}"""
_FLY = """\
fly() {{ while :; do rtqual-agent run . flight 1 {program}; done; }}
rtqual-agent raise 1
{handed}{peer}fly & fly=$!
rtqual-agent run . ground {fifo} {ground} --log {log} {played} || {{ cat ground.err flight.err >&2; exit 1; }}
kill $fly; kill -9 $(pidof {name})
unplug
{peer_end}umount -l state
"""
# A board that is reset runs the same job again when it has booted, and finds `began` in memory that outlives it, where
# the camera's recording lies too. The program starts at once, and uvcvideo's workers are raised when it streams. Who
# raises them must not have a real-time priority as the rest of the job: no frame would come meanwhile.
_RESET_SETUP = """\
kept() {{ mount -t ext4 {disk} state 2> /dev/null; }}
mkdir state && awaited [ -b {disk} ] || fail 'no memory that a reset keeps'
kept || {{ zcat {blank} > {disk} && kept; }} || fail 'no disk in the memory that a reset keeps'
[ -e state/flown ] || {{ {{ {flown}
}} && mv flown state/flown && : > state/{log}.start &&
    dd if=/dev/zero of=state/{log} bs=1M count={log_mib} 2> /dev/null && sync; }} || fail 'no room for the recording'
ln -s state/flown flown
cat > script <<'END'
{script}END
{key}{plugged}; awaited [ -e {node} ] || fail 'no camera'
[ -e state/began ] || {{ {raised}}}
"""
_RESET_FLY = """\
fly() {{ while :; do rtqual-agent run . flight 1 {program}; done; }}
busy() {{ cat /proc/[0-9]*/comm 2> /dev/null | grep -q '[-+]uvcvideo$'; }}
ended() {{ ! pidof {name} > /dev/null; }}
rtqual-agent raise 1
{handed}fly & fly=$!
yielding() {{ read -r own rest < /proc/self/stat && chrt -o -p 0 $own; }}
[ ! -e state/began ] || {{ yielding; {raised}}} &
: > state/began; sync
rtqual-agent run . ground {fifo} {ground} {played} --log state/{log} --now-ns $(rtqual-agent now) || {{
    cat ground.err flight.err >&2; exit 1; }}
kill $fly; kill $(pidof {name}); awaited ended
unplug
tr -d '\\000' < state/{log} > {log}
"""
# Without a counter nothing is taken but what answers the program's challenge, and the ground's octets are made before.
_COUNTED = "ls state/*.counter* > /dev/null 2>&1 || {program} --counter=0 || fail 'no counter is kept'\n"
_PLAYED = f"--script script --file {FRAME_FILE}"
_WATCHDOG = "--watchdog=/dev/watchdog --watchdog-s=2"  # what a program has that must not end in silence
_LOG_MIB = 4  # taken before it is written, so that no line needs more of the file system than its own octets
_DISK, _RESET_MODULES = "/dev/pmem0", ("i6300esb", "nd_e820", "nd_pmem", "crc32c_generic", "ext4")


class ByDriver(Parameters):
    """Frames come by the camera's own driver."""

    camera: Literal["driver"] = "driver"


@dataclass(frozen=True, kw_only=True, eq=False)  # known by its name, as every instrument
class FlownProcedure(Instrument):
    """One procedure."""

    procedure: Procedure
    definition: Definition
    arguments: str  # of the flight program
    parameters: type[NoParameters | ByDriver] = NoParameters
    caveats: tuple[str, ...] = ("Camera, ground and flight program share the CPU.",)

    def job(self, parameters: NoParameters | ByDriver, *, cpus: int, seed: int) -> Job:
        driver = isinstance(parameters, ByDriver)
        text = script(compiled(self.procedure, self.definition))
        setup, measure, arguments = _SETUP, _FLY, self.arguments
        modules: tuple[str, ...] = ()
        if self.resets:
            setup, measure, modules = _RESET_SETUP, _RESET_FLY, _RESET_MODULES
            arguments = f"{arguments} {_WATCHDOG}"
        beside = self.procedure.peer is not None
        if beside:
            modules, arguments = air.MODULES, f"{arguments} --poses={air.FIFO}"
        key = ""
        if self.procedure.tagged:
            key = f"printf %s '{KEY.decode()}' > {KEY_FILE}\n{_COUNTED.format(program=f'{PROGRAM} {arguments}')}"
            arguments = f"{arguments} --key={KEY_FILE}"
        prepared = setup.format(
            flown=flown(seed), script=text, key=key, plugged=f"{_LOADED if driver else ''}{_PLUGGED}",
            node=RING_NODE if driver else UVC_NODE, emulator=EMULATOR, disk=_DISK, log=LOG,
            blank=KEPT_DISK, log_mib=_LOG_MIB,
            raised=_NOTHING if driver else FLOWN_RAISED,
        )  # fmt: skip
        fly = measure.format(
            program=f"{PROGRAM} {arguments}", name=PROGRAM, ground=GROUND, fifo=_GROUND_FIFO, log=LOG, played=_PLAYED,
            peer=peer_poses.BEGIN if beside else "", peer_end=peer_poses.END if beside else "",
            handed=HANDED if driver else "",
            raised=_NOTHING if driver else RAISED.format(stream="awaited busy", priority=WORKERS_FIFO),
        )  # fmt: skip
        return Job(
            setup=(Command(("sh", "-c", f"{COMMON}{prepared}")),),
            measure=Command(("sh", "-c", COMMON + fly), fifo=1),
            collect=(LOG, REPORT, *(peer_poses.FILES if beside else ())),
            modules=(*(() if driver else ("uvcvideo",)), "vhci-hcd", *modules),
            version=(PROGRAM, "--version"),
        )

    def read(self, parameters: NoParameters | ByDriver, outcome: JobOutcome, *, cpus: int) -> Measurement:
        log = outcome.files.get(LOG, "")
        if outcome.exit_code or not log:
            said = last_line(outcome.stderr, outcome.stdout, outcome.console)
            raise RunFailed(f"{self.name}: the ground left no log, last words: {said!r}")
        ages, beside = peer_poses.figures(outcome.files) if self.procedure.peer else ([], {})
        judgement = judged(self.procedure, log, self.definition, beside)
        emulated = of_emulator(outcome.files.get(REPORT, ""))
        scalars = {
            "passed": Scalar(value=int(judgement.passed), unit="1"),
            "emulator_sent": Scalar(value=emulated["frames_sent"], unit="1"),
            "emulator_lost": Scalar(value=emulated["frames_lost_without_urb"], unit="1"),
        }
        found = figures(self.procedure, log, self.definition)
        scalars |= beside | {name: Scalar(value=value, unit=unit) for name, (value, unit) in found.scalars.items()}
        series = [Series.raw(values, name=name) for name, values in sorted(found.latencies_ns.items())]
        return Measurement((_kept(log), *series, *ages), scalars, tuple(clock_problems(outcome)))

    def seconds(self, parameters: NoParameters | ByDriver, load: str) -> float:
        return _PREPARATION_S + (self.procedure.ends + CLOSING_NS) / 10**9


def instruments(
    procedures: Sequence[Procedure], definition: Definition, arguments: str, camera: Camera = Camera.UVCVIDEO
) -> list[FlownProcedure]:
    driver = camera is Camera.DRIVER
    return [
        FlownProcedure(
            name=PREFIX + one.name,
            title=one.title,
            program=PROGRAM,
            beside=(DRIVER_MODULE,) if driver else (),
            parameters=ByDriver if driver else NoParameters,
            resets=one.resets,
            disks=one.peer is not None,
            procedure=one,
            definition=definition,
            arguments=arguments,
        )
        for one in procedures
    ]


def _kept(log: str) -> Series:
    return Series.raw(np.frombuffer(log.encode(), np.uint8).astype(np.int64), name=LOG_SERIES, unit=OCTET)
