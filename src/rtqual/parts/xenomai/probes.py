# SPDX-License-Identifier: MIT
"""The probe over Xenomai's cores: the battery of every system, with the core's gravity told."""

from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field

from rtqual.engine.instruments.probe.families import FAMILIES, KERNEL_PROBES, Probe, ProbeParameters
from rtqual.parts.xenomai.gravity import COBALT, EVL, FILE, Gravity, found, settle
from rtqual.protocols.board import Job, JobOutcome
from rtqual.protocols.instrument import Parameters
from rtqual.protocols.record.schema import Measurement

PROGRAMS = ("rtqual-probe-xenomai", "rtqual-probe-evl")  # target/probe/xenomai and target/probe/evl, linked statically


class CoreParameters(ProbeParameters):
    gravity: Annotated[Gravity, Field(strict=False)] = Gravity.RAW
    """"raw": timers fire when due; "configured": as early as the core is set to, which is another kind of latency."""


@dataclass(frozen=True, kw_only=True)
class CoreProbe(Probe):
    place: str  # where the core tells its gravity
    parameters: type[Parameters] = CoreParameters

    def job(self, parameters: Any, *, cpus: int, seed: int) -> Job:
        job = super().job(parameters, cpus=cpus, seed=seed)
        setup = (settle(parameters.gravity, self.place),)
        return replace(job, setup=setup, collect=(*job.collect, FILE), version=(self.program, "--version"))

    def read(self, parameters: Any, outcome: JobOutcome, *, cpus: int) -> Measurement:
        measured = super().read(parameters, outcome, cpus=cpus)
        return replace(measured, scalars={**measured.scalars, **found(parameters.gravity, self.program, outcome)})


CORE_PROBES = tuple(
    CoreProbe(
        name=f"probe-{name}-{kernel_probe.family}",
        title=f"{FAMILIES[kernel_probe.family]}, on {what} (rtqual's probe)",
        family=kernel_probe.family,
        program=program,
        core=core,
        place=place,
        space=space,
    )
    for name, what, program, core, place, space in (
        ("alchemy", "Xenomai's Alchemy skin", PROGRAMS[0], "cobalt", COBALT, "Alchemy"),
        ("evl", "the EVL core", PROGRAMS[1], "evl", EVL, "EVL"),
    )
    for kernel_probe in KERNEL_PROBES
)
