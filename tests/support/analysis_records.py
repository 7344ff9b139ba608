# SPDX-License-Identifier: MIT
"""Records and missions made up for the tests of the analysis."""

import random
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from rtqual.engine.analysis.figure.model import Figure, Summary
from rtqual.engine.analysis.figure.summary import Measured, groups, measure
from rtqual.engine.mission import Mission
from rtqual.protocols.record.schema import (
    Inputs,
    Manifest,
    Provenance,
    Record,
    Scalar,
    Series,
    Timing,
    digest,
    samples_digest,
)

RT_CONFIG = "CONFIG_PREEMPT_RT=y\nCONFIG_HIGH_RES_TIMERS=y\nCONFIG_USB=m\nCONFIG_USB_XHCI_HCD=m\n"
STOCK_CONFIG = "# CONFIG_PREEMPT_RT is not set\nCONFIG_HIGH_RES_TIMERS=y\nCONFIG_USB=m\nCONFIG_USB_XHCI_HCD=m\n"


def record(
    series: Series | Sequence[Series] = (),
    *,
    candidate: str = "rt",
    instrument: str = "cyclictest",
    load: str = "hackbench",
    board: str = "virtual",
    cpus: int = 1,
    seed: int = 1,
    repeat: int = 0,
    timing: Timing = Timing.INSTRUCTIONS,
    scalars: Mapping[str, Scalar] | None = None,
    problems: Iterable[str] = (),
    parameters: Mapping[str, int] | None = None,
    facts: Mapping[str, str] | None = None,
) -> Record:
    series = (series,) if isinstance(series, Series) else tuple(series)
    inputs = Inputs(
        candidate=candidate,
        instrument=instrument,
        load=load,
        board=board,
        cpus=cpus,
        seed=seed,
        parameters=dict(parameters or {}),
    )
    samples = samples_digest(series, scalars or {})
    manifest = Manifest(
        hash=digest([inputs.key(), samples]),
        inputs=inputs,
        repeat=repeat,
        timing=timing,
        series=[one.info for one in series],
        scalars=dict(scalars or {}),
        problems=list(problems),
        provenance=Provenance(
            rtqual="0",
            mission_sha256="",
            started="2026-01-01T00:00:00Z",
            wall_s=1.0,
            command=["true"],
            facts=dict(facts or {}),
        ),
        samples_sha256=samples,
    )
    return Record(manifest, series)


def wakeups(candidate: str, maxima_ns: Sequence[int], *, n: int = 1000, **more: object) -> list[Record]:
    """Runs of n wake-up latencies about 10 us, each with the largest given; the seeds tell them apart."""
    return [
        record(
            Series.raw([*(8000 + (17 * i + 31 * seed) % 2000 for i in range(n - 1)), largest], name="latency"),
            candidate=candidate,
            seed=seed,
            **more,  # type: ignore[arg-type]
        )
        for seed, largest in enumerate(maxima_ns)
    ]


def mission(
    candidates: Sequence[str] = ("rt", "stock"),
    *,
    needs: Sequence[str] = (),
    requirements: Sequence[Mapping[str, object]] = (),
    criteria: Sequence[Mapping[str, object]] = (),
    runs: int = 10,
    accept_virtual: bool = True,
) -> Mission:
    """Counted instructions count as time unless asked otherwise: what clock a figure has is not most tests' subject."""
    return Mission.model_validate(
        {
            "mission": {
                "name": "test",
                "title": "Test",
                "purpose": "A test.",
                "duration": 3_600_000_000_000,
                "needs": list(needs),
                "accept-virtual": accept_virtual,
            },
            "candidate": [
                {"name": name, "title": name, "this-machine": True, "preempt-rt": True}
                if name == "this-machine"
                else {"name": name, "title": name, "package": f"linux-image-{name}"}
                for name in candidates
            ],
            "requirement": list(requirements),
            "criterion": list(criteria),
            "scale": {
                "demo": {
                    "plan": [{"instruments": ["cyclictest"], "loads": ["hackbench"], "runs": runs}],
                }
            },
        }
    )


WAKE_UP = {
    "name": "wake-up under load",
    "instrument": "cyclictest",
    "load": "hackbench",
    "statistic": "max",
    "at_most": "100 us",
}


def one_group(records: list[Record]) -> Summary:
    ((group, members),) = groups(records).items()
    return measure(group, members).summary


def figure(records: list[Record], name: str) -> Figure:
    return one_group(records).figures[name]


def counted(run: list[int], seed: int, cpu: int | None = None) -> Record:
    values, counts = np.unique(run, return_counts=True)
    pairs = dict(zip(values.tolist(), counts.tolist(), strict=True))
    return record(Series.counted(pairs, name="latency", cpu=cpu), seed=seed)


def maxima(low_ns: int, high_ns: int, runs: int = 10) -> list[int]:
    return [random.Random(1000 * low_ns + i).randint(low_ns, high_ns) for i in range(runs)]  # noqa: S311


def measured(records: list[Record]) -> list[Measured]:
    return [measure(group, members) for group, members in groups(records).items()]
