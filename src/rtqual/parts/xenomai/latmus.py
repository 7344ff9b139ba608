# SPDX-License-Identifier: MIT
"""libevl's latmus over EVL: how late a periodic thread, a kernel thread or a timer's handler begins.

Its histogram counts in whole microseconds; minimum, average and maximum are its own, in 1 ns. They are of whole
seconds, while the histogram has the samples of the second that the end cuts off, too.
"""

import re
from dataclasses import dataclass

from rtqual.base.errors import RunFailed
from rtqual.parts.xenomai.gravity import EVL, FILE, found, series_name, settle
from rtqual.parts.xenomai.latency import DualParameters
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument
from rtqual.protocols.instrument.output import clock_problems, fifo_problems, require_success
from rtqual.protocols.record.schema import Measurement, Scalar, Series, SeriesKind

_PLOT = "latmus.txt"
_BINS = 1_000  # of 1 us: the most that it takes
_BIN_NS = 1_000
_BIN = re.compile(r"^(\d{1,4})\+? (\d{1,10})$", re.MULTILINE | re.ASCII)
_FIGURES = {"min": "min latency", "avg": "avg latency", "max": "max latency"}
_COUNTS = {"overruns": "OVERRUNS", "mode switches": "IN-BAND SWITCHES"}  # told where there are any


@dataclass(frozen=True, kw_only=True)
class Latmus(Instrument):
    option: str

    def job(self, parameters: DualParameters, *, cpus: int, seed: int) -> Job:
        argv = (
            *("latmus", "-m", self.option, "-q", "-C", "0", "-P", str(parameters.priority)),
            *("-p", str(parameters.interval // 1_000), "-T", str(parameters.seconds)),
            *("-H", str(_BINS), f"-g{_PLOT}"),
        )
        return Job(Command(argv, fifo=1), setup=(settle(parameters.gravity, EVL),), collect=(FILE, _PLOT))

    def read(self, parameters: DualParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:
        require_success("latmus", outcome)
        text = outcome.files.get(_PLOT, "")
        reported = {name: float(round(_said(text, label) * 1_000)) for name, label in _FIGURES.items()}
        samples = int(_said(text, "sample count"))
        bins = {int(us) * _BIN_NS + _BIN_NS // 2: int(count) for us, count in _BIN.findall(text) if int(count)}
        problems = clock_problems(outcome)
        if self.option == "-u":
            problems += fifo_problems(outcome, parameters.priority, 1)
        name = series_name(parameters.gravity)
        if reported["min"] < 0 or reported["max"] >= _BINS * _BIN_NS:  # its bins know no sign and no end
            series = Series.counted({}, SeriesKind.SUMMARY, name=name, cpu=0, reported=reported | {"n": float(samples)})
        else:
            series = Series.counted(bins, SeriesKind.BINNED, name=name, cpu=0, reported=reported)
            if series.total < samples:
                raise RunFailed(f"latmus counted {samples} samples and has {series.total} in its histogram")
        if (taken := max(samples, sum(bins.values()))) < 0.9 * parameters.samples:
            problems.append(f"latmus took {taken} samples of {parameters.samples}")
        counts = {what: Scalar(value=_said(text, label, 0.0), unit="1") for what, label in _COUNTS.items()}
        return Measurement((series,), {**counts, **found(parameters.gravity, "latmus", outcome)}, tuple(problems))

    def samples(self, parameters: DualParameters, *, cpus: int) -> int:
        return parameters.samples

    def seconds(self, parameters: DualParameters, load: str) -> float:
        return parameters.run_s


def _said(text: str, label: str, unless: float | None = None) -> float:
    match = re.search(rf"^# {label}: (-?\d{{1,9}}(?:\.\d{{3}})?)$", text, re.MULTILINE | re.ASCII)
    if match:
        return float(match[1])
    if unless is None:
        raise RunFailed(f"latmus wrote no {label!r} into {_PLOT}: check its version")
    return unless


LATMUS = tuple(
    Latmus(
        name=f"latmus-{name}",
        title=f"How late {what} begins on the EVL core (latmus {option})",
        program="latmus",
        core="evl",
        parameters=DualParameters,
        option=option,
        caveats=("latmus counts in bins of 1 us; its minimum, average and maximum are in 1 ns.",),
    )
    for name, what, option in (
        ("user", "a periodic thread in user space", "-u"),
        ("kernel", "a periodic thread in the kernel", "-k"),
        ("irq", "a timer's handler", "-i"),
    )
)
