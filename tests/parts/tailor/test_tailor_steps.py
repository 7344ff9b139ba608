# SPDX-License-Identifier: MIT
"""The stepwise mode: its mission, the configurations it begins with, object files kept between builds, its table."""

from pathlib import Path

import pytest

from rtqual.engine.analysis.figure.model import Figure, Group, Interval, Summary
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.kernel.config import parse
from rtqual.engine.mission import Candidate, Mission, Tailor, load_mission
from rtqual.parts.tailor.chapter_steps import chain
from rtqual.parts.tailor.configure.kconfig import Kconfig
from rtqual.parts.tailor.configure.resolve import resolve_wishes
from rtqual.parts.tailor.configure.restore import falling
from rtqual.parts.tailor.configure.rules import Removal, Wish, removals
from rtqual.parts.tailor.make.build import build
from rtqual.parts.tailor.stage import STEPWISE, step_by_step, tailored
from rtqual.parts.tailor.tailor_account import ACCOUNTS, Account, Accounts
from rtqual.protocols.record.schema import Timing
from support.command import mission_text
from support.kernel_trees import write_tree
from support.small_kernel import CONFIG, MAKEFILE, small_tree
from support.written_report import write_report

MISSION = Path(__file__).parents[3] / "docking/missions/docking.toml"
GROUPS = tuple(dict.fromkeys(entry.group for entry in removals()))


def steps_of(mission: Mission) -> tuple[Mission, list[tuple[Candidate, Tailor]]]:
    steps = step_by_step(mission, "tailor")
    return steps, [(c, c.tailor) for c in tailored(steps, STEPWISE) if c.tailor]


def test_each_step_removes_a_group_more_and_the_last_is_the_tailored_kernel() -> None:
    mission = load_mission(MISSION)
    candidate, *_ = tailored(mission, "tailor")
    steps, added = steps_of(mission)
    assert len(added) == len(GROUPS) + 1 and len(GROUPS) > 3
    left = [set(wanted.restore) for _, wanted in added]
    assert left[0] == {entry.id for entry in removals()} and left[-1] == set()
    for number, group in enumerate(GROUPS):
        assert left[number] - left[number + 1] == {entry.id for entry in removals() if entry.group == group}
    names = [c.name for c, _ in added]
    assert [steps.baseline(c) for c, _ in added] == ["debian-rt-6-12", *names[:-1]]
    last = added[-1][1]
    assert candidate.tailor and last.model_copy(update={"baseline": None, "goals": {}}) == candidate.tailor.model_copy(
        update={"baseline": None, "goals": {}}
    )


def test_a_mission_that_starts_at_debians_configuration_keeps_what_is_left(tmp_path: Path) -> None:
    path = tmp_path / "mission.toml"
    table = '[candidate.tailor]\nstart = "debian"\nkeep = ["sound"]\nforbid = ["NFS_FS"]\nrequire.HZ_1000 = "y"\n'
    plan = '[[scale.tailor.plan]]\ncandidates = ["x"]\ninstruments = ["footprint"]\nruns = 1\n'
    path.write_text(f'{mission_text("debian-rt")}\n[[candidate]]\nname = "x"\ntitle = "X"\n{table}\n{plan}')
    _, added = steps_of(load_mission(path))
    kept = [set(wanted.keep) for _, wanted in added]
    assert kept[0] == {entry.id for entry in removals()} and kept[-1] == {"sound"}
    assert len(added) == len(GROUPS), "a group that is kept as a whole has no step"
    for _, wanted in added:
        assert (wanted.start, wanted.restore, wanted.forbid) == ("debian", (), ("NFS_FS",))
        assert wanted.require == {"HZ_1000": "y"}


# --- what an entry was ------------------------------------------------------------------------------------------------

KCONFIG = """\
menuconfig SOUND
    tristate "Sound"

if SOUND
config SND_USB
    tristate "USB sound"
    depends on USB
config SND_I2C
    tristate "sound on I2C"
    depends on I2C
config SND_OTHER
    tristate "not in Debian"
endif

config TOY
    tristate "Toy"
    depends on SOUND || INPUT

config INPUT
    tristate "Input"

config NOISE
    bool "only without sound"
    depends on !SOUND

config USB
    bool "USB"

config I2C
    bool "I2C"
"""
DEBIAN = (
    "CONFIG_SOUND=m\nCONFIG_SND_USB=m\nCONFIG_SND_I2C=m\nCONFIG_INPUT=y\nCONFIG_TOY=m\nCONFIG_I2C=y\nCONFIG_USB=y\n"
)


def entry(symbol: str, *along: str) -> Removal:
    return Removal(symbol.lower(), f"Menu -> {symbol}", symbol.lower(), (symbol,), "for a reason", along=along)


def test_what_falls_with_a_symbol(tmp_path: Path) -> None:
    kconfig = Kconfig(write_tree(tmp_path / "tree", KCONFIG))
    assert falling(kconfig, {"SOUND"}) == {"SOUND", "SND_USB", "SND_I2C", "SND_OTHER"}
    assert falling(kconfig, {"SOUND", "INPUT"}) == {"SOUND", "SND_USB", "SND_I2C", "SND_OTHER", "INPUT", "TOY"}


@pytest.mark.parametrize(
    ("restore", "expected"),
    [
        ([], {}),
        ([entry("SOUND")], {"SOUND": "m", "SND_USB": "m"}),
        ([entry("SOUND", "I2C")], {"SOUND": "m", "SND_USB": "m", "SND_I2C": "m", "I2C": "y"}),
        ([entry("INPUT")], {"INPUT": "y"}),
        ([entry("INPUT"), entry("SOUND")], {"SOUND": "m", "SND_USB": "m", "INPUT": "y", "TOY": "m"}),
    ],
)
def test_entries_are_put_in_as_debian_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, restore: list[Removal], expected: dict[str, str]
) -> None:
    """What Debian has off, and what lacks something here, stays off; the rest of the list goes."""
    monkeypatch.setattr("rtqual.parts.tailor.configure.start._debian", lambda _: DEBIAN)
    tree = write_tree(tmp_path / "tree", KCONFIG)
    gone = [one for one in (entry("SOUND"), entry("INPUT")) if one.id not in {r.id for r in restore}]
    wishes = [Wish(name, "y", "usb", "for the test") for name in ("USB", "MODULES")]
    found = resolve_wishes(tree, wishes, start="minimal", removals=gone, restore=restore, folder=tmp_path / "out")
    names = ("SOUND", "SND_USB", "SND_I2C", "SND_OTHER", "INPUT", "TOY", "I2C")
    assert {name: found.config[name] for name in names if found.config.on(name)} == expected
    assert found.config["USB"] == "y" and not found.kept


@pytest.mark.manual  # about a minute: the kernel's own program, on Debian's source
def test_the_whole_list_in_the_docking_kernel(tmp_path: Path) -> None:
    from rtqual.parts.tailor.configure.resolve import resolve
    from rtqual.parts.tailor.configure.tree import debian_tree

    needs = (
        *("realtime", "usb", "usb-storage", "wifi", "depth-camera"),
        *("filesystems", "virtual-board", "test-modules", "resets"),
    )
    found = resolve(debian_tree(), needs, start="minimal", removals=[], restore=removals(), folder=tmp_path / "out")
    config = parse(found.config_path.read_text(), "the configuration")
    absent = {"BT", "INPUT", "RC_CORE", "DVB_CORE", "SOUND", "SND_HDA_INTEL", "USB_ACM", "USB_LEGOTOWER"} - {*config}
    assert not absent and len(config) > 1500


# --- object files that stay -----------------------------------------------------------------------------------------


def test_object_files_that_stay_give_the_same_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = small_tree(tmp_path / "tree")
    makefile = MAKEFILE.replace("bzImage:\n", "bzImage:\n\t@touch $(O)/seen-$(words $(wildcard $(O)/seen-*))\n")
    (tree.path / "Makefile").write_text(makefile)
    made = []
    for place in ("one", "two"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / place))
        kept = tmp_path / "objects" if place == "one" else None
        made += [build(tree, CONFIG + more, kept_objects=kept) for more in ("", "CONFIG_USB=y\n")]
    assert [one.sha256 for one in made[:2]] == [one.sha256 for one in made[2:]]
    assert (tmp_path / "objects/seen-1").exists(), "the second build went on from the first"
    assert not list((tmp_path / "two").rglob("*.objects"))


# --- the report -----------------------------------------------------------------------------------------------------


def account(name: str, baseline: str | None, symbols: int) -> Account:
    return Account(
        candidate=name, baseline=baseline, source="linux-source-6.12", version="6.12", release="6.12",
        architecture="amd64", start="minimal", compiler="gcc 12", sha256="c0ffee", files_compiled=1,
        symbols_on=symbols, modules=(), entries=(), changes=(), explanations=(),
    )  # fmt: skip


def test_a_chain_of_kernels_is_found() -> None:
    one, two, three = account("a", "debian", 9), account("b", "a", 8), account("c", "b", 7)
    assert chain([one, two, three]) == (one, two, three)
    assert chain([account("x", "debian", 9), one, two, three]) == (one, two, three)
    assert chain([one, two]) == () and chain([one, three]) == () and chain([]) == ()


def test_the_report_shows_what_each_group_gained(tmp_path: Path) -> None:
    names = ["all", "networking", "sound"]
    mission = Mission.model_validate(
        {
            "mission": {"name": "docking", "title": "Docking", "purpose": "Docks.", "duration": 10**9},
            "candidate": [{"name": name, "title": name, "tailor": {}} for name in names],
            "scale": {"stepwise": {"plan": [{"instruments": ["footprint"], "runs": 1}]}},
        }
    )
    summaries = []
    for number, name in enumerate(names):
        size = Figure(4_000_000 - 1_048_576 * number, "B", 1, 1, None, "1 run")
        group = Group("footprint", "none", "virtual", 1, name)
        summaries.append(Summary(group, Timing.UNTESTED, 1, 0, {"image_size": size}, None))
        late = {"p99": Figure(14_000 - 1_000 * number, "ns", 3000, 10, Interval(1, 2, "order statistics"))}
        group = Group("cyclictest", "hackbench", "virtual", 1, name)
        summaries.append(Summary(group, Timing.UNTESTED, 10, 3000, late, None))
    accounts = [
        account(name, before, 900 - n) for n, (name, before) in enumerate(zip(names, [None, *names], strict=False))
    ]
    evidence = Evidence(tuple(summaries), (), (), scale="stepwise")
    write_report(tmp_path, mission, evidence, [], {}, ("md",), None, {ACCOUNTS.file: Accounts(kernels=tuple(accounts))})
    text = (tmp_path / "report.md").read_text().replace("\u00a0", " ")
    table = text[text.index("Step by step") :]
    rows = {line.split("|")[1].strip(): line for line in table.splitlines() if line.startswith("| ")}
    assert "-1 MiB" in rows["networking"] and "-1 MiB" in rows["sound"] and "-1 MiB" not in rows["all"]
    assert "-1 µs" in rows["sound"] and "898" in rows["sound"] and "-1" in rows["sound"]
