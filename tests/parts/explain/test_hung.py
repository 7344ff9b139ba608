# SPDX-License-Identifier: MIT
"""`rtqual explain` of a run that hung: who spins, where, and what it had said last."""

from pathlib import Path

import pytest

from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.campaign.lost import LOST, begun, ended, place
from rtqual.engine.campaign.run import Campaign
from rtqual.engine.campaign.trusted import require
from rtqual.engine.mission import load_mission
from rtqual.parts.explain.hung import _places, is_lost, stands
from rtqual.parts.explain.trace import parse
from support.command import Fails, mission_text

SPIN = """
[[load]]
name = "{name}"
command = ["sh", "-c", "{command}"]
fifo = 99

"""
SPINS = "echo -1 > /proc/sys/kernel/sched_rt_runtime_us; while :; do :; done"


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What this user lets run is not touched."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def lost(folder: Path, name: str, command: str) -> Path:
    """The file of a run that a load of this mission's own disturbs, noted as one that hung."""
    mission = folder / f"{name}.toml"
    text = mission_text("debian-rt", loads=(name,), runs=1).replace('load = "hackbench"', f'load = "{name}"')
    mission.write_text(text.replace("[[scale", SPIN.format(name=name, command=command) + "[[scale", 1))
    campaign = Campaign(load_mission(mission), "demo", folder / name, run_programs=True)
    cell = campaign.cells[0]
    campaign.ready(cell)
    inputs = campaign.inputs(cell)
    require([inputs], "here", folder, lets=True)
    run = campaign.name(cell, inputs)
    begun(campaign.folder, run, inputs, 0)
    ended(campaign.folder, run, "it hung and was ended at its deadline", died=True)
    return campaign.folder / place(run)


@pytest.mark.guest
def test_a_run_that_hangs_is_told_by_who_spins_and_where(tmp_path: Path) -> None:
    path = lost(tmp_path, "spin", SPINS)
    assert is_lost(path)
    found = stands(path, after_s=8.0)
    (stand,) = found.stands
    # A busy host lets the guest go on for some milliseconds only: one in which nobody else ran will do.
    assert "(FIFO 99)" in stand.thread and stand.since_ns > 1_000_000, stand
    assert stand.interrupts > 0, "the tick comes, and changes nothing"
    shares = dict(stand.places)
    assert shares.get("user space", 0) > 0.3 and sum(shares.values()) <= 1 + 1e-9, shares  # the most frequent of them
    assert found.guest_ns > stand.since_ns and found.reasons == ("it hung and was ended at its deadline",)


@pytest.mark.guest
def test_a_run_that_ends_this_time_is_no_hang(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match="the guest ended by itself this time"):
        stands(lost(tmp_path, "brief", "sleep 1"), after_s=60.0)


def test_what_is_no_such_run_is_refused_in_a_line(fails: Fails, tmp_path: Path) -> None:
    path = tmp_path / "c" / LOST / "none.json"
    path.parent.mkdir(parents=True)
    with pytest.raises(BadInput, match="no such run"):
        stands(path)
    path.write_text('{"instrument": "cyclictest", "seed": 1, "repeat": 0, "played": 1, "reasons": ["it hung"]}')
    with pytest.raises(BadInput, match="noted by an older rtqual"):
        stands(path)
    assert "--worst" in fails(2, "explain", path, "--worst", "2")


def test_registers_of_both_processors_tell_where_each_cpu_is() -> None:
    of_x86 = "CPU#0\nRAX=0000000000000000\nRIP=ffffffff81000010 RFL=00000246\nCPU#1\nRIP=0000000000401000 RFL=1"
    assert _places(of_x86) == {0: 0xFFFFFFFF81000010, 1: 0x401000}
    of_arm = " PC=ffff800008010000 X00=0000000000000000\nX01=0000000000000000"
    assert _places(f"CPU#0\n{of_arm}") == {0: 0xFFFF800008010000} == _places(of_arm)


def test_who_stands_at_the_end_of_a_log_and_how_often_it_was_interrupted() -> None:
    def entry(kind: str, ns: int, word: int) -> bytes:
        return (ord(kind) << 56 | ns).to_bytes(8, "little") + word.to_bytes(8, "little")

    name = [entry("n", 10, int.from_bytes(part.ljust(8, b"\0"), "little")) for part in (b"spinner", b"")]
    log = [entry("I", 5, 1), *name, entry("y", 10, 0), entry("S", 10, 0x99), entry("I", 400, 1), entry("I", 800, 1)]
    thread, since_ns, interrupts = parse(b"".join([*log, entry("z", 1000, 4)])).standing(0)
    assert (str(thread), since_ns, interrupts) == ("spinner (FIFO 99)", 990, 2)
