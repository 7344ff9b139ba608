# SPDX-License-Identifier: MIT
"""`rtqual doctor`."""

from pathlib import Path

from rtqual.face.commands.app import LITERAL, STDOUT, Json, print_json


def doctor(*, install: Path | None = None, as_json: Json = False) -> int:
    """Say what this machine can do, what is missing, and how to get it.

    Parameters
    ----------
    install
        Print only the apt line that installs what this mission needs and is not here, for a shell to read; nothing
        where all is here.
    """
    from rtqual.stages import doctor as examination  # noqa: PLC0415

    if install:
        from rtqual.engine.mission import load_mission  # noqa: PLC0415

        if line := examination.install_for(load_mission(install)):
            LITERAL.print(line, highlight=False, soft_wrap=True)
        return 0
    checks = examination.diagnose()
    if as_json:
        print_json(examination.as_json(checks))
    else:
        STDOUT.print(examination.render(checks), soft_wrap=True)
    return 0 if examination.demo_can_run(checks) else 1
