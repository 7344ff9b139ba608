# SPDX-License-Identifier: MIT
"""The probe on Xenomai's Alchemy skin over Cobalt: the battery of every system, with the core's gravity told."""

from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field

from rtqual.board import Job, Outcome
from rtqual.instrument import Parameters
from rtqual.instrument.dual.gravity import COBALT, FILE, Gravity, found, settle
from rtqual.instrument.probe.families import FAMILIES, KERNEL_PROBES, Probe, ProbeParameters
from rtqual.record.schema import Measurement

PROGRAM = "rtqual-probe-xenomai"  # probe/xenomai, linked statically


class AlchemyParameters(ProbeParameters):
    gravity: Annotated[Gravity, Field(strict=False)] = Gravity.RAW


@dataclass(frozen=True, kw_only=True)
class Alchemy(Probe):
    program: str = PROGRAM
    parameters: type[Parameters] = AlchemyParameters
    core: str = "cobalt"
    space: str = "Alchemy"

    def job(self, parameters: Any, *, cpus: int, seed: int) -> Job:
        job = super().job(parameters, cpus=cpus, seed=seed)
        setup = (settle(parameters.gravity, COBALT),)
        return replace(job, setup=setup, collect=(*job.collect, FILE), version=(PROGRAM, "--version"))

    def read(self, parameters: Any, outcome: Outcome, *, cpus: int) -> Measurement:
        measured = super().read(parameters, outcome, cpus=cpus)
        return replace(measured, scalars={**measured.scalars, **found(parameters.gravity, PROGRAM, outcome)})


ALCHEMY_PROBES = tuple(
    Alchemy(
        name=f"probe-alchemy-{one.family}",
        title=f"{FAMILIES[one.family]}, on Xenomai's Alchemy skin (rtqual's probe)",
        family=one.family,
    )
    for one in KERNEL_PROBES
)
