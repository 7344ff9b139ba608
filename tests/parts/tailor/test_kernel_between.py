# SPDX-License-Identifier: MIT
"""From one configuration to another in steps: what is a step, and what some of them make."""

import pytest

from rtqual.engine.kernel.config import parse
from rtqual.parts.tailor.configure import between as module
from rtqual.parts.tailor.configure.between import Between
from support.kernel_trees import write_tree

KCONFIG = """\
config BUS
    bool "A bus"

config DEVICE
    bool "A device"
    depends on BUS

config HIDDEN
    def_bool DEVICE

config CHATTER
    bool "What neither end has, and is on unless it is told otherwise"
    depends on BUS
    default y

config SPEED
    int "Its speed"
    depends on DEVICE
    default 9600

config NAME
    string "A name"
    default "none"

choice
    prompt "Preemption"
    default LAZY
config LAZY
    bool "Lazy"
config EAGER
    bool "Eager"
endchoice

config EMI
    bool "Debugging"
    default y

config CRC
    tristate "A module, in the first alone"
"""
BEFORE = "CONFIG_MODULES=y\nCONFIG_LAZY=y\nCONFIG_EMI=y\nCONFIG_CRC=m\n"
AFTER = (
    "CONFIG_MODULES=y\nCONFIG_BUS=y\nCONFIG_DEVICE=y\nCONFIG_SPEED=115200\nCONFIG_EAGER=y\n# CONFIG_LAZY is not set\n"
    "# CONFIG_CHATTER is not set\n"
    'CONFIG_NAME="a \\"b\\""\n# CONFIG_EMI is not set\n'
)


@pytest.fixture(scope="module")
def between(tmp_path_factory: pytest.TempPathFactory) -> Between:
    folder = tmp_path_factory.mktemp("between")
    return Between(write_tree(folder / "tree", KCONFIG), BEFORE, AFTER, folder / "work")


def test_a_step_is_what_menuconfig_asks_once(between: Between) -> None:
    named = {str(one) for one in between.settings}
    assert named == {"BUS=y", "DEVICE=y", "SPEED=115200", 'NAME=a "b"', "EAGER=y in place of LAZY", "EMI=n", "CRC=n"}


def test_all_of_the_steps_lead_from_the_one_to_the_other(between: Between) -> None:
    assert between.config([]) == between.texts[0]
    assert between.config(between.settings) == between.texts[1]


@pytest.mark.parametrize(
    ("named", "changed"),
    [
        ("DEVICE=y", {"BUS": "y", "DEVICE": "y", "HIDDEN": "y", "SPEED": "9600"}),  # with what it needs
        ("EAGER=y in place of LAZY", {"EAGER": "y", "LAZY": None}),
        ("EMI=n", {"EMI": None}),
        ("CRC=n", {"CRC": None}),
        ('NAME=a "b"', {"NAME": 'a "b"'}),
        ("SPEED=115200", {}),  # of a device that is not there
    ],
)
def test_a_step_changes_what_it_says_and_what_that_needs(
    between: Between, named: str, changed: dict[str, str | None]
) -> None:
    (setting,) = (one for one in between.settings if str(one) == named)
    before, after = (parse(text, "a step") for text in (between.texts[0], between.config([setting])))
    assert {name: after.get(name) for name in {**before, **after} if before.get(name) != after.get(name)} == changed


def test_only_a_step_that_lacks_something_is_resolved(between: Between, monkeypatch: pytest.MonkeyPatch) -> None:
    """A resolution costs four times what the kernel's own program takes by itself."""
    asked: list[str] = []
    resolve = module.resolve_wishes

    def counted(tree, wishes, **given):  # type: ignore[no-untyped-def]
        asked.extend(one.symbol for one in wishes)
        return resolve(tree, wishes, **given)

    monkeypatch.setattr(module, "resolve_wishes", counted)
    settings = {str(one): one for one in between.settings}
    between.config([settings["EMI=n"], settings["EAGER=y in place of LAZY"], settings["BUS=y"]])
    assert asked == []
    between.config([settings["DEVICE=y"]])
    assert asked == ["DEVICE"]
