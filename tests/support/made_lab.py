# SPDX-License-Identifier: MIT
"""A lab's campaigns with digests alone, as their records would leave them: boards differ, figures are noisy with heavy
tails, one board in ten changes for good, and one version is late on a third of them for a while."""

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from rtqual.engine.analysis.verdict.model import Ground, Outcome
from rtqual.engine.campaign import digest
from rtqual.engine.campaign.digest import Body, GroupDigest, JudgedRequirement, Row, StandingDigest, VerdictDigest
from rtqual.engine.campaign.manifest import NAME, CampaignFile
from rtqual.protocols.record.schema import Timing
from support.command import mission_text

FIGURES = {"p50": (0.55, 0.5), "p99": (1.0, 1.0), "max": (1.9, 3.0), "avg": (0.6, 0.5)}  # level, width of the interval
HOSTILE = (
    "</script><script>window.hit=1</script>",
    '"><img src=x onerror=window.hit=1>',
    "../../../etc/passwd",
    "=HYPERLINK(1)",
    "\x1b[31m\u202e{{ 7 * 7 }}",
    "a\0b",
    "',]});window.hit=1//",
)
NOISE, DEPENDENCE = 0.05, 0.3
LIMIT_NS = 100_000
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def levels(boards: int, versions: int, seed: int = 1) -> Floats:
    """(boards, versions) p99 in ns; not a number where a version was not measured."""
    rng = np.random.default_rng(seed)
    base = np.exp(rng.normal(np.log(40_000), 0.4, boards))
    level = np.ones((boards, versions))
    for board in np.flatnonzero(rng.random(boards) < 0.1):
        level[board, int(rng.integers(versions // 4, max(versions // 4 + 1, versions - 6))) :] *= rng.choice(
            [0.8, 1.2, 1.5]
        )
    level[np.flatnonzero(rng.random(boards) < 0.3), 3 * versions // 5 : 3 * versions // 4] *= 1.15
    noise = rng.standard_t(3, (boards, versions)) / math.sqrt(3)
    for n in range(1, versions):
        noise[:, n] = DEPENDENCE * noise[:, n - 1] + math.sqrt(1 - DEPENDENCE**2) * noise[:, n]
    values = base[:, None] * level * np.exp(NOISE * noise)
    values[rng.random((boards, versions)) < 0.04] = np.nan
    return np.asarray(values, np.float64)


def campaign(
    folder: Path, rows: Iterable[tuple[str, float]], version: int, *, candidate: str = "debian-rt", kernel: str = ""
) -> Path:
    """A finished campaign of boards, each with its p99 in ns; version 0 was measured on 2026-01-01, one more a day
    later."""
    rng = np.random.default_rng([2, version])
    began = str(np.datetime64("2026-01-01") + version)
    texts = ["", *FIGURES, "ns", "order statistics of the runs", "samples give a maximum no upper end", "{}"]
    place = {text: n for n, text in enumerate(texts)}
    facts = json.dumps({"governor": "performance", "temperature_millicelsius": f"{50_000 + 100 * version}"})
    groups, verdicts = [], []
    for board, p99 in rows:
        figures: list[Row] = []
        for name, (by, wide) in FIGURES.items():
            value = round(p99 * by * math.exp(rng.normal(0, 0.01 * wide)), 1)
            far, method = NOISE * wide * value, place["order statistics of the runs"]
            ends = (None, None, -1) if name == "max" else (value - far, value + far, method)
            why = place["samples give a maximum no upper end"] if name == "max" else -1
            figures.append((place[name], place["ns"], value, 10_000, 10, *ends, why, 4 if name == "max" else 0))
        groups.append(
            GroupDigest.model_construct(
                instrument="cyclictest", load="hackbench", board=board, cpus=1, candidate=candidate, names=[],
                kernels=[kernel or f"6.{version}.0-rt1 #1 SMP PREEMPT_RT"], machine=len(texts), timing=Timing.REAL,
                runs=10, planned=10, samples=10_000, drawn=f"{board} {version} {p99}", began=f"{began}T06:00:00+00:00",
                ended=f"{began}T07:00:00+00:00", problems=[], caveats=[], series=["latency"],
                conditions=place["{}"], figures=figures,
            )
        )  # fmt: skip
        worst = figures[2][2]
        outcome = Outcome.MET if worst <= LIMIT_NS else Outcome.NOT_MET
        gate = JudgedRequirement(
            requirement="wake-up under load", outcome=outcome, value=worst, unit="ns",
            reason=f"{worst / 1000:.4g} us of 100 us",
        )  # fmt: skip
        standing = StandingDigest(candidate=candidate, may_fly=outcome, seen=outcome, rank=1, score=None, gates=[gate])
        verdicts.append(
            VerdictDigest(board=board, ground=Ground.FLIGHT, headline=f"{candidate}: {outcome}", standings=[standing])
        )
    body = Body.model_construct(mission="lab", scale="demo", texts=[*texts, facts], groups=groups, verdicts=verdicts)
    return _kept(folder, body, f"{folder.name} {version}")


def lab(folder: Path, boards: int, versions: int) -> list[Path]:
    """A campaign a version, of all boards."""
    values = levels(boards, versions)
    return [
        campaign(folder / f"v{n:03}", [(f"board-{b:03}", p99) for b, p99 in enumerate(values[:, n]) if p99 > 0], n)
        for n in range(versions)
    ]


def _kept(folder: Path, body: Body, drawn: str) -> Path:
    folder.mkdir(parents=True)
    mission = mission_text("debian-rt").encode()
    (folder / "mission.toml").write_bytes(mission)
    told = CampaignFile(
        mission_sha256=hashlib.sha256(mission).hexdigest(), scale=body.scale, records=[], failures=[],
        files={"drawn": hashlib.sha256(drawn.encode()).hexdigest()}, manifests={},
    ).hashed()  # fmt: skip
    (folder / NAME).write_text(told.model_dump_json(indent=1, exclude={"sealed"}) + "\n")
    content = digest.as_file(told.sha256 or "", body)
    digest.note(content)
    (folder / digest.NAME).write_bytes(content)
    return folder


def hostile(folder: Path, names: Sequence[str], versions: int = 8) -> list[Path]:
    """Boards, candidates and kernels with such names."""
    return [
        campaign(
            folder / f"v{n}",
            [(name, 40_000.0 + 7 * n) for name in names],
            n,
            candidate=names[0],
            kernel=f"{names[-1]} {n}",
        )
        for n in range(versions)
    ]
