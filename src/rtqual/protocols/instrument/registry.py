# SPDX-License-Identifier: MIT
"""The instruments by the name a mission calls them, in the order of a report."""

from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST
from rtqual.engine.instruments.footprint import FOOTPRINT
from rtqual.engine.instruments.hackbench import HACKBENCH
from rtqual.engine.instruments.late import LATE
from rtqual.engine.instruments.probe.families import KERNEL_PROBES, MEMORY_PROBE, PROBES
from rtqual.engine.instruments.stress_ng_cyclic import STRESS_NG_CYCLIC
from rtqual.engine.instruments.sysbench.tests import SYSBENCH
from rtqual.engine.instruments.tracer import TRACERS
from rtqual.parts.xenomai.latency import LATENCY
from rtqual.parts.xenomai.latmus import LATMUS
from rtqual.parts.xenomai.probes import CORE_PROBES
from rtqual.protocols.instrument import Instrument
from rtqual_docking.docking import DOCKINGS
from rtqual_docking.exercise import EXERCISE
from rtqual_docking.faults import WITH_FAULTS
from rtqual_docking.ways import WAYS
from rtqual_docking.wifi import SENT_BY_WIFI

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
