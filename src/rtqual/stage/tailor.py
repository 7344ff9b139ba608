# SPDX-License-Identifier: MIT
"""`rtqual tailor`: cut a kernel down to the mission, build it, and measure it beside the kernel it replaces.

A tailored kernel is a candidate like any other, so this is `rtqual select` at a scale whose plans name one.
"""

import json
from pathlib import Path

from rtqual.base.errors import BadInput, RunFailed
from rtqual.campaign.folder import content_of
from rtqual.campaign.run import Watcher
from rtqual.kernel.configure.rules import removals
from rtqual.kernel.trim import trimmed
from rtqual.mission import Candidate, Mission, Tailor, TailorStart, load_mission
from rtqual.stage.select import Selection, report, select
from rtqual.stage.trim import trim

SCALE, STEPWISE = "tailor", "stepwise"


def tailor(
    mission: Mission, scale: str, folder: Path, watcher: Watcher, *, workers: int = 2, trimming: bool = False
) -> Selection:
    """Resolve, build, boot, measure before and after, report; `trimming`: then find what else could go (trim.py)."""
    check(mission, scale)
    selection = select(mission, scale, folder, watcher, workers=workers)
    if not trimming:
        return selection
    kernels = [one for one in tailored(mission, scale) if not one.root]  # the same kernel under two roots is one
    trimmed.write(folder, [trim(mission, scale, one, watcher) for one in kernels])
    return report(folder)


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


def stepwise(mission: Mission, text: str, scale: str = SCALE) -> str:
    """The mission's file with a candidate a removal group and a scale STEPWISE that measures them in order.

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
    names, added = [], []
    for number in range(len(groups) + 1):
        name = f"{candidate.name}-{number:02d}-{groups[number - 1] if number else 'all'}"
        left = tuple(entry.id for entry in entries if entry.group not in groups[:number])
        title = f"without {groups[number - 1]}" if number else "With the whole removal list, as Debian has it"
        added.append(_step(name, title, candidate, left, before))
        names.append(name)
        before = name
    measured = [*([base] if base else []), *names]
    plans = [
        f"[[scale.{STEPWISE}.plan]]\ncandidates = {json.dumps(measured)}\n{what}"
        for what in (
            'instruments = ["cyclictest"]\nloads = ["none", "hackbench"]\nruns = 10\n'
            "parameters.cyclictest = { cycles = 1_000 }",
            'instruments = ["footprint"]\nruns = 1',
        )
    ]
    return "\n\n".join([text.rstrip(), *added, *plans]) + "\n"


def _step(name: str, title: str, candidate: Candidate, left: tuple[str, ...], before: str | None) -> str:
    """A candidate like the tailored one, with the entries that are left; none of its goals."""
    assert candidate.tailor is not None, "a tailored candidate"  # noqa: S101
    staying = {"keep": (*candidate.tailor.keep, *left)} if _from_debian(candidate.tailor) else {"restore": left}
    wanted = candidate.tailor.model_copy(update={**staying, "baseline": before, "goals": {}})
    table = wanted.model_dump(mode="json", exclude_defaults=True)
    lines = [f"name = {json.dumps(name)}", f"title = {json.dumps(title)}"]
    lines += [f"boot = {json.dumps(candidate.boot)}"] if candidate.boot else []
    lines += ["[candidate.tailor]"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in table.items() if key != "require"]
    lines += [f"require.{symbol} = {json.dumps(value)}" for symbol, value in wanted.require.items()]
    return "\n".join(["[[candidate]]", *lines])


def _from_debian(wanted: Tailor) -> bool:
    """Whether the removal list is in where tailoring begins; what a file has in it nobody knows."""
    return wanted.start != TailorStart.MINIMAL


def step_by_step(mission: Mission, scale: str, folder: Path) -> Mission:
    """The mission of the stepwise mode, written into the campaign's folder."""
    text = stepwise(mission, content_of(mission).decode(), scale)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{STEPWISE}.toml"
        path.write_text(text)
    except OSError as error:
        raise RunFailed(f"{folder}: cannot be written ({error.strerror}): choose another folder with --out") from None
    return load_mission(path)
