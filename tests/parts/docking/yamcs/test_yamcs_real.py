# SPDX-License-Identifier: MIT
"""Yamcs itself as the flight program's ground, started as `rtqual ground` says and driven by its own client library."""

import json
import os
import random
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rtqual.engine.mission import load_mission
from rtqual_docking.yamcs.stage import ground
from rtqual_docking.yamcs.yamcs import GroundPlace
from support.flight_link import Program, start

ROOT = Path(__file__).parents[4]
OPERATOR = ROOT / "tests/support/yamcs_operator.py"
CLIENT = "yamcs-client==2.1.0"
WEB_PORT = 18090
PATIENCE_S = 300  # a busy machine

__all__ = ["start"]  # a fixture


@contextmanager
def yamcs(commands: tuple[str, ...]) -> Iterator[None]:
    """Started by the printed commands, with its web pages up."""
    folder, fetch, begin = commands
    subprocess.run(f"{folder} && {fetch}", shell=True, check=True, cwd=ROOT)  # noqa: S602 - as a user types it
    with subprocess.Popen(["sh", "-c", f"{folder} && exec {begin}"], cwd=ROOT) as process:
        try:
            end = time.monotonic() + PATIENCE_S
            while True:
                assert process.poll() is None and time.monotonic() < end
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{WEB_PORT}/api") as answer:
                        assert json.load(answer)["yamcsVersion"] == "5.13.2"
                    break
                except OSError:
                    time.sleep(1)
            yield
        finally:
            process.terminate()
            process.wait(60)


def operated() -> list[dict[str, Any]]:
    uv = Path(sys.executable).with_name("uv")
    command = [uv, "run", "--quiet", "--no-project", "--with", CLIENT, "python", OPERATOR, str(WEB_PORT), "docking"]
    environment = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=600)
    print(done.stdout)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.manual
def test_yamcs_drives_the_flight_program(start: Callable[..., Program], tmp_path: Path) -> None:
    frame = random.Random(5).randbytes(307_200)  # noqa: S311
    (tmp_path / "frame").write_bytes(frame)
    program = start(f"--frame={tmp_path}/frame")
    program.connect()
    place = GroundPlace("127.0.0.1", program.port, WEB_PORT)
    written = ground(load_mission(ROOT / "docking/missions/docking.toml"), tmp_path / "yamcs", place)
    with yamcs(written.commands):
        said = operated()
    commands = [one for one in said if "command" in one]
    refused = [one for one in commands if not one["success"]]
    assert [(one["command"], one["error"]) for one in refused] == [("LIDAR_STOP", "BAD_MODE")]
    assert [refused[0]["stages"][stage][0] for stage in ("Accepted", "Started")] == ["OK", "NOK"]
    for one in commands:
        # A stage that came before Yamcs began to look for it counts as cancelled; one that its client had not heard of
        # when the command was completed, as pending.
        before = {one["stages"][stage][0] for stage in ("Accepted", "Started")}
        good = one["stages"]["Completed"][0] == "OK" and before <= {"OK", "CANCELLED", "PENDING"}
        assert one in refused or good, one
    values = [one for one in said if "parameter" in one]
    assert len(values) == 5 and all(one["value"] == one["wanted"] for one in values), values
    (scheduled,) = [one for one in said if "scheduled" in one]
    assert -0.01 < scheduled["late_s"] < 10, "at its time, as the board's clock is the host's"
    (transfers,) = [one["transfers"] for one in said if "transfers" in one]
    # The first is refused, since Yamcs does not know CRC-32.
    assert [one[0] for one in transfers if one[3] is None] == ["COMPLETED"]
    assert {one[3] for one in transfers} == {None, "UNSUPPORTED_CHECKSUM_TYPE"}
    assert (written.folder / "files/frame").read_bytes() == frame
    # Yamcs sends no insertions of its own choice, so the schedule is never full and the stack has to fail.
    ran = {one["stack"]: one["status"] for one in said if "stack" in one}
    assert ran == {"packets-damaged": "SUCCESSFUL", "schedule-full": "FAILED"}
    (events,) = [one["events"] for one in said if "events" in one]
    assert any(severity == "INFO" and message.startswith("MODE: ") for severity, message in events), events
