# SPDX-License-Identifier: MIT
"""The instruments by the name a mission calls them."""

from rtqual.instrument import Instrument
from rtqual.instrument.cyclictest.measure import Cyclictest
from rtqual.instrument.exercise import Exercise
from rtqual.instrument.footprint import Footprint
from rtqual.instrument.hackbench import Hackbench
from rtqual.instrument.lidar.faults import LidarFaults, LidarFaultsDriver
from rtqual.instrument.lidar.ways import (
    LidarBaseline,
    LidarDmabuf,
    LidarDriver,
    LidarMmap,
    LidarMmapRaised,
    LidarMmapSimd,
    LidarNoClear,
    LidarNoCommand,
    LidarNoCopy,
    LidarNoSleep,
)
from rtqual.instrument.probe.families import (
    KernelItc,
    KernelLoop,
    KernelPeriodic,
    KernelPrimitives,
    KernelWakeup,
    ProbeItc,
    ProbeLoop,
    ProbeMemory,
    ProbePeriodic,
    ProbePrimitives,
    ProbeWakeup,
)
from rtqual.instrument.sysbench.tests import (
    SysbenchCpu,
    SysbenchFileio,
    SysbenchFileioUsb,
    SysbenchMutex,
    SysbenchThreads,
    SysbenchThreadsContended,
)
from rtqual.instrument.tracer import Osnoise, Timerlat

_ALL: tuple[type[Instrument], ...] = (
    Cyclictest,
    Hackbench,
    SysbenchCpu,
    SysbenchThreads,
    SysbenchThreadsContended,
    SysbenchMutex,
    SysbenchFileio,
    SysbenchFileioUsb,
    ProbeWakeup,
    ProbePeriodic,
    ProbeItc,
    ProbePrimitives,
    ProbeLoop,
    Timerlat,
    Osnoise,
    ProbeMemory,
    KernelWakeup,
    KernelPeriodic,
    KernelItc,
    KernelPrimitives,
    KernelLoop,
    Footprint,
    Exercise,
    LidarBaseline,
    LidarNoSleep,
    LidarNoCommand,
    LidarNoClear,
    LidarNoCopy,
    LidarMmap,
    LidarMmapSimd,
    LidarMmapRaised,
    LidarDmabuf,
    LidarDriver,
    LidarFaults,
    LidarFaultsDriver,
)
INSTRUMENTS: dict[str, type[Instrument]] = {instrument.name: instrument for instrument in _ALL}
