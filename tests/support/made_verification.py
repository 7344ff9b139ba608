# SPDX-License-Identifier: MIT
"""A finished verification's folder of a log that was made up."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.lost import begun, ended, lost_in
from rtqual.engine.procedure.played_log import LOG_SERIES, OCTET, PREFIX
from rtqual.protocols.record.schema import Scalar, Series
from rtqual.protocols.record.store import Store
from rtqual_docking.procedures.kept_procedures import Procedures
from rtqual_docking.procedures.log_figures import figures
from support.analysis_records import record
from support.command import mission_text
from support.ground_log import definition, good, procedure
from support.made_campaign import sealed

MARKED = "A <b>mark</b> | and [link](x)"
VERIFY = f"""
[verify]
candidate = "debian-rt"
procedures = "gone"

[[verify.requirement]]
id = "TC-010"
text = "{MARKED}"

[[verify.requirement]]
id = "TC-020"
text = "Nothing shows it."
"""


def made(
    folder: Path, *, log: Callable[[str], str] = str, other: Mapping[str, Any] | None = None, lost: Sequence[str] = ()
) -> Path:
    """START_STOP, flown as it should be unless `log` changes its log; no file of procedures is left. `other`: what its
    record says otherwise; `lost`: why the runs before it left no record."""
    folder.mkdir()
    flown = procedure(folder)
    text = log(good(flown).text)
    latencies = figures(flown, text, definition()).latencies_ns
    octets = np.frombuffer(text.encode(), np.uint8).astype(np.int64)
    series = [Series.raw(octets, name=LOG_SERIES, unit=OCTET)]
    series += [Series.raw(values, name=name) for name, values in sorted(latencies.items())]
    scalars = {"frames": Scalar(value=60, unit="1"), "frames_lost": Scalar(value=0, unit="1")}
    said = {"candidate": "debian-rt", "instrument": PREFIX + flown.name, "scalars": scalars}
    one = sealed(record(series, **said | dict(other or {})))
    name = Store(folder / kept.RECORDS).write(one).name
    for why in (*lost, None):
        begun(folder, name, one.inputs, one.manifest.repeat)
        ended(folder, name, why)
    before = lost_in(folder, [name])
    result = kept.Result((one,), {}, {}, lost=before, procedures=Procedures(procedures={flown.name: flown}))
    kept.keep(folder, (mission_text("debian-rt") + VERIFY).encode(), kept.VERIFY + "full", result)
    (folder / "start-stop.toml").unlink()
    return folder
