# SPDX-License-Identifier: MIT
"""Programs that end when rtqual does, however it is ended."""

import os
import shutil
from collections.abc import Sequence

# The kernel kills the program when the thread that started it dies (prctl(2), PR_SET_PDEATHSIG). Should that thread
# have died before this was set, the shell has another parent, and starts nothing.
_UNLESS_ORPHANED = '[ "$PPID" = "$0" ] && exec "$@"'


def with_us(command: Sequence[str]) -> list[str]:
    """The command as it is where setpriv is missing, which doctor says."""
    if not shutil.which("setpriv"):
        return [*command]
    return ["setpriv", "--pdeathsig", "KILL", "sh", "-c", _UNLESS_ORPHANED, str(os.getpid()), *command]
