# SPDX-License-Identifier: MIT
"""`rtqual bisect` over kernel configurations: each step is resolved and built, from a tree that builds in a second.

No guest: what a step measures is read off the configuration that it was built with.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.architecture import AMD64
from rtqual.base.cache import cache_dir
from rtqual.base.errors import BadInput
from rtqual.engine.campaign.folder import KeptCampaign, Result
from rtqual.engine.campaign.plan import plan
from rtqual.engine.campaign.run import Watcher
from rtqual.engine.kernel.config import parse
from rtqual.engine.mission import Candidate, load_mission
from rtqual.parts.bisect import bisect as stage
from rtqual.parts.bisect.ends import End, Ends, EndsAsked
from rtqual.parts.tailor.configure.rules import wishes
from rtqual.protocols.record.schema import Measurement, Record, Series
from rtqual.protocols.record.store import Store
from support.kernel_trees import write_tree
from support.small_kernel import MAKEFILE
from support.store_records import INPUTS, record

INERT = tuple(f"INERT_{number}" for number in range(12))
MISSION = """\
[mission]
name = "two"
title = "Two kernels"
purpose = "Which setting is it?"
duration = "1 min"

[[candidate]]
name = "good"
title = "good"
tailor.source = "{tree}"

[[candidate]]
name = "bad"
title = "bad"
boot = ["nowatchdog"]
tailor.source = "{tree}"

[[scale.demo.plan]]
instruments = ["cyclictest"]
loads = ["none"]
runs = 2
"""
LATE = """\
config CHECKS
    bool "What checks rest on"

config SLOW_CHECK
    bool "A slow check"
    depends on CHECKS

config LONG
    bool "Long"
"""


def kconfig() -> str:
    """All that a kernel's user land asks for, what moves the tail, and what does not."""
    asked = {wish.symbol for wish in wishes((), AMD64, (6, 12))} - {"MODULES"}
    own = "".join(f'config {name}\n    bool "{name}"\n\n' for name in sorted(asked))
    return own + "".join(f'config {name}\n    bool "{name}"\n\n' for name in INERT[:6]) + LATE + "".join(
        f'\nconfig {name}\n    bool "{name}"\n' for name in INERT[6:]
    )  # fmt: skip


@pytest.fixture
def ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ends:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tree = write_tree(tmp_path / "tree", kconfig())
    (tree.path / "main.c").write_text("int main(void) { return 0; }\n")
    rules = MAKEFILE.partition("bzImage:")[2]
    with (tree.path / "Makefile").open("a") as file:
        file.write("CC ?= gcc\nbzImage:" + rules)
    (tmp_path / "two.toml").write_text(MISSION.format(tree=tree.path))
    mission = load_mission(tmp_path / "two.toml")
    asked = "".join(f"CONFIG_{wish.symbol}=y\n" for wish in wishes((), AMD64, (6, 12)) if wish.value == "y")
    late = "".join(f"CONFIG_{name}=y\n" for name in (*INERT, "CHECKS", "SLOW_CHECK", "LONG"))
    campaign = KeptCampaign(mission, "demo", Result((), {}, {"good": asked, "bad": asked + late}))
    good, bad = (
        End(campaign, one, (late_by(1, 10_000), late_by(2, 10_000))) for one in mission.candidates
    )  # fmt: skip
    cells = tuple(one for one in plan(mission, "demo") if one.candidate == good.candidate and not one.repeat)
    return Ends(good, bad, cells, EndsAsked(source=str(tree.path)))


def late_by(seed: int, ns: int, candidate: str = "an end") -> Record:
    inputs = INPUTS.model_copy(update={"seed": seed, "load": "none", "candidate": candidate})
    return record(Measurement((Series.counted({8_000: 90, ns + seed: 10}, name="latency"),)), inputs)


def measured_by(moves: "dict[str, int]", seen: list[Candidate]):  # type: ignore[no-untyped-def]
    def measured(self: stage._Bisecting, candidate: Candidate) -> list[Record]:
        assert candidate.tailor is not None
        seen.append(candidate)
        config = parse(Path(candidate.tailor.start).read_text(), "a step")
        ns = 10_000 + sum(add for names, add in moves.items() if all(config.on(name) for name in names.split("+")))
        found = [late_by(seed, ns, candidate.name) for seed in (1, 2)]
        for one in found:
            Store(self.folder / "records").write(one)
        return found

    return measured


def bisected(ends: Ends, folder: Path, monkeypatch: pytest.MonkeyPatch, moves: dict[str, int]) -> stage.Bisection:
    seen: list[Candidate] = []
    monkeypatch.setattr(stage._Bisecting, "_measured", measured_by(moves, seen))
    found = stage.bisect(ends, folder, Watcher())
    assert not any(step.why for step in found.steps), [step.why for step in found.steps]
    built = {path.parent for path in (cache_dir() / "kernels").glob("*/built")}
    configs = {Path(one.tailor.start).name for one in seen if one.tailor}
    assert len(built) == len(configs), "a kernel of each configuration"
    before = len(seen)
    assert stage.bisect(ends, folder, Watcher()) == found and len(seen) == before, "nothing is measured twice"
    return found


@pytest.mark.full
def test_a_symbol_is_found_with_what_it_rests_on(ends: Ends, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = bisected(ends, tmp_path / "out", monkeypatch, {"SLOW_CHECK": 30_000})
    assert len(found.changes) == len(INERT) + 4  # a kernel parameter too
    assert found.acting == (("SLOW_CHECK=y",),)
    assert found.rest_moves is False and found.alone is not None and found.alone.value == 40_001.5
    foreseen = stage.foresee(ends, tmp_path / "out", Watcher())
    assert foreseen.builds and len(found.steps) <= foreseen.kernels == 8


@pytest.mark.full
def test_symbols_that_act_together_are_found(ends: Ends, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = bisected(ends, tmp_path / "out", monkeypatch, {"SLOW_CHECK+INERT_3": 30_000, "LONG": 1_000})
    assert found.acting == (("INERT_3=y",), ("SLOW_CHECK=y",))
    assert found.rest_moves is False
    swapped = replace(ends, good=ends.bad, bad=ends.good)
    assert stage.bisect(swapped, tmp_path / "back", Watcher()).acting == ()


def test_a_tree_that_only_a_campaign_names_is_not_run(ends: Ends, tmp_path: Path) -> None:
    """The folder may be a stranger's, and its mission name a tree that came with it: its makefiles run as the user."""
    with (tmp_path / "tree/Makefile").open("a") as file:
        file.write(f"\n$(shell touch {tmp_path}/ran)\n")
    boot = replace(ends.bad, campaign=ends.good.campaign, candidate=ends.good.candidate)
    for bad in (ends.bad, boot):
        with pytest.raises(BadInput, match=r"built from the tree .*/tree: name it with --source where it is yours"):
            stage.foresee(replace(ends, bad=bad, asked=EndsAsked()), tmp_path / "out", Watcher())
    assert not (tmp_path / "ran").exists()
