# SPDX-License-Identifier: MIT
"""An operator who drives the flight program by Yamcs, with its own client library: `yamcs_operator.py PORT INSTANCE`.

It prints what Yamcs says as one line of JSON a step. It runs in an environment of its own, which has yamcs-client.
"""

import json
import sys
import time
import urllib.request
from datetime import UTC, datetime, timedelta
from typing import Any

from yamcs.client import StackActivity, TimelineActivity, YamcsClient

SPACE = "/rtqual/"
PATIENCE_S = 60
AHEAD_S = 10  # of a scheduled telecommand


class Operator:
    def __init__(self, port: str, instance: str) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.client = YamcsClient(self.address)
        self.instance = instance
        self.processor = self.client.get_processor(instance, "realtime")
        self.connection = self.processor.create_command_connection()

    def send(self, name: str, arguments: dict[str, Any] | None = None, **more: Any) -> Any:
        begin = time.monotonic()
        command = self.connection.issue(SPACE + name, args=arguments or {}, **more)
        command.await_complete(timeout=PATIENCE_S)
        stages = {
            key.removeprefix("Verifier_"): [one.status, one.message, str(one.time)]
            for key, one in command.acknowledgments.items()
        }
        say(
            command=name,
            arguments=arguments,
            success=command.is_success(),
            error=command.error,
            stages=stages,
            took_ms=round((time.monotonic() - begin) * 1000),
        )
        return command

    def value(self, name: str, wanted: object) -> None:
        """As soon as it is what is wanted, or what it is in the end."""
        end = time.monotonic() + PATIENCE_S
        while True:
            got = self.processor.get_parameter_value(SPACE + name)
            if (got is not None and got.eng_value == wanted) or time.monotonic() > end:
                break
            time.sleep(0.2)
        say(parameter=name, value=got and got.eng_value, wanted=wanted, generated=str(got and got.generation_time))

    def file(self) -> None:
        """Down, and what of it lies in the bucket then."""
        service = self.client.get_file_transfer_client(self.instance).get_service("files")
        seen: dict[str, Any] = {}
        service.create_transfer_subscription(
            on_data=lambda one: seen.update({one.id: [one.state, one.object_name, one.size, one.error]})
        )
        self.send("SEND_FILE", {"file": "FRAME"})
        end = time.monotonic() + PATIENCE_S
        while not any(one[0] == "COMPLETED" for one in seen.values()) and time.monotonic() < end:
            time.sleep(0.2)
        say(transfers=list(seen.values()))

    def scheduled(self) -> None:
        """Carried out by the board at its time, though it is sent now."""
        at = datetime.now(UTC) + timedelta(seconds=AHEAD_S)
        when = at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        command = self.connection.issue(SPACE + "SET_MODE", {"mode": "SAFE"}, extra={"pus11ScheduleAt": when})
        self.send("HK_ONCE", {"structure": "SYSTEM"})
        self.value("scheduled", 1)
        command.await_complete(timeout=AHEAD_S + PATIENCE_S)
        completed = next(one for key, one in command.acknowledgments.items() if key.endswith("Completed"))
        say(scheduled=when, completed=str(completed.time), late_s=(completed.time - at).total_seconds())

    def stack(self, name: str) -> None:
        """Run by Yamcs itself, from its timeline."""
        timeline = self.client.get_timeline_client(self.instance)
        begin = datetime.now(UTC) + timedelta(seconds=2)
        activity = StackActivity(bucket="stacks", stack=f"{name}.ycs")
        timeline.save_item(TimelineActivity(name=name, start=begin, duration=timedelta(seconds=1), activity=activity))
        end, status = time.monotonic() + PATIENCE_S, ""
        while status not in ("SUCCESSFUL", "FAILED") and time.monotonic() < end:
            time.sleep(0.5)
            with urllib.request.urlopen(f"{self.address}/api/activities/{self.instance}/activities") as answer:  # noqa: S310
                every = json.load(answer).get("activities", [])
            status = next((one["status"] for one in every if one["args"]["stack"] == f"{name}.ycs"), "")
        say(stack=name, status=status)


def say(**what: Any) -> None:
    print(json.dumps(what, default=str), flush=True)


def main() -> None:
    operator = Operator(*sys.argv[1:])
    operator.send("PING")
    operator.send("EVENTS_OFF", {"event": "DEADLINE_MISS"})  # a busy machine
    operator.send("LIDAR_STOP")  # refused in STANDBY
    operator.send("SET_PARAMETERS", {"parameter": "RATE", "value": 30})
    operator.send("GET_PARAMETERS", {"parameter": "RATE"})
    operator.value("value", 30)
    operator.send("HK_ONCE", {"structure": "CAMERA"})
    operator.value("mode", "STANDBY")
    operator.value("rate", 30)
    operator.scheduled()
    operator.send("HK_ONCE", {"structure": "CAMERA"})
    operator.value("mode", "SAFE")
    operator.file()
    operator.stack("packets-damaged")
    operator.stack("schedule-full")
    archive = operator.client.get_archive(operator.instance)
    say(events=[[one.severity, one.message] for one in archive.list_events() if one.source != "CfdpService"])


if __name__ == "__main__":
    main()
