# SPDX-License-Identifier: MIT
"""`rtqual ci`: a file that a server takes, for a repository that is not rtqual's. test_dist.py runs its steps."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from rtqual.base.errors import BadInput
from rtqual.face.commands.ci import ci
from rtqual.face.commands.doctor import doctor
from rtqual.face.commands.init import init
from support.mission_texts import GOOD

WHEEL = "https://example.org/rtqual-0.3.0-py3-none-linux_x86_64.whl"
LOAD = '\n[[load]]\nname = "mine"\ncommand = ["sh", "-c", "while :; do :; done"]\n'


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "my missions").mkdir()
    (tmp_path / "my missions/m.toml").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(job: Any) -> str:
    """All that a job's steps run."""
    return "\n".join(job.get("script") or [step.get("run", "") for step in job["steps"]])


def written(server: str, rtqual: str = WHEEL, mission: str = "my missions/m.toml", **options: Any) -> Any:
    """The job of the file."""
    assert ci(server, Path(mission), rtqual=rtqual, **options) == 0  # type: ignore[arg-type]
    file = options.get("out") or Path({"github": ".github/workflows/rtqual.yml", "gitlab": ".gitlab-ci.yml"}[server])
    read = yaml.safe_load(file.read_text())
    (job,) = read["jobs"].values() if server == "github" else read.values()
    return job


@pytest.mark.parametrize("server", ["github", "gitlab"])
def test_what_is_asked_for_stands_in_the_file(repository: Path, server: str) -> None:
    job = written(server, mission_only=True, tolerance=2.5)
    told = job.get("env") or job["variables"]
    assert told["MISSION"] == "my missions/m.toml"
    assert told["RTQUAL"] == f"rtqual[analysis,report] @ {WHEEL}"
    assert "--mission-only --tolerance 2.5" in shell(job)
    assert "--run-programs" not in shell(job)
    assert (job.get("container") or job["image"]) == "debian:12"
    with pytest.raises(BadInput, match="is there already"):
        written(server)


@pytest.mark.parametrize("server", ["github", "gitlab"])
def test_no_value_is_read_by_the_shell(repository: Path, server: str) -> None:
    """GitHub puts what stands in ${{ }} into a step's text before a shell reads it."""
    for script in written(server).get("steps", [{}]):
        assert "${{" not in script.get("run", "")


def test_a_mission_with_loads_of_its_own_lets_them_run(repository: Path) -> None:
    (repository / "own.toml").write_text(GOOD + LOAD)
    assert "--run-programs" in shell(written("gitlab", mission="own.toml"))


def test_a_wheel_of_the_repository_is_named_by_its_path_and_an_option_says_which_debian(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "rtqual-0.3.0-py3-none-linux_x86_64.whl").write_text("")
    job = written("gitlab", "rtqual-0.3.0-py3-none-linux_x86_64.whl", debian="13")
    assert job["image"] == "debian:13"
    assert job["variables"]["RTQUAL"] == "./rtqual-0.3.0-py3-none-linux_x86_64.whl[analysis,report]"
    files = "my missions/m.toml and rtqual-0.3.0-py3-none-linux_x86_64.whl"
    assert capsys.readouterr().out == f".gitlab-ci.yml: commit it with {files}.\n"


def test_what_is_built_there_gets_its_compilers(repository: Path) -> None:
    (repository / "arm.toml").write_text(GOOD.replace("linux-image-rt-amd64", "linux-image-rt-arm64"))
    assert " musl-tools" in shell(written("gitlab", "git+https://example.org/r.git@v1"))
    assert "aarch64" in shell(written("gitlab", "git+https://example.org/r.git@v1", "arm.toml", out=Path("arm.yml")))


@pytest.mark.parametrize(
    ("rtqual", "mission", "why"),
    [
        ("rtqual", "my missions/m.toml", "is to be git"),
        ("https://example.org/rtqual-0.3.0-cp312-cp312-linux_x86_64.whl", "my missions/m.toml", "py3-none"),
        ("rtqual-0.3.0-py3-none-linux_x86_64.whl", "my missions/m.toml", "no such file"),
        ("git+https://example.org/$(id)", "my missions/m.toml", "can hold letters"),
        ("git+https://example.org/${{ secrets.A }}", "my missions/m.toml", "can hold letters"),
        ("../rtqual-0.3.0-py3-none-linux_x86_64.whl", "my missions/m.toml", "no such file"),
        (WHEEL, "../m.toml", "from the top folder"),
        (WHEEL, "/etc/passwd", "from the top folder"),
        (WHEEL, "none.toml", "none.toml"),
    ],
)
def test_what_a_job_could_not_do_is_refused(repository: Path, rtqual: str, mission: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        written("github", rtqual, mission)
    assert not (repository / ".github").exists()


@pytest.mark.parametrize(
    "wrong", [{"tolerance": -1.0}, {"tolerance": float("nan")}, {"scale": "none"}, {"branch": "a;b"}]
)
def test_options_that_the_job_would_trip_over_are_refused(repository: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        written("gitlab", **wrong)


def test_a_branch_whose_name_is_a_pattern_of_githubs_is_that_branch(repository: Path) -> None:
    """'+' repeats what stands before it: the job never ran on c++."""
    job = written("github", branch="c++")
    assert job["env"]["BRANCH"] == "c++"
    read = yaml.safe_load((repository / ".github/workflows/rtqual.yml").read_text())
    assert read[True]["push"]["branches"] == [r"c\+\+"]  # YAML's `on`


def test_a_folder_that_is_no_repository_is_refused(repository: Path) -> None:
    (repository / ".git").rmdir()
    with pytest.raises(BadInput, match="not the top folder of a repository"):
        written("github")


def test_doctor_names_what_a_mission_needs_and_this_machine_lacks(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = repository / "bin"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    monkeypatch.setattr("rtqual.stages.doctor.tools._SYSTEM_PATH", str(empty))
    init(Path("least.toml"))
    capsys.readouterr()
    assert doctor(install=Path("least.toml")) == 0
    line = capsys.readouterr().out.strip()
    assert "apt-get install --yes --no-install-recommends " in line
    assert {"qemu-system-x86", "cpio", "kmod", "e2fsprogs"} < {*line.split()}
    assert not {"stress-ng", "gcc-arm-none-eabi", "maven", "bison"} & {*line.split()}  # guests bring their own


def test_a_kernel_that_apt_does_not_know_leaves_its_telling_to_rtqual(repository: Path) -> None:
    (repository / "typo.toml").write_text(GOOD.replace("linux-image-rt-amd64", "linux-image-rtt-amd64"))
    (step,) = [step for step in written("github", mission="typo.toml")["steps"] if step.get("id") == "key"]
    for name, script in (("rtqual", "echo 0.3.0"), ("apt-cache", "exit 100")):
        (repository / name).write_text(f"#!/bin/sh\n{script}\n")
        (repository / name).chmod(0o755)
    env = {"PATH": f"{repository}:/usr/bin:/bin", "MISSION": "typo.toml", "GITHUB_OUTPUT": "told"}
    assert _bash(step["run"], **env).returncode == 0
    assert re.fullmatch(r"key=[0-9a-f]{32}\n", (repository / "told").read_text())


@pytest.mark.parametrize("server", ["github", "gitlab"])
def test_the_log_and_the_summary_tell_why_the_gate_failed(repository: Path, server: str) -> None:
    """On GitHub the step's log was empty, and the summary had no reason of a gate that refused."""
    job = written(server)
    script = next(
        script for script in job.get("script") or [s.get("run", "") for s in job["steps"]] if "gate " in script
    )
    (repository / "rtqual").write_text("#!/bin/sh\necho 'rtqual: other parameters' >&2\nexit 2\n")
    (repository / "rtqual").chmod(0o755)
    (repository / ("baseline" if server == "github" else "baseline/out/ci")).mkdir(parents=True)
    done = _bash(script, PATH=f"{repository}:/usr/bin:/bin")
    assert done.returncode == 2
    assert done.stdout == (repository / "gate.md").read_text() == "rtqual: other parameters\n"


@pytest.mark.parametrize("measured", [True, False])
def test_a_job_of_gitlabs_that_compared_nothing_comments_too(repository: Path, *, measured: bool) -> None:
    """The comment of the job before stayed. GitLab's runner ends an after_script at its first error."""
    (script,) = written("gitlab")["after_script"]
    (repository / "curl").write_text("#!/bin/sh\necho '[]'\n")
    (repository / "curl").chmod(0o755)
    if measured:
        (repository / "out/ci").mkdir(parents=True)
        (repository / "out/ci/summary.md").write_text("The kernel panicked.\n")
    env = {"RTQUAL_COMMENTS": "T", "CI_MERGE_REQUEST_IID": "4", "CI_API_V4_URL": "", "CI_PROJECT_ID": "7"}
    assert _bash(script, PATH=f"{repository}:/usr/bin:/bin", **env).returncode == 0
    told = "The kernel panicked." if measured else "Nothing was measured"
    assert told in (repository / "note.json").read_text()


def _bash(script: str, **env: str) -> "subprocess.CompletedProcess[str]":
    """As a runner's shell."""
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)
