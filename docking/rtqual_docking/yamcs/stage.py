# SPDX-License-Identifier: MIT
"""`rtqual ground`: Yamcs made ready for a mission's flight program, in a folder of its own."""

from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from rtqual.base import unlinked
from rtqual.base.errors import BadInput
from rtqual.base.words import whole
from rtqual.engine.mission import Mission
from rtqual.stages.flown import flown
from rtqual_docking.packets.definition import load as load_definition
from rtqual_docking.yamcs.stacks import stacks
from rtqual_docking.yamcs.yamcs import MAIN, MARK, VERSION, GroundPlace, configuration

_OURS = "pom.xml"  # written first
_MOST_B = 1 << 16
_FOLDERS = ("displays", "stacks", "files")  # Yamcs's buckets


@dataclass(frozen=True)
class WrittenGround:
    folder: Path
    files: tuple[str, ...]
    commands: tuple[str, ...]  # that start Yamcs
    page: str  # where it then is
    stacks: int
    yamcs: str = VERSION


def ground(mission: Mission, folder: Path, place: GroundPlace) -> WrittenGround:
    """Raises BadInput where the folder holds something else, or a procedure is wrong."""
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not _is_ours(folder))):
        raise BadInput(f"{folder}: holds something else than a ground's configuration; give --out another folder")
    definition = load_definition()
    made = stacks(flown(mission, mission.verify).procedures if mission.verify else (), definition)
    files = {**configuration(definition, mission.mission.name, place), **made}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        unlinked.write(folder, name, text.encode())
    for name in _FOLDERS:
        unlinked.require(folder, name).mkdir(exist_ok=True)
    commands = (
        f"cd {quote(str(folder))}",
        "mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib",
        f"java -Xmx256m -cp 'lib/*' {MAIN} --etc-dir etc --data-dir data",
    )
    return WrittenGround(folder, tuple(files), commands, f"http://127.0.0.1:{place.web_port}", len(made))


def _is_ours(folder: Path) -> bool:
    """Every folder of Yamcs has an etc/yamcs.yaml, and that one may be somebody's own."""
    try:
        return MARK in unlinked.read(folder, _OURS, _MOST_B).decode(errors="replace")
    except OSError:
        return False


def place(board: str, web_port: int) -> GroundPlace:
    """Raises BadInput for what is no HOST:PORT."""
    host, _, port = board.rpartition(":")
    number = whole(port) or 0
    if not host or not 0 < number < 65536:
        raise BadInput(f"--board {board!r}: write where the flight program listens, as 127.0.0.1:10025")
    if not 0 < web_port < 65536:
        raise BadInput(f"--web-port {web_port}: write a TCP port, 1 to 65535")
    return GroundPlace(host.strip("[]"), number, web_port)
