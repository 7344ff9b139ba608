# SPDX-License-Identifier: MIT
"""`rtqual gate`: a baseline and what is measured now, from their folders to what got worse."""

from pathlib import Path

from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.analysis.regression.course import Regressions
from rtqual.engine.analysis.regression.regressions import Side, regressions
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.find import find
from rtqual.protocols.record.store import read
from rtqual.reports.machine.junit import gate_junit
from rtqual.stages.selection import evidence_of


def gate(
    baseline: Path, current: Path | None, *, tolerance_percent: float = 0.0, mission_only: bool, strict: bool
) -> Regressions:
    """Raises BadInput where there is nothing to judge, or it cannot be compared."""
    check_tolerance(tolerance_percent)
    before, after = _side(baseline), _side(current or _only_campaign(baseline))
    return regressions(before, after, tolerance=tolerance_percent / 100, mission_only=mission_only, strict=strict)


def check_tolerance(percent: float) -> None:
    """Raises BadInput for what no gate takes."""
    if not 0 <= percent < 100:
        raise BadInput(f"--tolerance {percent:g}: write a percentage from 0 to less than 100")


def write_junit(found: Regressions, file: Path) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(gate_junit(found))
    except OSError as error:
        raise RunFailed(f"--junit {file}: cannot be written: {error.strerror}; choose another file") from None


def _side(what: Path) -> Side:
    """A finished campaign's records are those it ended with; its folder may hold more."""
    if not (what / kept.CAMPAIGN).exists():
        return Side(str(what), [read(path) for path in find(what)])
    campaign = kept.load(what)
    result = campaign.result
    return Side(str(what), result.records, campaign.mission, evidence_of(campaign), result.failures)


def _only_campaign(baseline: Path) -> Path:
    """What a CI job has just measured. Of several the newest is not taken: caches and artefacts lose their times."""
    found = [path.parent for path in sorted(kept.OUT.glob(f"*/{kept.CAMPAIGN}"))]
    found = [path for path in found if path.resolve() != baseline.resolve()]
    if len(found) == 1:
        return found[0]
    several = f"several finished campaigns below {kept.OUT}/ ({', '.join(path.name for path in found)})"
    raise BadInput(f"{several if found else f'no finished campaign below {kept.OUT}/'}: name what to judge as CURRENT")
