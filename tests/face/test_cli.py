# SPDX-License-Identifier: MIT
"""The command line as a user meets it: exit codes, one line an error, JSON that parses, never a traceback."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import jsonschema
import pytest

from support.command import Fails, Run, mission_text, rtqual_command
from support.small_disk import mounted_disk


@pytest.fixture
def mission(tmp_path: Path) -> Callable[..., Path]:
    """A mission, with words of it replaced."""

    def write(*changes: tuple[str, str], candidates: tuple[str, ...] = ("debian-rt",)) -> Path:
        text = mission_text(*candidates)
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "mission.toml"
        path.write_text(text)
        return path

    return write


# --- words that are wrong


@pytest.mark.parametrize(
    "arguments",
    [["no-such-command"], ["select"], ["select", "a", "b"], ["show", "--no-such-option", "x"], ["mission", "x"],
     ["select", "m.toml", "--jobs", "many"], ["compare", "a"]],
)  # fmt: skip
def test_words_it_does_not_know_are_bad_input(fails: Fails, arguments: list[str]) -> None:
    fails(2, *arguments)


def test_who_gives_wrong_words_is_told_where_the_right_ones_stand(fails: Fails) -> None:
    assert "`rtqual show --help` says what it takes" in fails(2, "show", "a", "b")
    for word in ("no-such-command", "nope"):
        told = fails(2, word)
        assert "`rtqual --help` says what it takes" in told
        assert ", ;" not in told  # a list that was cut


def test_help_and_version_are_no_errors(rtqual: Run) -> None:
    for argument in ("--help", "--version"):
        done = rtqual(argument)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.strip()


def test_more_guests_at_a_time_than_allowed_are_refused(fails: Fails, mission: Callable[..., Path]) -> None:
    assert "write 1 or 2" in fails(2, "select", mission(), "--jobs", "3")


# --- missions


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("runs = 2", "runs = 2\nrunz = 3", "runz"),
        ('at_most = "100 us"', 'at_most = "100 parsec"', "parsec"),
        ('at_most = "100 us"', "at_most = 100", "at_most"),
        (
            '[[candidate]]\nname = "debian-rt"\ntitle = "debian-rt"\npackage = "linux-image-rt-amd64"\n',
            "candidate = []\n",
            "candidate",
        ),
        ('"linux-image-rt-amd64"', '"../etc"', "package"),
        ('["cyclictest"]', '["cyclictest-9000"]', "cyclictest-9000"),
        ('"hackbench"]', '"earthquake"]', "earthquake"),
        ("[mission]", "[mission", "not TOML"),
        ("cycles = 100", "cycles = -1", "cycles"),
    ],
)  # fmt: skip
def test_a_wrong_mission_is_refused_with_its_line(
    fails: Fails, mission: Callable[..., Path], tmp_path: Path, old: str, new: str, told: str
) -> None:
    path = mission() if old not in mission().read_text() else mission((old, new))
    if "candidate = []" in new:  # a key of the file, so before its first table
        path.write_text(new + mission().read_text().replace(old, ""))
    for command in (["mission", "check", path], ["select", path, "--out", tmp_path / "out"]):
        line = fails(2, *command)
        assert f"{path}:" in line
        assert told in line
    assert not (tmp_path / "out").exists()


def test_a_mission_that_is_not_there_or_no_text_is_refused(fails: Fails, tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    for path in (tmp_path / "nowhere.toml", tmp_path, tmp_path / "binary"):
        assert str(path) in fails(2, "select", path)


def test_a_scale_that_is_not_there_is_refused_with_those_that_are(fails: Fails, mission: Callable[..., Path]) -> None:
    line = fails(2, "select", mission(), "--scale", "huge")
    assert "no scale 'huge'" in line
    assert "demo" in line


def test_a_good_mission_is_good(rtqual: Run, mission: Callable[..., Path]) -> None:
    done = rtqual("mission", "check", mission())
    assert (done.returncode, done.stderr) == (0, "")
    good, *foreseen = done.stdout.splitlines()
    assert good == f"{mission()}: good; 1 candidate, scales demo"
    too_few = "'wake-up under load' gets 2 runs and max needs 6"
    assert foreseen == [f"scale demo: {too_few}", f"scale demo: no candidate can fly because {too_few}"]


def test_mission_keys_prints_a_table_or_says_which_there_are(rtqual: Run) -> None:
    assert "  deadline (duration): The longest time" in rtqual("mission", "keys", "program.task").stdout
    unknown = rtqual("mission", "keys", "candidat")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert unknown.stderr == "rtqual: no table 'candidat'; did you mean 'candidate' or 'candidate.built'?\n"


def test_the_schema_is_a_json_schema(rtqual: Run) -> None:
    schema = json.loads(rtqual("mission", "schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "candidate" in schema["properties"]


# --- what would run


@pytest.mark.guest
@pytest.mark.parametrize(
    ("arguments", "built"),
    [
        (["select"], []),
        (["tailor"], ["tailored", "flight-system"]),
        (["lidar"], []),
        (["lidar", "--scale", "lidar-tailored"], ["tailored"]),
    ],
)
def test_a_dry_run_lists_the_cells_and_leaves_nothing(
    rtqual: Run, tmp_path: Path, arguments: list[str], built: list[str]
) -> None:
    command = [*arguments, Path("docking/missions/docking.toml").absolute(), "--dry-run", "--out", tmp_path / "out"]
    shown, told = rtqual(*command), rtqual(*command, "--json")
    assert (shown.returncode, shown.stderr, told.returncode, told.stderr) == (0, "", 0, "")
    planned = json.loads(told.stdout)
    assert planned["left"]["cells"] == len(planned["cells"]) > 0
    assert all(cell["estimate_s"] > 0 and not cell["done"] for cell in planned["cells"])
    assert planned["kernels_to_build"] == built
    *_, last = shown.stdout.splitlines()
    assert last.startswith("Not in it: building kernels" if built else f"Left to do: {len(planned['cells'])} runs")
    assert not (tmp_path / "out").exists()


def test_a_dry_run_of_the_stepwise_mode_names_its_kernels(rtqual: Run, tmp_path: Path) -> None:
    mission = Path("docking/missions/docking.toml").absolute()
    done = rtqual("tailor", mission, "--stepwise", "--dry-run", "--json", "--out", tmp_path / "out")
    assert len(json.loads(done.stdout)["kernels_to_build"]) > 5
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("command", "told"), [("tailor", "no tailored kernel"), ("lidar", "from no camera")])
@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_a_scale_that_is_of_another_stage_is_refused(
    fails: Fails, mission: Callable[..., Path], tmp_path: Path, command: str, told: str, dry: tuple[str, ...]
) -> None:
    assert told in fails(2, command, mission(), "--scale", "demo", "--out", tmp_path / "out", *dry)
    assert not (tmp_path / "out").exists()


# --- what a mission asks for and cannot be had


@pytest.mark.guest
def test_a_package_that_does_not_exist_is_named(fails: Fails, mission: Callable[..., Path], tmp_path: Path) -> None:
    path = mission(("linux-image-rt-amd64", "linux-image-unobtainium"))
    assert "linux-image-unobtainium" in fails(2, "select", path, "--out", tmp_path / "out")


@pytest.mark.guest
def test_a_package_that_is_no_kernel_is_named(fails: Fails, mission: Callable[..., Path], tmp_path: Path) -> None:
    line = fails(2, "select", mission(("linux-image-rt-amd64", "bash")), "--out", tmp_path / "out")
    assert "bash: it is no kernel" in line


@pytest.mark.guest
def test_without_a_network_it_says_so(fails: Fails, mission: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "apt.conf").write_text(
        'Acquire::http::Proxy "http://127.0.0.1:9";\nAcquire::https::Proxy "http://127.0.0.1:9";\n'
        'Acquire::Retries "0";\n'
    )
    env = {"APT_CONFIG": str(tmp_path / "apt.conf"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert "check the network" in fails(3, "select", mission(), "--out", tmp_path / "out", env=env)


@pytest.mark.guest
def test_a_cache_that_cannot_be_written_is_named(fails: Fails, mission: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    line = fails(3, "select", mission(), "--out", tmp_path / "out", env={"XDG_CACHE_HOME": str(tmp_path / "file")})
    assert str(tmp_path / "file") in line


@pytest.mark.guest
def test_a_machine_without_qemu_is_told_what_to_install(
    fails: Fails, mission: Callable[..., Path], tmp_path: Path
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for folder in ("/usr/bin", "/bin", "/usr/sbin", "/sbin"):
        for tool in Path(folder).iterdir():
            if not tool.name.startswith("qemu") and not (tools / tool.name).exists():
                (tools / tool.name).symlink_to(tool)
    line = fails(3, "select", mission(), "--out", tmp_path / "out", env={"PATH": str(tools)})
    assert "apt-get install qemu-system-x86" in line


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted_disk(tmp_path / "small", "2m") as folder:
        yield folder


def test_a_disk_too_small_is_told_before_anything_runs(
    fails: Fails, mission: Callable[..., Path], small_disk: Path
) -> None:
    line = fails(3, "select", mission(), "--out", small_disk / "out")
    assert "MiB of disk and 2 MiB are free" in line
    assert "--out" in line


@pytest.mark.parametrize("out", ["file", "file/below", "/proc/rtqual", "/sys/rtqual"])
def test_a_folder_that_cannot_be_written_is_named(
    fails: Fails, mission: Callable[..., Path], tmp_path: Path, out: str
) -> None:
    (tmp_path / "file").write_text("")
    line = fails(3, "select", mission(), "--out", tmp_path / out)
    assert str(tmp_path / out) in line
    assert "--out" in line


@pytest.mark.guest
def test_without_realtime_priority_this_machine_is_not_measured(
    fails: Fails, mission: Callable[..., Path], tmp_path: Path
) -> None:
    """Else cyclictest would measure how late an ordinary program wakes up, and look as if it were the kernel."""
    under = ["prlimit", "--rtprio=0:0"]
    if os.geteuid() == 0:
        under = ["setpriv", "--bounding-set", "-sys_nice", "--inh-caps", "-sys_nice", *under]
    path = mission(candidates=("here",))
    done = subprocess.run(
        [*under, *rtqual_command("select", path, "--out", tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    failed = [line for line in done.stderr.splitlines() if line.startswith("failed here: cyclictest")]
    assert len(failed) == 4
    assert all("real-time priority is not allowed here: run as root, or raise RLIMIT_RTPRIO" in one for one in failed)
    assert done.stderr.splitlines()[-1].startswith("rtqual: no cell gave a record: ")
    assert not list((tmp_path / "out").glob("report.*"))


# --- plans


def test_a_dry_run_lists_the_cells_and_runs_none(rtqual: Run, mission: Callable[..., Path], tmp_path: Path) -> None:
    path = mission(candidates=("debian-rt", "debian", "here"))
    plan = json.loads(rtqual("select", path, "--out", tmp_path / "out", "--dry-run", "--json").stdout)
    assert len(plan["cells"]) == 2 * 2 * 3 + 2 * 2
    assert all(cell["estimate_s"] > 0 and not cell["done"] for cell in plan["cells"])
    assert plan["left"]["cells"] == len(plan["cells"])
    assert plan["left"]["wall_s"] > 0
    assert plan["left"]["disk_b"] > 2**20
    text = rtqual("select", path, "--out", tmp_path / "out", "--dry-run").stdout
    assert "Left to do: 16 runs" in text
    assert not (tmp_path / "out").exists()


def test_a_dry_run_of_a_finished_campaign_has_nothing_left(rtqual: Run, campaign: Path, mission_file: Path) -> None:
    plan = json.loads(rtqual("select", mission_file, "--out", campaign, "--dry-run", "--json").stdout)
    assert [cell["done"] for cell in plan["cells"]] == [True] * 6
    assert plan["left"] == {"cells": 0, "wall_s": 0, "disk_b": 0}


@pytest.mark.guest
def test_doctor_tells_as_json(rtqual: Run) -> None:
    done = rtqual("doctor", "--json")
    assert done.returncode in (0, 1)
    assert json.loads(done.stdout)


@pytest.mark.parametrize("words", [["--help"], ["published"], ["init", "--help"]])
def test_a_reader_that_is_gone_is_told_from_every_other_end(words: list[str]) -> None:
    """141, as of a program that SIGPIPE ended; rich's own 1 would say of a gate that something is worse."""
    end, ours = os.pipe()
    os.close(end)
    try:
        done = subprocess.run(rtqual_command(*words), stdout=ours, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(ours)
    assert (done.returncode, done.stderr) == (141, b"")


def test_what_is_foreseen_is_told_to_machines_and_ends_a_strict_check(
    rtqual: Run, fails: Fails, mission: Callable[..., Path]
) -> None:
    good = mission()
    told = json.loads(rtqual("mission", "check", good, "--json").stdout)
    assert told["candidates"] == ["debian-rt"]
    remarks = [remark for scale in told["scales"].values() for remark in scale["remarks"]]
    text = rtqual("mission", "check", good).stdout
    assert all(remark in text for remark in remarks)
    assert rtqual("mission", "check", good, "--strict").returncode == (1 if remarks else 0)
    good.write_text(good.read_text().replace("runs = ", "runs = 1 # "))
    strict = rtqual("mission", "check", good, "--strict", "--json")
    assert strict.returncode == 1
    assert any("needs" in remark for remark in json.loads(strict.stdout)["scales"]["demo"]["remarks"])
