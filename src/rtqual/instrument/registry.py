# SPDX-License-Identifier: MIT
"""The instruments by the name a mission calls them, in the order of a report."""

from rtqual.instrument import Instrument
from rtqual.instrument.cyclictest.measure import CYCLICTEST
from rtqual.instrument.docking import DOCKINGS
from rtqual.instrument.dual.latency import LATENCY
from rtqual.instrument.dual.latmus import LATMUS
from rtqual.instrument.dual.probes import CORE_PROBES
from rtqual.instrument.exercise import EXERCISE
from rtqual.instrument.footprint import FOOTPRINT
from rtqual.instrument.hackbench import HACKBENCH
from rtqual.instrument.late import LATE
from rtqual.instrument.lidar.faults import WITH_FAULTS
from rtqual.instrument.lidar.ways import WAYS
from rtqual.instrument.lidar.wifi import SENT_BY_WIFI
from rtqual.instrument.probe.families import KERNEL_PROBES, MEMORY_PROBE, PROBES
from rtqual.instrument.stress_ng_cyclic import STRESS_NG_CYCLIC
from rtqual.instrument.sysbench.tests import SYSBENCH
from rtqual.instrument.tracer import TRACERS

_ALL: tuple[Instrument, ...] = (
    CYCLICTEST,
    STRESS_NG_CYCLIC,
    *LATENCY,
    *LATMUS,
    HACKBENCH,
    *SYSBENCH,
    *PROBES,
    *TRACERS,
    LATE,
    MEMORY_PROBE,
    *KERNEL_PROBES,
    *CORE_PROBES,
    FOOTPRINT,
    EXERCISE,
    *WAYS,
    *WITH_FAULTS,
    *SENT_BY_WIFI,
    *DOCKINGS,
)
INSTRUMENTS: dict[str, Instrument] = {instrument.name: instrument for instrument in _ALL}
