# SPDX-License-Identifier: MIT
"""`rtqual lint`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from rtqual.base.architecture import ARCHITECTURES
from rtqual.base.errors import BadInput
from rtqual.face.commands.app import STDOUT, Json, print_json
from rtqual.protocols.board.registry import leading, this_machine

if TYPE_CHECKING:
    Board = str
    Processor = str
else:
    Board = Literal[tuple(sorted(leading()))]
    Processor = Literal[tuple(architecture.name for architecture in ARCHITECTURES)]


def lint(
    file: Path | None = None,
    /,
    *,
    running: Annotated[bool, Parameter(negative="")] = False,
    board: Board | None = None,
    candidate: str | None = None,
    boot: str | None = None,
    cpus: int | None = None,
    tree: str | None = None,
    architecture: Processor | None = None,
    as_json: Json = False,
) -> int:
    """Judge the settings that decide latency, of a kernel's configuration or a running system (docs/lint.md).

    Parameters
    ----------
    file
        A kernel's .config, also gzipped; with --board virtual the mission file.
    running
        Judge this machine as it runs, as --board local does.
    board
        Where the system runs that is judged.
    candidate
        Which of the mission's candidates to boot on the virtual board.
    boot
        The kernel parameters that FILE's kernel will be booted with, in one string.
    cpus
        How many CPUs FILE's kernel will have; with --board virtual, how many the guest gets.
    tree
        The kernel's source, which completes FILE where that is a fragment or defconfig: a path, or Debian's package.
        Its makefiles run as you.
    architecture
        For which processor; without it the one whose folder FILE lies in (arch/NAME/configs), else amd64.
    """
    from rtqual.parts.tailor.lint import stage  # noqa: PLC0415
    from rtqual.parts.tailor.lint.words import as_dict, print_lint  # noqa: PLC0415

    if running and board not in (None, this_machine().name):
        raise BadInput(f"--running and --board {board}: one system at a time")
    linted = stage.lint(
        file,
        board=this_machine().name if running else board,
        candidate=candidate,
        boot=boot,
        cpus=cpus,
        tree=tree,
        architecture=architecture,
    )
    if as_json:
        print_json(as_dict(linted))
    else:
        print_lint(STDOUT, linted)
    return 1 if linted.failed else 0
