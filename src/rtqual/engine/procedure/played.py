# SPDX-License-Identifier: MIT
"""A procedure that was played: the instrument that it is in records, and the log that these keep."""

import numpy as np

from rtqual.protocols.record.schema import Record

PREFIX = "procedure-"  # begins the instrument's name
LOG_SERIES, OCTET = "log", "octet"


def log_of(record: Record) -> str:
    """The log that a record keeps; empty where it keeps none. What is no octet becomes a mark that no log has."""
    for series in record.series:
        chunks = series.ordered() if series.info.name == LOG_SERIES and series.info.unit == OCTET else None
        if chunks is not None:
            octets = np.concatenate([np.zeros(0, np.int64), *chunks])
            sound = bool(((octets >= 0) & (octets < 128)).all())
            return octets.astype(np.uint8).tobytes().decode("ascii") if sound else "\0"
    return ""
