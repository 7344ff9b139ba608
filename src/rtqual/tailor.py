# SPDX-License-Identifier: MIT
"""`rtqual tailor`: cut a kernel down to the mission, build it, and measure it beside the kernel it replaces.

A tailored kernel is a candidate like any other, so this is `rtqual select` at a scale whose plans name one.
"""

import json
from pathlib import Path

from rtqual.campaign import Watcher
from rtqual.errors import BadInput, RunFailed
from rtqual.kept import content_of
from rtqual.kernel.rules import removals
from rtqual.mission import Candidate, Mission, load_mission
from rtqual.select import Selection, select

SCALE, STEPWISE = "tailor", "stepwise"


def tailor(mission: Mission, scale: str, folder: Path, watcher: Watcher, *, workers: int = 2) -> Selection:
    """Resolve, build, boot, measure before and after, report."""
    if not tailored(mission, scale):
        raise BadInput(
            f"{mission.path or mission.mission.name}: scale {scale!r} measures no tailored kernel: give a candidate a "
            "table [candidate.tailor] and name it in a plan of the scale (docs/tailor.md)"
        )
    return select(mission, scale, folder, watcher, workers=workers)


def tailored(mission: Mission, scale: str) -> list[Candidate]:
    """The tailored kernels that a scale measures."""
    plans = mission.scale(scale).plan
    return [c for c in mission.candidates if c.tailor and any(c in mission.candidates_of(plan) for plan in plans)]


def stepwise(mission: Mission, text: str, scale: str = SCALE) -> str:
    """The mission's file with a candidate a removal group and a scale STEPWISE that measures them in order.

    The first step is Debian's configuration with the mission's needs; each further one takes a group of the removal
    list away, and is compared with the one before, so that each group's gain is known. Kernels of Debian's size are
    built, with all their modules: hours.
    """
    candidate = next(iter(tailored(mission, scale)), None)
    if candidate is None or candidate.tailor is None:
        raise BadInput(
            f"{mission.path or mission.mission.name}: no candidate with [candidate.tailor] in scale {scale!r}"
        )
    entries = removals()
    groups = list(dict.fromkeys(entry.group for entry in entries))
    before, added = mission.baseline(candidate), []
    for number in range(len(groups) + 1):
        name = f"{candidate.name}-{number:02d}-{groups[number - 1] if number else 'debian'}"
        keep = [entry.id for entry in entries if entry.group not in groups[:number]]
        title = f"without {groups[number - 1]}" if number else "Debian's configuration, with the mission's needs"
        lines = [f"name = {json.dumps(name)}", f"title = {json.dumps(title)}", "[candidate.tailor]"]
        lines += [f"source = {json.dumps(candidate.tailor.source)}", 'start = "debian"']
        lines += [f"needs = {json.dumps(candidate.tailor.needs)}", f"keep = {json.dumps(keep)}"]
        lines += [f"baseline = {json.dumps(before)}"] if before else []
        added.append("\n".join(["[[candidate]]", *lines]))
        before = name
    names = [line.split('"')[1] for one in added for line in one.splitlines() if line.startswith("name = ")]
    base = mission.baseline(candidate)
    plans = [
        f"[[scale.{STEPWISE}.plan]]\ncandidates = {json.dumps([*([base] if base else []), *names])}\n{what}"
        for what in (
            'instruments = ["cyclictest"]\nloads = ["none", "hackbench"]\nruns = 10\n'
            "parameters.cyclictest = { cycles = 1_000 }",
            'instruments = ["footprint"]\nruns = 1',
        )
    ]
    return "\n\n".join([text.rstrip(), *added, *plans]) + "\n"


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
