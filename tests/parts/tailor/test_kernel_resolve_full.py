# SPDX-License-Identifier: MIT
"""From wishes and removals to a final configuration: Debian's real tree."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from rtqual.base.architecture import AMD64, ARM64, Architecture
from rtqual.engine.kernel.lint.judged_system import from_config
from rtqual.engine.kernel.lint.lint_rules import Severity, State, lint
from rtqual.engine.kernel.needs import check_needs
from rtqual.engine.mission import Need, load_mission
from rtqual.parts.tailor.configure.resolve import resolve
from rtqual.parts.tailor.configure.rules import groups, removals
from rtqual.parts.tailor.configure.tree import Tree, debian_tree

# The real tree. Debian's package is fetched and unpacked once (1.7 GB in the cache); a resolution takes 15 s of
# processor time, 13 of them in the kernel's own configuration program.

DOCKING = (
    *("realtime", "usb", "usb-storage", "wifi", "depth-camera"),
    *("filesystems", "virtual-board", "test-modules", "resets"),
)
HELD = (
    "PREEMPT_RT",
    "HIGH_RES_TIMERS",
    "USB",
    "USB_XHCI_HCD",
    "USB_VIDEO_CLASS",
    "USB_STORAGE",
    "CFG80211",
    "MAC80211",
    "INET",
    "EXT4_FS",
)


MISSIONS = Path(__file__).parents[3] / "missions"
OURS = ("filesystems", "virtual-board", "test-modules", "resets")


def complaints(config: Path) -> list[str]:
    """What the lint finds that costs latency."""
    found = lint(from_config(config.read_text(), "tailored", cpus=4))
    return [
        f"{one.rule.id}: {one.seen}" for one in found if one.state == State.FOUND and one.rule.severity != Severity.NOTE
    ]


@pytest.mark.full  # 14 s of processor each
@pytest.mark.parametrize(
    ("name", "architecture"),
    [("aarest-study", AMD64), ("dual-kernel", AMD64), ("uav-250hz", AMD64), ("", AMD64), ("", ARM64)],
    ids=["aarest-study", "dual-kernel", "uav-250hz", "every need", "every need on arm64"],
)
def test_the_lint_has_nothing_against_a_tailored_kernel(tmp_path: Path, name: str, architecture: Architecture) -> None:
    """Those of the docking missions: below."""
    own = load_mission(MISSIONS / f"{name}.toml").mission.needs if name else tuple(Need)
    found = resolve(
        debian_tree(architecture), ("realtime", *own, *OURS), start="minimal", removals=removals(), folder=tmp_path
    )
    assert complaints(found.config_path) == []
    assert [one.reason for one in check_needs(own, found.config_path.read_text()) if not one.ok] == []


def counting(made: list[str]) -> Callable[..., CompletedProcess[str]]:
    make = Tree.make

    def counted(tree: Tree, objects: Path, *targets: str, **more: Mapping[str, str]) -> CompletedProcess[str]:
        made.extend(targets)
        return make(tree, objects, *targets, **more)

    return counted


@pytest.mark.full
@pytest.mark.parametrize("architecture", [AMD64, ARM64], ids=lambda one: str(one.name))
@pytest.mark.parametrize("start", ["minimal", pytest.param("debian", marks=pytest.mark.manual)])
def test_the_docking_mission_on_debians_source(
    tmp_path: Path, architecture: Architecture, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In few runs of the kernel's own program, each 3 of the 15 s of processor that a resolution takes."""
    made: list[str] = []
    monkeypatch.setattr(Tree, "make", counting(made))
    tree = debian_tree(architecture)
    found = resolve(tree, DOCKING, start=start, removals=removals(), folder=tmp_path / "out")
    assert 3 <= len(made) <= 6
    for name in HELD:
        assert found.config.get(name) == "y", name
    assert found.config["MODULES"] == "y"
    assert start != "minimal" or complaints(found.config_path) == []
    states = {one.removal.id: one.state for one in found.outcomes}
    assert len(states) == 32
    assert {name for name, state in states.items() if state == "no longer exists"} == {
        "rio500",
        "usb-led",
        "cardbus-adapter",
    }
    assert {name: one.text for one in found.kept for name in one.held} == {}
    again = resolve(tree, DOCKING, start=found.config_path, removals=removals(), folder=tmp_path / "again")
    assert again.config == found.config, "a resolved configuration is resolved"


@pytest.mark.manual  # 16 s of processor each
@pytest.mark.parametrize("left", [(), ("graphics", "sound", "usb", "usb-misc"), groups()], ids=["none", "half", "all"])
def test_steps_from_debians_configuration_keep_what_is_left(tmp_path: Path, left: tuple[str, ...]) -> None:
    """As the stepwise mode asks for them where a mission starts there."""
    gone = [one for one in removals() if one.group not in left]
    found = resolve(debian_tree(AMD64), DOCKING, start="debian", removals=gone, folder=tmp_path)
    assert not found.kept
    assert all(found.config.get(name) == "y" for name in HELD)
    of_groups = {"networking": ("BT", "NFC"), "media": ("RC_CORE", "DVB_CORE"), "sound": ("SOUND", "SND_HDA_INTEL")}
    for group, names in of_groups.items():
        assert [found.config.on(name) for name in names] == [group in left] * 2, group


@pytest.mark.full
def test_the_traps_of_the_removal_list_on_debians_configuration(tmp_path: Path) -> None:
    """What stays on when the list is removed by hand is named with what holds it, and USB is not lost with it."""
    needs = ("usb",)
    camera = {"USB_VIDEO_CLASS": "m", "MEDIA_SUPPORT": "m"}
    found = resolve(
        debian_tree(AMD64), needs, start="debian", removals=removals(), extra_require=camera, folder=tmp_path / "out"
    )
    told = "\n".join(found.explanations)
    for held, holder in (
        ("INPUT", "VT"),
        ("BACKLIGHT_CLASS_DEVICE", "DRM_RADEON"),
        ("USB_ACM", "USB_VL600"),
        ("MEDIA_ANALOG_TV_SUPPORT", "!MEDIA_SUPPORT_FILTER"),
        ("MEDIA_DIGITAL_TV_SUPPORT", "!MEDIA_SUPPORT_FILTER"),
        ("MEDIA_RADIO_SUPPORT", "!MEDIA_SUPPORT_FILTER"),
        ("MEDIA_SDR_SUPPORT", "!MEDIA_SUPPORT_FILTER"),
    ):
        assert re.search(rf"^{held} stayed on: .*{re.escape(holder)}", told, re.MULTILINE), held
        assert not found.config.on(held)
    assert all(found.config.on(name) for name in ("USB", "USB_XHCI_HCD", "USB_VIDEO_CLASS"))
    assert not found.kept
