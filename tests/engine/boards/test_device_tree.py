# SPDX-License-Identifier: MIT
"""Entropy in a device tree, and what is off in it. That kernels take it: test_virtual_pi.py."""

import random

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.boards.device_tree import has_off, with_seed
from support.device_trees import Node, read, write

_TREE: Node = {
    "model": b"Raspberry Pi 3 Model B\0",
    "aliases": {"serial0": b"/soc/serial\0"},
    "chosen": {"stdout-path": b"serial1:115200n8\0"},
    "soc": {"chosen": {"of": b"another\0"}},
}


def test_a_seed_is_added_to_chosen_and_nothing_else_changes() -> None:
    seeded = read(with_seed(write(_TREE)))
    chosen = seeded["chosen"]
    assert isinstance(chosen, dict)
    seed = chosen.pop("rng-seed")
    assert len(seed) == 64 and seeded == _TREE
    assert with_seed(write(_TREE))[40:72] == write(_TREE)[40:72], "reserved memory stays"
    empty: Node = {"chosen": {}}
    assert read(with_seed(write(empty))) == {"chosen": {"rng-seed": seed}}


def test_what_is_no_tree_or_has_no_such_node_is_refused() -> None:
    whole = write(_TREE)
    for content, why in (
        (b"", "damaged"),
        (b"kernel" * 40, "no device tree"),
        (write({"soc": {"chosen": {}}}), "no node /chosen"),
        (whole[:60], "no node /chosen"),
    ):
        with pytest.raises(BadInput, match=why):
            with_seed(content)


def test_a_bus_is_off_where_all_its_controllers_are() -> None:
    off, on = {"reg": bytes(8), "status": b"disabled\0"}, {"status": b"okay\0"}
    for controllers, is_off in (
        ({"spi@1": off, "spi@2": off}, True),
        ({"spi@1": off, "spi@2": on}, False),
        ({"spi@1": {"reg": bytes(8), "flash@0": off}}, False),
        ({"i2c@1": off, "spigot@1": off}, False),
    ):
        tree = write({"chosen": {}, "soc": controllers, "spi@9": off})
        assert has_off(tree, "spi") is is_off, controllers
        assert has_off(with_seed(tree), "spi") is is_off
    assert not has_off(b"a device tree", "spi") and not has_off(b"", "spi")


def test_damage_is_told_and_never_a_traceback() -> None:
    whole, generator = write(_TREE), random.Random(1)  # noqa: S311
    for _ in range(2000):
        damaged = bytearray(whole)
        for _ in range(generator.randint(1, 4)):
            damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        has_off(bytes(damaged), "soc")
        try:
            assert len(with_seed(bytes(damaged))) < 3 * len(whole)
        except BadInput as error:
            assert str(error).startswith("it")
