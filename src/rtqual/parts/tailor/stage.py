# SPDX-License-Identifier: MIT
"""`rtqual tailor`: cut a kernel down to the mission, build it, and measure it beside the kernel it replaces.

A tailored kernel is a candidate like any other, so this is `rtqual select` at a scale whose plans name one.
"""

from dataclasses import replace

from rtqual.base.architecture import AMD64, ARM64
from rtqual.base.errors import BadInput
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.run import Campaign, Watcher
from rtqual.engine.mission import Candidate, Mission, Plan, Scale, Tailor, TailorStart
from rtqual.parts.tailor.configure.rules import removals
from rtqual.parts.tailor.trim.stage import trim
from rtqual.parts.tailor.trim.trimmed import TRIMS, Trims
from rtqual.stages.selection import Selection, conclude, run

SCALE, STEPWISE = "tailor", "stepwise"
_TAILORED = "tailored"
# What a kernel is built for beyond a mission that does not say: the virtual board, and on ARM the Raspberry Pi.
_NEEDS = {
    AMD64: ("filesystems", "virtual-board", "test-modules", "resets"),
    ARM64: ("filesystems", "virtual-board", "test-modules", "raspberry-pi"),
}
_WAKE_UPS = Plan(
    instruments=("cyclictest",), loads=("none", "hackbench"), runs=10, parameters={"cyclictest": {"cycles": 1_000}}
)


def tailor(campaign: Campaign, watcher: Watcher, *, trimming: bool = False) -> Selection:
    """Resolve, build, boot, measure before and after, report; `trimming`: then find what else could go (trim.py)."""
    mission, scale, folder = campaign.mission, campaign.scale, campaign.folder
    check(mission, scale)
    with kept.alone(folder):
        content = kept.content_of(mission)
        ended = run(campaign, watcher)
        selection = conclude(ended, folder, anew=False)
        if not trimming:
            return selection
        kernels = [
            candidate for candidate in tailored(mission, scale) if not candidate.root
        ]  # the same kernel under two roots is one
        trims = Trims(kernels=tuple(trim(campaign, candidate, watcher) for candidate in kernels))
        result = replace(ended.result, annexes={**ended.result.annexes, TRIMS.file: trims})
        digest = kept.keep(folder, content, scale, result)
        return conclude(replace(ended, result=result, digest=digest), folder)


def begun(mission: Mission, scale: str = SCALE) -> Mission:
    """The mission itself; or where no candidate is tailored, with one beside its first kernel of Debian's, at SCALE."""
    if scale != SCALE or any(candidate.tailor for candidate in mission.candidates):
        return mission
    base = next(
        (candidate for candidate in mission.candidates if candidate.package and candidate.architecture in _NEEDS), None
    )
    if base is None or base.architecture is None:
        return mission  # check() says what is missing
    wanted = Tailor.model_validate(
        {"architecture": base.architecture.name, "needs": _NEEDS[base.architecture], "baseline": base.name}
    )
    named = {"name": _TAILORED, "title": "Tailored to the mission"}
    candidate = Candidate.model_validate({**named, "tailor": wanted, "board": base.on})
    wake_ups = _WAKE_UPS.model_copy(update={"candidates": (base.name, _TAILORED)})
    sizes = Plan(candidates=(base.name, _TAILORED), instruments=("footprint",), runs=1)
    changed = {
        "candidates": (*mission.candidates, candidate),
        "scales": {SCALE: Scale(plan=(wake_ups, sizes)), **mission.scales},
    }
    return mission.model_copy(update=changed).derived_from(mission)


def check(mission: Mission, scale: str) -> None:
    """Raises BadInput where a scale measures no tailored kernel."""
    if not tailored(mission, scale):
        raise BadInput(
            f"{mission.path or mission.mission.name}: scale {scale!r} measures no tailored kernel: give a candidate a "
            "table [candidate.tailor] and name it in a plan of the scale (docs/tailor.md)"
        )


def tailored(mission: Mission, scale: str) -> list[Candidate]:
    """The tailored kernels that a scale measures."""
    plans = mission.scale(scale).plan
    return [c for c in mission.candidates if c.tailor and any(c in mission.candidates_of(plan) for plan in plans)]


def step_by_step(mission: Mission, scale: str = SCALE) -> Mission:
    """The mission with a candidate a removal group and a scale STEPWISE that measures them in order.

    The first step is the mission's kernel with the whole removal list in it, as Debian has it; each further one takes
    a group away and is compared with the one before, so that each group's gain is known; the last is the tailored
    kernel. Where the mission starts at Debian's configuration the steps do, and are kernels of Debian's size: hours.
    """
    check(mission, scale)
    candidate = tailored(mission, scale)[0]
    assert candidate.tailor is not None, "a tailored candidate"  # noqa: S101
    entries = [entry for entry in removals() if entry.id not in candidate.tailor.keep]
    groups = list(dict.fromkeys(entry.group for entry in entries))
    base = before = mission.baseline(candidate)
    steps: list[Candidate] = []
    for number in range(len(groups) + 1):
        name = f"{candidate.name}-{number:02d}-{groups[number - 1] if number else 'all'}"
        left = tuple(entry.id for entry in entries if entry.group not in groups[:number])
        title = f"without {groups[number - 1]}" if number else "With the whole removal list, as Debian has it"
        wanted = _with(candidate.tailor, left, before)
        step = {"name": name, "title": title, "boot": candidate.boot, "tailor": wanted, "board": candidate.on}
        steps.append(Candidate.model_validate(step))
        before = name
    measured = (*([base] if base else []), *(step.name for step in steps))
    wake_ups = _WAKE_UPS.model_copy(update={"candidates": measured})
    plans = Scale(plan=(wake_ups, Plan(candidates=measured, instruments=("footprint",), runs=1)))
    changed = {"candidates": (*mission.candidates, *steps), "scales": {**mission.scales, STEPWISE: plans}}
    return mission.model_copy(update=changed).derived_from(mission)


def _with(wanted: Tailor, left: tuple[str, ...], before: str | None) -> Tailor:
    """What is asked of a step: the entries that are left stay, and there are no goals.

    Debian's configuration, or a file's, has the removal list in it; the smallest one gets it put in.
    """
    from_minimal = wanted.start == TailorStart.MINIMAL
    staying = {"restore": left} if from_minimal else {"keep": (*wanted.keep, *left)}
    return wanted.model_copy(update={**staying, "baseline": before, "goals": {}})
