# SPDX-License-Identifier: MIT
"""The fuzzers of what our C programs parse (tests/support/fuzz): what each is for, how it is run, what it reached.

`make fuzz` runs them all at the size of docs/verification/attacks.md and prints the table that stands there."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))  # run as a program

from support.built import built  # noqa: E402

SOURCE = ROOT / "tests" / "support" / "fuzz"


@dataclass(frozen=True)
class Fuzzer:
    """`files`: what it is for, and the share of their lines that it has to reach; the rest is for failures of the
    system, and for what comes after parsing."""

    name: str
    what: str
    count: int  # inputs of `make fuzz`
    files: dict[str, float]


COMMON, FLIGHT, PROGRAM = "target/common", "docking/flight", "docking/flight/program"
DS325, SOFTWARE = "docking/camera/ds325", "docking/camera/software"
FUZZERS = (
    Fuzzer(
        "options-emulator", "options, scenes, recordings, faults, addresses", 400_000,
        {f"{COMMON}/options.c": 0.95, f"{COMMON}/command_line.c": 0.85, f"{SOFTWARE}/options.c": 0.9,
         f"{SOFTWARE}/faults.c": 0.6},
    ),
    Fuzzer(
        "options-stream", "options, calibrations, frames to compare with", 250_000,
        {f"{COMMON}/options.c": 0.95, f"{FLIGHT}/stream_options.c": 0.9, f"{FLIGHT}/check.c": 0.4},
    ),
    Fuzzer(
        "options-probe", "the probe's options", 150_000,
        {f"{COMMON}/options.c": 0.75, "target/probe/linux/main.c": 0.75},
    ),
    Fuzzer("options-pose", "ds325-pose's options and recordings", 3_000, {f"{FLIGHT}/pose/main.c": 0.75}),
    Fuzzer(
        "agent", "the guest's agent: its command line, its jobs, its frames", 100_000,
        {"target/agent/agent.c": 0.5},
    ),
    Fuzzer(
        "rtos", "the command line of an RTOS's image", 200_000,
        {"target/probe/rtos/run.c": 0.6, "target/probe/virt.h": 0.95},
    ),
    Fuzzer("usbip", "USB/IP: clients that ask for the camera", 150_000, {f"{SOFTWARE}/server.c": 0.7}),
    Fuzzer(
        "device", "USB/IP and USB: connections of 64 URBs, control and bulk", 30_000,
        {f"{SOFTWARE}/usbip.c": 0.95, f"{SOFTWARE}/camera.c": 0.85, f"{SOFTWARE}/device.c": 0.75},
    ),
    Fuzzer(
        "decode", "calibrations, words, rings", 30_000,
        {f"{DS325}/decode.c": 0.9, f"{DS325}/calibrate.c": 0.95, f"{DS325}/decode_core.h": 0.9,
         f"{DS325}/ring.c": 0.85},
    ),
    Fuzzer(
        "payload", "the kernel module's USB payloads: rounds of some 100", 200,
        {"docking/camera/driver/payload.c": 0.98},
    ),
    Fuzzer(
        "pose", "frames while the target is tracked, lost and found again", 8_000,
        {f"{FLIGHT}/pose/{name}.c": 0.9 for name in ("blocks", "filter", "find", "fit", "learn", "line", "normal",
                                                   "outline", "plane", "rim", "surface")}
        | {f"{FLIGHT}/pose/pose.c": 0.85},
    ),
    Fuzzer(
        "flight", "a million telecommands in runs of some 13, between what threads tell, time, states", 80_000,
        {f"{PROGRAM}/{name}.c": 0.95 for name in ("pus", "tables", "core", "housekeeping", "schedule", "monitor",
                                                       "cobs", "kept", "counter")}
        | {f"{PROGRAM}/mode.c": 0.93, f"{PROGRAM}/file.c": 0.9, f"{PROGRAM}/cfdp.c": 0.75},
    ),
    Fuzzer(
        "files", "the ground's receiver of files: transfers of some 100 packets", 5_000,
        {"docking/ground/cfdp.c": 0.97, "docking/ground/files.c": 0.95},
    ),
)  # fmt: skip
BY_NAME = {one.name: one for one in FUZZERS}


def flight(folder: Path) -> Path:
    """A recording in which the whole target is in view: what `pose` starts from."""
    emulator = built(ROOT / "docking/camera/software", "ds325-emulator") / "ds325-emulator"
    path = folder / "flight"
    ends = ("--at", "0 0.02 -0.01 0.6 10 6 -8", "--at", "1 0 0 0.45 3 1 -2")
    subprocess.run([emulator, "--write", path, "--frames", "40", "--step", "0.016666667", "--wall", "1.6", *ends],
                   check=True)  # fmt: skip
    return path


def run(fuzzer: Fuzzer, folder: Path, *, seed: int = 1, count: int = 0) -> str:
    """What it printed; `folder` gets its counters of lines. A fault is an error with all that the sanitizers said."""
    program = built(SOURCE, f"{fuzzer.name}/fuzz") / fuzzer.name / "fuzz"
    command = [program, str(seed), str(count or fuzzer.count), *([flight(folder)] if fuzzer.name == "pose" else [])]
    # The counters' files go to `folder`: as many parts are cut from their names as the folder of the objects has.
    places = {"GCOV_PREFIX": str(folder / "lines"), "GCOV_PREFIX_STRIP": str(len(program.parent.parts) - 1)}
    # What a program that dies leaves open is no fault.
    checks = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                          env=os.environ | places | checks)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.strip()


def lines(fuzzer: Fuzzer, folder: Path) -> dict[str, tuple[int, int]]:
    """Of each file that it is for: how many lines ran, and how many there are."""
    objects = built(SOURCE, f"{fuzzer.name}/fuzz") / fuzzer.name
    found: dict[str, dict[int, bool]] = {}
    for counters in sorted((folder / "lines").rglob("*.gcda")):
        notes = (objects / counters.relative_to(folder / "lines")).with_suffix(".gcno")
        counters.with_suffix(".gcno").write_bytes(notes.read_bytes())
        done = subprocess.run(["gcov", "--json-format", "--stdout", counters], cwd=objects, capture_output=True,
                              check=True)  # fmt: skip
        for file in json.loads(done.stdout)["files"]:
            name = os.path.relpath(Path(SOURCE, file["file"]).resolve(), ROOT)
            seen = found.setdefault(name, {})
            for line in file["lines"]:
                seen[line["line_number"]] = seen.get(line["line_number"], False) or line["count"] > 0
    return {name: (sum(found[name].values()), len(found[name])) for name in fuzzer.files}


def main(share: float = 1) -> int:
    """`share`: of each fuzzer's inputs."""
    print("| fuzzer | inputs | CPU | reached | lines that ran |\n|---|---|---|---|---|")
    total = 0
    for fuzzer in FUZZERS:
        with TemporaryDirectory() as name:
            folder = Path(name)
            built(SOURCE, f"{fuzzer.name}/fuzz")
            before = os.times()
            count = max(1, round(fuzzer.count * share))
            said = run(fuzzer, folder, count=count)
            after = os.times()
            spent = after.children_user + after.children_system - before.children_user - before.children_system
            ran = ", ".join(f"{Path(f).name} {100 * a // b} %" for f, (a, b) in lines(fuzzer, folder).items())
        total += count
        print(f"| {fuzzer.name}: {fuzzer.what} | {count:,} | {spent:.0f} s | {said} | {ran} |", flush=True)
    print(f"\n{total:,} inputs, no fault.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*map(float, sys.argv[1:2])))
