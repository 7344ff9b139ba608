# SPDX-License-Identifier: MIT
"""`rtqual ci`: the file by which a user's own repository measures on each change and gates against a baseline."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.mission import Mission, load_mission
from rtqual.protocols.load.own import own_loads

SERVERS = {"github": Path(".github/workflows/rtqual.yml"), "gitlab": Path(".gitlab-ci.yml")}
_PACKAGES = ("ca-certificates", "curl", "git", "jq", "python3-venv")
_COMPILERS = ("gcc", "libc6-dev", "make", "musl-tools")  # of a wheel that is built there
_FOREIGN = {
    "arm64": ("gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"),
    "armhf": ("gcc-arm-linux-gnueabihf", "libc6-dev-armhf-cross"),
}
_EXTRAS = "[analysis,report]"
_PLAIN = re.compile(r"[\w./:@+%#?=&~, -]+", re.ASCII)  # neither shell, nor YAML, nor a server reads anything into it


@dataclass(frozen=True)
class CiWanted:
    """What the file is made of. `rtqual`: a wheel's URL, or its path in the repository, or git+URL."""

    server: str
    mission: Path
    rtqual: str
    scale: str
    branch: str
    gate: tuple[str, ...] = ()  # options
    debian: str = "12"  # the container's


class _Written(Template):
    """Shells have the dollar."""

    delimiter = "@"


def write(wanted: CiWanted, file: Path | None) -> Path:
    """Write it for the repository whose top folder this is. Raises BadInput, also where a file is there already."""
    path = file or SERVERS[wanted.server]
    if file is None and not Path(".git").exists():
        raise BadInput(
            f"{Path.cwd()} is not the top folder of a repository, where {path} belongs: go there, or give --out"
        )
    text = _text(wanted)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x") as out:
            out.write(text)
    except FileExistsError:
        raise BadInput(f"{path} is there already: give --out ANOTHER, and take from it what you need") from None
    except OSError as error:
        raise RunFailed(f"{path}: cannot be written: {error.strerror}") from None
    return path


def _text(wanted: CiWanted) -> str:
    for option, value in (("MISSION", str(wanted.mission)), ("--rtqual", wanted.rtqual), ("--branch", wanted.branch)):
        if not _PLAIN.fullmatch(value) or value.startswith(("-", " ")):
            raise BadInput(
                f"{option} {value!r}: a server's file can hold letters, digits, blanks and ./:@+%#?=&~,- only"
            )
    if wanted.mission.is_absolute() or ".." in wanted.mission.parts:
        raise BadInput(f"{wanted.mission}: is looked for in the repository: write its path from the top folder")
    mission = load_mission(wanted.mission)
    mission.scale(wanted.scale)
    requirement = _source(wanted.rtqual)
    template = files("rtqual.stages").joinpath(f"templates/{wanted.server}.yml").read_text()
    return _Written(template).substitute(
        mission=json.dumps(wanted.mission.as_posix()),
        rtqual=json.dumps(requirement),
        branch=json.dumps(wanted.branch),
        pattern=json.dumps(re.sub(r"([+?])", r"\\\1", wanted.branch)),  # GitHub's filter repeats what is before them
        scale=wanted.scale,
        debian=wanted.debian,
        packages=" ".join(_packages(mission, wanted.rtqual)),
        gate="".join(f" {option}" for option in wanted.gate),
        run_programs=" --run-programs" if mission.programs or own_loads(mission.loads) else "",
    )


def _source(where: str) -> str:
    """What pip is asked for."""
    if where.startswith("git+"):
        return f"rtqual{_EXTRAS} @ {where}"
    if not re.search(r"rtqual-[^/]*-py3-none-[^/]*\.whl$", where):
        raise BadInput(
            f"--rtqual {where}: is to be git+URL, or the URL or path of a wheel, rtqual-...-py3-none-....whl"
        )
    if "://" in where:
        return f"rtqual{_EXTRAS} @ {where}"
    if not Path(where).is_file() or Path(where).is_absolute() or ".." in Path(where).parts:
        raise BadInput(f"--rtqual {where}: there is no such file in the repository: write its path from the top folder")
    return f"./{Path(where).as_posix()}{_EXTRAS}"


def _packages(mission: Mission, where: str) -> Iterator[str]:
    yield from _PACKAGES
    if where.startswith("git+"):
        yield from _COMPILERS
        processors = {candidate.architecture.name for candidate in mission.candidates if candidate.architecture}
        for processor in sorted(processors & {*_FOREIGN}):
            yield from _FOREIGN[processor]
