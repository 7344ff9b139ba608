# SPDX-License-Identifier: MIT
"""The failures a user sees: one line that says what, where and what to do."""


class RtqualError(Exception):
    """A failure to print as one line, without a traceback."""

    exit_code = 1


class BadInput(RtqualError):
    """What the user gave cannot be used (a mission, a record, a package name)."""

    exit_code = 2


class RunFailed(RtqualError):
    """A run did not give a result: the guest died, an instrument failed, the disk is full."""

    exit_code = 3
