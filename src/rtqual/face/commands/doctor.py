# SPDX-License-Identifier: MIT
"""`rtqual doctor`."""

from rtqual.face.commands.app import STDOUT, Json, print_json


def doctor(*, as_json: Json = False) -> int:
    """Say what this machine can do, what is missing, and the command that mends it."""
    from rtqual.stages import doctor as examination  # noqa: PLC0415

    checks = examination.diagnose()
    if as_json:
        print_json(examination.as_json(checks))
    else:
        STDOUT.print(examination.render(checks))
    return 0 if examination.demo_can_run(checks) else 1
