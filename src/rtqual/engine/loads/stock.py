# SPDX-License-Identifier: MIT
"""The loads that rtqual brings.

Each runs until it is killed and writes nothing outside the job's folder. stress-ng is started with constant
random numbers: what varies between runs is the seed's phase, not the load.
"""

from typing import Annotated

from pydantic import Field

from rtqual.engine.loads import wifi
from rtqual.protocols.board import Command
from rtqual.protocols.load import Load, Shape
from rtqual.protocols.load.own import stress_ng


class HackbenchShape(Shape):
    """Each group has as many senders as receivers; every sender writes to all receivers of its group."""

    pipes: bool = False  # in place of sockets
    groups: Annotated[int, Field(ge=1, le=64)] = 1
    descriptors: Annotated[int, Field(ge=1, le=100)] = 20  # senders of a group, and receivers


def _hackbench(shape: HackbenchShape) -> tuple[Command, ...]:
    """`while`, not `until killed`: a hackbench that cannot run ends the load, and a load that has ended is reported."""
    given = f"{' -p' if shape.pipes else ''} -P -g {shape.groups}"
    given += "" if shape.descriptors == HackbenchShape().descriptors else f" -f {shape.descriptors}"
    return (Command(("sh", "-c", f"while hackbench{given} -l 100 > /dev/null; do :; done")),)


# 4 MiB arrays: larger than the caches of a small flight computer, small enough for its RAM.
_STREAM = ("--stream", "0", "--stream-l3-size", "4m")
_FILES = ("--hdd", "1", "--hdd-bytes", "16m", "--io", "1")

LOADS = (
    Load(name="none", title="No load"),
    Load(
        name="hackbench",
        title="Processes that pass messages: 20 senders, 20 receivers (hackbench)",
        background=_hackbench(HackbenchShape()),
        shape=HackbenchShape,
        shaped=_hackbench,
        programs=("hackbench",),
    ),
    Load(
        name="stress-cpu",
        title="Computation on every CPU (stress-ng cpu)",
        background=stress_ng("--cpu", "0"),  # 0: one for each CPU
        programs=("stress-ng",),
    ),
    Load(
        name="stress-memory",
        title="Memory bandwidth on every CPU (stress-ng stream)",
        background=stress_ng(*_STREAM),
        programs=("stress-ng",),
        memory=True,
    ),
    Load(
        name="stress-io",
        title="Writing, reading and syncing files (stress-ng hdd and io)",
        background=stress_ng(*_FILES),
        programs=("stress-ng",),
    ),
    Load(
        name="wifi",
        title="Wi-Fi traffic of 20 Mbit/s between two simulated radios",
        background=(Command(wifi.CLIENT),),
        setup=(Command(("sh", "-c", wifi.SETUP)),),
        programs=("iw", "iperf3"),
        modules=("mac80211_hwsim",),
        local=False,
    ),
    Load(
        name="hackbench-wifi",
        title="hackbench and Wi-Fi traffic of 20 Mbit/s between two simulated radios, at once",
        background=(*_hackbench(HackbenchShape()), Command(wifi.CLIENT)),
        setup=(Command(("sh", "-c", wifi.SETUP)),),
        programs=("hackbench", "iw", "iperf3"),
        modules=("mac80211_hwsim",),
        local=False,
    ),
    Load(
        name="stress-all",
        title="hackbench, computation, memory bandwidth and files (stress-ng), all at once",
        background=(*_hackbench(HackbenchShape()), *stress_ng("--cpu", "0", *_STREAM, *_FILES)),
        programs=("hackbench", "stress-ng"),
    ),
)
