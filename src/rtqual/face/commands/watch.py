# SPDX-License-Identifier: MIT
"""`rtqual watch`."""

import shlex
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.live import Live

from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.program import run
from rtqual.base.words import clean
from rtqual.face.commands.app import LITERAL, tell

if TYPE_CHECKING:
    from rtqual.stages.watched import Watched, Worse

_LONGEST_S = 60.0  # of the user's command, which is ended then
_EVERY_S = 2.0


def watch(folders: list[Path], /, *, on_worse: str = "", once: Annotated[bool, Parameter(negative="")] = False) -> int:
    """Show campaigns while they run: what runs, what the last runs gave, and the largest sample so far.

    It ends when none of them runs any more.

    Parameters
    ----------
    folders
        The campaigns' folders.
    on_worse
        A command of yours to run when a run is later than all before it of its group, without a shell. What is worse
        stands in its environment: RTQUAL_FOLDER, RTQUAL_CANDIDATE, RTQUAL_INSTRUMENT, RTQUAL_LOAD, RTQUAL_BOARD,
        RTQUAL_CPUS, RTQUAL_WORST_NS, RTQUAL_BEFORE_NS, RTQUAL_RECORD.
    once
        Look once, and end.
    """
    from rtqual.face.terminal.watch_lines import campaigns, told  # noqa: PLC0415
    from rtqual.stages.watched import Watched  # noqa: PLC0415 - the libraries behind it are slow to load

    argv = _command(on_worse)
    watched = [Watched(folder) for folder in folders]
    for each in watched:
        list(each.look())  # what was there is no news
        for text in each.damaged:
            tell(text)
    if once or not any(each.works for each in watched):
        LITERAL.print(campaigns(watched))
        return 0

    def news() -> None:
        for each in watched:
            damaged = len(each.damaged)
            for worse in each.look():
                LITERAL.print(told(worse), highlight=False, soft_wrap=True)
                _run(argv, worse)
            for text in each.damaged[damaged:]:
                tell(text)

    try:
        if LITERAL.is_terminal:
            with Live(get_renderable=lambda: campaigns(watched), console=LITERAL, refresh_per_second=1):
                _follow(watched, news)
        else:
            LITERAL.print(campaigns(watched))
            _follow(watched, news)
            LITERAL.print(campaigns(watched))
    except KeyboardInterrupt:  # the usual end of looking; what is looked at goes on
        return 130
    return 0


def _follow(watched: "Sequence[Watched]", news: Callable[[], None]) -> None:
    goes_on = True
    while goes_on:
        goes_on = any(each.works for each in watched)  # before looking: what came last is seen
        news()
        if goes_on:
            time.sleep(_EVERY_S)


def _command(text: str) -> list[str]:
    """Its words. Raises BadInput where it cannot run."""
    try:
        argv = shlex.split(text)
    except ValueError as error:
        raise BadInput(f"--on-worse {text!r}: {error}; quote it as for a shell") from None
    if text and not (argv and shutil.which(argv[0])):
        raise BadInput(f"--on-worse {text!r}: no such program; give a program and its arguments, no shell reads them")
    return argv


def _run(argv: Sequence[str], worse: "Worse") -> None:
    if not argv:
        return
    group = worse.group
    facts = {
        "FOLDER": worse.folder,
        "CANDIDATE": group.candidate,
        "INSTRUMENT": group.instrument,
        "LOAD": group.load,
        "BOARD": group.board,
        "CPUS": group.cpus,
        "WORST_NS": f"{worse.now.value:.0f}",
        "BEFORE_NS": f"{worse.before.value:.0f}",
        "RECORD": worse.now.record,
    }
    told = {f"RTQUAL_{name}": clean(str(value)) for name, value in facts.items()}
    try:
        done = run(argv, also=told, timeout_s=_LONGEST_S)
    except RunFailed as error:
        tell(f"--on-worse: {error}")
    else:
        if done.code:
            tell(f"--on-worse: {argv[0]} {done.how}: {done.said or 'it said nothing'}")
