# SPDX-License-Identifier: MIT
"""A place of labgrid's, with its coordinator and exporter: acquired, its power switched, lost with the coordinator."""

import http.server
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rtqual.base.errors import RunFailed
from rtqual.board.remote.farm import Place, client
from rtqual.board.remote.power import Switched
from rtqual.board.remote.settings import Refused


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (folder / "labgrid-client").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "labgrid-client").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_what_labgrid_says_is_told_and_only_what_was_acquired_is_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunFailed, match="labgrid-client is missing"):
        Place("pi-a", "c:1", "p").take()
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    program(tmp_path, monkeypatch, f'echo "$*" >> {tmp_path}/said')
    place = Place("pi-a", "c:1", "p")
    place.take()
    place.give()
    place.give()
    assert (tmp_path / "said").read_text() == "-x c:1 -p p acquire\n-x c:1 -p p release\n"
    program(
        tmp_path, monkeypatch, f'echo "You have already acquired place p." >&2; echo "$5" >> {tmp_path}/again; exit 1'
    )
    place.take()
    place.give()
    assert (tmp_path / "again").read_text() == "acquire\n"
    program(tmp_path, monkeypatch, "printf 'Place p is already acquired by \\033[2Jhe' >&2; exit 1")
    with pytest.raises(Refused, match=r"board pi-a: Place p is already acquired by \[2Jhe"):
        place.take()


@pytest.fixture
def farm(tmp_path: Path) -> dict[str, str]:
    """An environment with labgrid, which is no dependency of the tests: 37 MB."""
    uv, where = Path(sys.executable).with_name("uv"), tmp_path / "labgrid"
    subprocess.run([uv, "venv", "--quiet", where], check=True)
    subprocess.run([uv, "pip", "install", "--quiet", "--python", where / "bin/python", "labgrid>=26"], check=True)
    return {**os.environ, "PATH": f"{where}/bin:{os.environ['PATH']}"}


@contextmanager
def running(farm: dict[str, str], folder: Path, *words: str) -> Iterator[None]:
    with (
        (folder / "log").open("ab") as log,
        subprocess.Popen(words, env=farm, cwd=folder, stdout=log, stderr=log) as one,
    ):
        try:
            yield
        finally:
            one.kill()


@contextmanager
def relay(port: int, seen: list[tuple[str, bytes]]) -> Iterator[None]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            seen.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

    server = http.server.HTTPServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def until(true: Callable[[], bool]) -> None:
    end_s = time.monotonic() + 120
    while not true():
        assert time.monotonic() < end_s
        time.sleep(0.5)


@pytest.mark.manual
def test_places_and_power_of_a_farm(farm: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two places; who has one keeps another user out, until the coordinator starts again and has forgotten."""
    monkeypatch.setenv("PATH", farm["PATH"])
    coordinator, port = f"127.0.0.1:{free_port()}", free_port()
    resource = "NetworkPowerPort: {{model: rest, host: 'http://127.0.0.1:{}/{{index}}', index: '{}'}}"
    lines = [f"bench-{n}: {{{resource.format(port, n)}}}" for n in (1, 2)]
    (tmp_path / "exported.yaml").write_text("\n".join(lines) + "\n")

    def said(*words: str) -> str:
        command = ["labgrid-client", "-x", coordinator, *words]
        done = subprocess.run(command, env=farm, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    seen: list[tuple[str, bytes]] = []
    one, other = Place("pi-a", coordinator, "place-1"), Place("pi-b", coordinator, "place-2")
    exporter = ("labgrid-exporter", "-c", coordinator, "-n", "here", "exported.yaml")
    with relay(port, seen):
        with running(farm, tmp_path, "labgrid-coordinator", "-l", coordinator):
            until(lambda: "rror" not in said("places"))
            with running(farm, tmp_path, *exporter):
                until(lambda: "bench-2" in said("resources"))
                for n in (1, 2):
                    said("-p", f"place-{n}", "create")
                    said("-p", f"place-{n}", "add-match", f"here/bench-{n}/NetworkPowerPort")
                one.take()
                other.take()
                commands = [client(coordinator, "place-1", "power", word) for word in ("off", "on")]
                Switched("pi-a", *commands).cycle()
                assert seen == [("/1", b"0"), ("/1", b"1")]
                monkeypatch.setenv("LG_USERNAME", "stranger")
                with pytest.raises(Refused, match=r"board pi-a: .*already acquired by"):
                    Place("pi-a", coordinator, "place-1").take()
                with pytest.raises(RunFailed, match=r"its power command .* failed: .*not acquired by your user"):
                    Switched("pi-a", *commands).cycle()
                monkeypatch.delenv("LG_USERNAME")
                other.give()
                assert "acquired: None" in said("-p", "place-2", "show")
                kept = tmp_path / "places.yaml"  # which the coordinator writes every few seconds
                until(lambda: kept.exists() and "place-2" in kept.read_text())
        with running(farm, tmp_path, "labgrid-coordinator", "-l", coordinator):
            until(lambda: "rror" not in said("places"))
            with running(farm, tmp_path, *exporter):
                until(lambda: "bench-1" in said("resources"))
                monkeypatch.setenv("LG_USERNAME", "stranger")
                until(lambda: Place("pi-a", coordinator, "place-1").take() is None)  # so the board's token decides
