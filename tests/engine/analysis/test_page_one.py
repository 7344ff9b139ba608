# SPDX-License-Identifier: MIT
"""What stands under a headline: what candidates do not have in common, and what a score rests on."""

from collections.abc import Sequence
from typing import Any

import pytest

from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.mission import Mission
from rtqual.face.terminal.verdict import as_dict
from rtqual.protocols.record.schema import Record, Timing
from rtqual.reports.machine.github import to_github
from rtqual.reports.machine.prometheus import to_prometheus
from rtqual.reports.material import gather
from rtqual.reports.page.render import to_html, to_markdown
from rtqual.reports.view import build
from rtqual.stages.selection import Selection
from support.analysis_records import WAKE_UP, maxima, mission, wakeups

BOOT = {"rt": "quiet mitigations=off idle=poll isolcpus=1", "stock": "quiet"}
RANGE = {"name": "range", "instrument": "cyclictest", "load": "hackbench", "statistic": "max-min"}
NOT_MEASURED = {"name": "memory", "instrument": "footprint", "scalar": "ram_used"}


def booted(one: Record, cmdline: str) -> Record:
    provenance = one.manifest.provenance.model_copy(update={"kernel_cmdline": cmdline})
    return Record(one.manifest.model_copy(update={"provenance": provenance}), one.series)


def records(boot: dict[str, str] = BOOT, stock_runs: int = 10) -> list[Record]:
    runs = {"rt": maxima(20_000, 22_000), "stock": maxima(60_000, 66_000, stock_runs)}
    return [booted(one, boot[name]) for name, some in runs.items() for one in wakeups(name, some)]


def texts(asked: Mission, found: Evidence, taken: Sequence[Record]) -> list[str]:
    document = build(gather(asked, found, [one.manifest for one in taken], {}))
    return [to_html(document), to_markdown(document), to_github(asked, found)]


def test_boot_parameters_of_one_candidate_stand_in_every_output() -> None:
    asked = mission(requirements=[WAKE_UP])
    found = analyse(asked, "demo", records(), {})
    (verdict,) = found.verdicts
    (told,) = [one for one in verdict.differs if "idle=poll" in one]
    assert "mitigations=off" in told and "isolcpus=1" in told and "quiet" not in told
    for text in texts(asked, found, records()):
        assert "idle=poll" in text.replace("\\", "")


def test_candidates_that_are_alike_differ_in_nothing() -> None:
    found = analyse(
        mission(requirements=[WAKE_UP], accept_virtual=False), "demo", records(dict.fromkeys(BOOT, "quiet")), {}
    )
    assert found.verdicts[0].differs == ()


def changed(one: Record, *, tools: dict[str, str], qemu: str, **said: Any) -> Record:
    """Measured with these programs and this emulator."""
    provenance = one.manifest.provenance.model_copy(update={"tools": tools})
    inputs = one.inputs.model_copy(update={"artefacts": {**one.inputs.artefacts, "qemu": qemu}})
    told = {"provenance": provenance, "inputs": inputs, **said}
    return Record(one.manifest.model_copy(update=told), one.series)


def test_that_nothing_else_differs_is_said_with_what_was_looked_at() -> None:
    asked = mission(requirements=[WAKE_UP])
    alike = [changed(one, tools={"cyclictest": "2.5"}, qemu="7.2") for one in records(dict.fromkeys(BOOT, "quiet"))]
    found = analyse(asked, "demo", alike, {})
    for text in texts(asked, found, alike):
        told = text.replace("\\", "").replace("&#39;", "'")
        assert "Besides their kernels the records show no difference" in told
        assert all(
            what in told for what in ("boot parameters", "QEMU", "programs that measure and load", "runs of each")
        )
    other = [
        Record(one.manifest.model_copy(update={"inputs": one.inputs.model_copy(update={"load": "none"})}), one.series)
        for one in alike[10:]
    ]
    (verdict,) = analyse(asked, "demo", [*alike[:10], *other], {}).verdicts
    (told,) = [caveat for caveat in verdict.caveats if "show no difference" in caveat]
    assert "settings" not in told, "no cell was measured of both"
    (verdict,) = analyse(mission(["rt"], requirements=[WAKE_UP]), "demo", alike[:10], {}).verdicts
    assert not any("show no difference" in caveat for caveat in verdict.caveats)


def test_a_candidate_that_was_measured_by_other_programs_or_settings_is_told() -> None:
    asked, taken = mission(requirements=[WAKE_UP]), records(dict.fromkeys(BOOT, "quiet"))
    own = [
        changed(one, tools={"cyclictest": "2.5" if one.inputs.candidate == "rt" else "2.4"}, qemu=qemu)
        for one, qemu in zip(taken, ["7.2"] * 10 + ["10.0"] * 10, strict=True)
    ]
    (verdict,) = analyse(asked, "demo", own, {}).verdicts
    assert "QEMU: rt 7.2; stock 10.0" in verdict.differs
    assert "Programs that measure and load: rt cyclictest 2.5; stock cyclictest 2.4" in verdict.differs
    assert any(caveat.startswith("Otherwise alike: boot parameters") for caveat in verdict.caveats)
    settings = [{"priority": 1}] * 10 + [{"priority": 99}] * 10
    inputs = [one.inputs.model_copy(update={"parameters": its}) for one, its in zip(taken, settings, strict=True)]
    other = [
        Record(one.manifest.model_copy(update={"inputs": its}), one.series)
        for one, its in zip(taken, inputs, strict=True)
    ]
    (verdict,) = analyse(asked, "demo", other, {}).verdicts
    assert "Settings of cyclictest under hackbench on 1 CPU: rt priority 1; stock priority 99" in verdict.differs


def test_what_a_caveat_says_in_brackets_stays() -> None:
    said = "task control: 3 of 40 jobs (those under load) were released by no timer"
    taken = [changed(one, tools={}, qemu="7.2", cautions=[said]) for one in records()]
    (verdict,) = analyse(mission(requirements=[WAKE_UP]), "demo", taken, {}).verdicts
    assert f"Everything measured: {said}." in verdict.caveats


def test_other_numbers_of_runs_and_old_records_are_told() -> None:
    taken = records(dict.fromkeys(BOOT, "quiet"), stock_runs=8)
    old = Record(taken[0].manifest.model_copy(update={"schema_version": 1}), taken[0].series)
    found = analyse(mission(requirements=[WAKE_UP], accept_virtual=False), "demo", [old, *taken[1:]], {})
    runs, version = sorted(found.verdicts[0].differs, reverse=True)[0], found.verdicts[0].differs[0]
    assert "rt 10 runs" in runs and "stock 8 runs" in runs
    assert version.endswith("rt")


def test_accepted_instructions_pass_and_nobody_flies() -> None:
    asked = mission(["rt"], requirements=[WAKE_UP], accept_virtual=True)
    taken = [one for one in records() if one.inputs.candidate == "rt"]
    found = analyse(asked, "demo", taken, {})
    assert found.answer and found.answer.headline.startswith("rt passes on the emulator")
    told = as_dict(Selection(found, len(taken), {}, ()))
    answer, (verdict,) = told["answer"], told["verdicts"]  # type: ignore[misc]
    assert (answer["fly"], verdict["fly"], verdict["passes_on_emulator"]) == (None, None, "rt")  # type: ignore[index]
    metrics = to_prometheus(asked, found).splitlines()
    assert [line[-3:] for line in metrics if line.startswith("rtqual_fly{")] == ["0.0"]
    assert [line[-3:] for line in metrics if line.startswith("rtqual_passes_on_emulator{")] == ["1.0"]
    for text in texts(asked, found, taken):
        assert "leared to fly rt" not in text


@pytest.mark.parametrize(
    ("weight", "share", "scores"), [(1.0, 0.5, True), (1.1, 1 / 2.1, False), (16.0, 1 / 17, False)]
)
def test_a_score_by_less_than_half_of_the_weight_is_not_in_the_headline(
    weight: float, share: float, scores: bool
) -> None:
    criteria = [{**RANGE, "weight": 1.0}, {**NOT_MEASURED, "weight": weight}]
    asked = mission(requirements=[WAKE_UP], criteria=criteria)
    (verdict,) = analyse(asked, "demo", records(), {}).verdicts
    assert verdict.scored == pytest.approx(share)
    assert ("scores" in verdict.headline) == scores
    assert ("%" in verdict.headline.partition("scores")[2]) == scores
    shares = [line for line in to_prometheus(asked, analyse(asked, "demo", records(), {})).splitlines()
              if line.startswith("rtqual_score_share{")]  # fmt: skip
    assert len(shares) == 2


def test_the_evidence_is_told_against_the_missions_duration() -> None:
    taken = wakeups("rt", [20_000] * 10, n=300, parameters={"interval": 1_000_000})
    (verdict,) = analyse(mission(["rt"], requirements=[WAKE_UP]), "demo", taken, {}).verdicts
    (told,) = [one for one in verdict.caveats if "wake-ups" in one]
    assert "3 s were measured, 3,000 wake-ups without a miss. The critical phase, 60 min, has 3,600,000" in told
    assert "fewer than 3,594 misses" in told  # 1 - 0.05 ** (1 / 3000) of them: the rule of three
    assert "if wake-ups are independent and the board is no later than the emulator" in told
    real = wakeups("rt", [20_000] * 10, board="pi", timing=Timing.REAL, parameters={"interval": 1_000_000})
    every = analyse(mission(["rt"], requirements=[WAKE_UP]), "demo", real, {}).verdicts
    assert any("(95 %, if wake-ups are independent)" in one for verdict in every for one in verdict.caveats)
    late = wakeups("rt", [200_000] * 10, n=300, parameters={"interval": 1_000_000})
    (verdict,) = analyse(mission(["rt"], requirements=[WAKE_UP]), "demo", late, {}).verdicts
    assert not [one for one in verdict.caveats if "wake-ups" in one]
