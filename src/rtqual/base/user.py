# SPDX-License-Identifier: MIT
"""Who runs rtqual."""

import getpass
import os
import platform


def user_name() -> str | None:
    """None where a user has a number only, as in many a container."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # KeyError before Python 3.13
        return None


def user_at_host() -> str:
    return f"{user_name() or os.geteuid()}@{platform.node()}"
