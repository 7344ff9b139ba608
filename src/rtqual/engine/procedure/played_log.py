# SPDX-License-Identifier: MIT
"""A procedure that was played: the instrument that it is in records, and the log that these keep."""

import signal
from collections.abc import Mapping

import numpy as np

from rtqual.protocols.record.schema import Record, Scalar

PREFIX = "procedure-"  # begins the instrument's name
LOG_SERIES, OCTET = "log", "octet"
ENDED_BY, ENDED_WITH = "program ended by signal", "program ended with code"  # before it was to


def log_of(record: Record) -> str:
    """The log that a record keeps; empty where it keeps none. What is no octet becomes a mark that no log has."""
    for series in record.series:
        chunks = series.ordered() if series.info.name == LOG_SERIES and series.info.unit == OCTET else None
        if chunks is not None:
            octets = np.concatenate([np.zeros(0, np.int64), *chunks])
            sound = bool(((octets >= 0) & (octets < 128)).all())
            return octets.astype(np.uint8).tobytes().decode("ascii") if sound else "\0"
    return ""


def how_it_ended(scalars: Mapping[str, Scalar]) -> str:
    """Of a program of the user's that ended before it was to; empty where it did not."""
    if ENDED_BY in scalars:
        number = int(scalars[ENDED_BY].value)
        names = {int(known): known.name for known in signal.Signals}
        return f"was ended by {names.get(number, f'signal {number}')}"
    return f"ended with exit code {scalars[ENDED_WITH].value:.0f}" if ENDED_WITH in scalars else ""
