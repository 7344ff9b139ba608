# SPDX-License-Identifier: MIT
"""[[board]] in missions: what it says, and each mistake in one line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.analysis.figure.cells import by_board
from rtqual.engine.campaign.cost import cost_of
from rtqual.engine.campaign.foresee import foresee
from rtqual.engine.campaign.plan import plan
from rtqual.engine.campaign.run import _next
from rtqual.engine.mission import load_mission
from support.command import Run, rtqual_here

BOARD = """
[[board]]
name = "pi-a"
model = "raspberry-pi-4b"
architecture = "amd64"
ssh = "root@192.168.7.20:2222"
host_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO0 root@pi"
good = "6.6.62+rpt-rpi-v8"
switch = "tryboot"
boot_timeout = "180 s"
watchdog = "15 s"
power = { off = ["uhubctl", "-a", "off"], on = ["uhubctl", "-a", "on"] }
console = "tcp:consoles:4001"
"""
MISSION = """\
[mission]
name = "bench"
title = "Bench"
purpose = "Bench."
duration = "1 min"

[[candidate]]
name = "debian-rt"
title = "RT"
package = "linux-image-rt-amd64"

[[candidate]]
name = "debian"
title = "Stock"
package = "linux-image-amd64"
{board}
[[scale.demo.plan]]
boards = ["pi-a"]
instruments = ["cyclictest"]
loads = ["none", "hackbench"]
runs = 3
"""


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    def write(old: str = "", new: str = "") -> Path:
        text = MISSION.format(board=BOARD)
        assert old in text
        (tmp_path / "bench.toml").write_text(text.replace(old, new, 1) if old else text)
        return tmp_path / "bench.toml"

    return write


def test_a_board_is_read(written: Callable[..., Path]) -> None:
    settings = load_mission(written()).boards[0].settings
    assert (settings.user, settings.host, settings.port) == ("root", "192.168.7.20", 2222)
    assert settings.host_key == "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO0"
    assert (settings.boot_timeout_s, settings.watchdog_s) == (180.0, 15.0)
    assert settings.power_on == ("uhubctl", "-a", "on")


def test_cells_go_in_blocks_and_the_second_half_in_the_other_order(written: Callable[..., Path]) -> None:
    cells = plan(load_mission(written()), "demo")
    assert {cell.board for cell in cells} == {"raspberry-pi-4b"}
    assert [cell.candidate.name for cell in cells] == ["debian-rt"] * 3 + ["debian"] * 6 + ["debian-rt"] * 3
    assert len(set(cells)) == 12
    assert 3 * 120 < cost_of(cells, 2).wall_s < 3 * 120 + 12 * 60  # three switches


def test_boards_of_a_model_share_the_runs_and_each_measures_every_candidate(written: Callable[..., Path]) -> None:
    second = BOARD.replace('"pi-a"', '"pi-b"').replace("192.168.7.20", "192.168.7.21")
    path = written('boards = ["pi-a"]', 'boards = ["pi-a", "pi-b"]')
    path.write_text(path.read_text().replace("[[scale", f"{second}\n[[scale", 1))
    cells = plan(load_mission(path), "demo")
    assert len(cells) == 12 and len({cell.group for cell in cells}) == 4
    places = list(dict.fromkeys(cell.place for cell in cells))
    assert [[cell.seed for cell in cells if cell.place == one] for one in places] == [[1] * 4 + [3] * 4, [2] * 4]
    assert all(
        {cell.candidate.name for cell in cells if cell.place == one} == {"debian-rt", "debian"} for one in places
    )
    first = cells[0]
    other = next(cell for cell in cells if cell.place != first.place)
    assert _next(cells[1:], [first], ()) == other  # a board runs one cell at a time, two boards run two
    assert _next([cell for cell in cells[1:] if cell.place == first.place], [first], ()) is None
    path.write_text(path.read_text().replace(second, second + "cpus = 4\n", 1))
    with pytest.raises(BadInput, match="is of the model of pi-a, and has another cpus: boards of a model are alike"):
        load_mission(path)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('ssh = "root@', 'ssh = "ssh://root@', "board[0].ssh: 'ssh://root@192.168.7.20:2222' is no way over ssh"),
        ('"ssh-ed25519 AAAA', '"SHA256:AAAA', "is no host key; write what `ssh-keyscan"),
        ('switch = "tryboot"', 'switch = "kexec"', "board[0].switch: 'kexec' is not allowed"),
        ('switch = "tryboot"', 'switch = "command"', "board[0].switch_command: is missing beside"),
        ('model = "raspberry-pi-4b"', 'model = "virtual"', "board[0].model: 'virtual' is a name of rtqual's own"),
        ('"amd64"\nssh', '"arm64"\nssh', "'pi-a' cannot run debian-rt: it is for amd64, the board is arm64"),
        ('boards = ["pi-a"]', 'boards = ["pi-b"]', "plan[0].boards[0]: unknown board 'pi-b'; did you mean 'pi-a'?"),
        ('good = "6.6.62+rpt-rpi-v8"', "", "board[0].good: is missing beside ssh; a board without a network has none"),
        (
            BOARD[BOARD.index("ssh =") : BOARD.index("switch")],
            "",
            "board[0].power: needs ssh: a board without a network",
        ),
        ('off = ["uhubctl", "-a", "off"]', 'off = "uhubctl"', "board[0].power.off"),
        ("power = {", 'disks = { usb = "sda1" }\npower = {', "board[0].disks.usb"),
        ('console = "tcp', 'console = "udp', "is no console; write 'socket:/PATH'"),
        ('loads = ["none", "hackbench"]', 'loads = ["wifi"]', "'wifi' runs in a guest only"),
        ('loads = ["none", "hackbench"]', "cpus = [2]", "a board runs with the CPUs that its table states"),
        ('package = "linux-image-amd64"', "this-machine = true", "'pi-a' cannot run debian: it is no kernel"),
        ('boot_timeout = "180 s"', 'boot_timeout = "2 h"', "board[0].boot_timeout: is more than an hour"),
        (
            'watchdog = "15 s"',
            'watchdog = "5.9 s"',
            "board[0].watchdog: is less than 6 s; candidates feed it",
        ),
    ],
)
def test_each_mistake_is_told(
    written: Callable[..., Path], fails: Callable[..., str], old: str, new: str, told: str
) -> None:
    line = fails(2, "mission", "check", written(old, new))
    assert told in line and "bench.toml:" in line


def test_boards_are_listed_and_found_by_name(
    written: Callable[..., Path], rtqual: Run, fails: Callable[..., str]
) -> None:
    path = written()
    assert "192.168.7.20:2222" in rtqual_here("board", "list", path, COLUMNS="200").stdout
    told = fails(2, "board", "check", "pi-x", "--mission", path)
    assert f"no board 'pi-x' in {path}; did you mean 'pi-a'?" in told
    (path.parent / "bad.toml").write_text(path.read_text().replace("pi-a", "pi-x").replace('good = "', 'god = "'))
    told = fails(2, "board", "check", "pi-x", cwd=path.parent)
    assert "did you mean 'pi-a'?; or say --mission FILE; not read: bad.toml:" in told and "god" in told
    lonely = MISSION.format(board=BOARD[: BOARD.index("ssh =")] + 'switch = "systemd-boot"\n')
    path.write_text(lonely)
    assert "its card" in rtqual_here("board", "list", path, COLUMNS="200").stdout
    assert "board pi-a has no network: `rtqual image" in fails(2, "board", "check", "pi-a", "--mission", path)
    for words, told in (
        (("--self-measuring",), "--board is missing"),
        (("--self-measuring", "--board", "pi-x"), "no board of the mission; did you mean 'pi-a'?"),
        ((), "--kernel is missing"),
    ):
        assert told in fails(2, "image", path, "--out", path.with_suffix(".img"), *words)
    absent, out = path.parent / "absent", path.parent / "out"
    assert "there is no such card" in fails(2, "import", absent, "--mission", path, "--out", out)
    path.write_text(MISSION.format(board=BOARD))
    assert "it is reached over ssh" in fails(2, "image", path, "--board", "pi-a", "--self-measuring", "--out", "x.img")
    path.unlink()
    assert "No mission here names a [[board]]" in rtqual("board", "list", cwd=path.parent).stdout


def test_only_the_board_is_judged_and_it_can_say_fly(written: Callable[..., Path]) -> None:
    """What has a need and no other requirement may fly where it runs; on the emulator nothing may."""
    assert foresee(load_mission(written()), "demo").nobody == "the mission sets no requirement"
    needs = 'duration = "1 min"\nneeds = ["usb"]'
    mission = load_mission(written('duration = "1 min"', needs))
    assert [cells.board for cells in by_board(mission, "demo", [], {})] == ["raspberry-pi-4b"]
    assert foresee(mission, "demo").nobody == ""
    written_to = written('instruments = ["cyclictest"]', 'instruments = ["sysbench-fileio-usb"]')
    assert 'disks = { usb = "/dev/..." }' in str(foresee(load_mission(written_to), "demo"))
    emulated = written('boards = ["pi-a"]\n', "")
    emulated.write_text(emulated.read_text().replace('duration = "1 min"', needs))
    assert "emulator" in foresee(load_mission(emulated), "demo").nobody
