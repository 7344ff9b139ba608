# SPDX-License-Identifier: MIT
"""cyclictest's JSON (--json, file version 1), as the instrument and the import read it."""

from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from rtqual.base.errors import RunFailed

Count = Annotated[int, Field(ge=0, lt=2**53)]  # sums of them stay inside int64
Units = Annotated[int, Field(ge=0, lt=2**53)]  # values in the unit of the file, nanoseconds under -N


class _Model(BaseModel):
    model_config = ConfigDict(defer_build=True)  # missions name the instrument, few read its output


class MeasuredThread(_Model):
    histogram: dict[Units, Count]  # filled bins only
    cycles: Count  # samples taken, those that overflowed included
    min: Units
    max: Units
    avg: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    cpu: Annotated[int, Field(ge=-1, lt=2**31)]  # -1: not pinned

    @property
    def overflow(self) -> int:
        """Number of samples that are in no bin; negative where the file contradicts itself."""
        return self.cycles - sum(self.histogram.values())


class CyclictestResult(_Model):
    """What is used of the file. Its own keys for command line and version end in a colon."""

    return_code: int
    resolution_in_ns: int  # 1 under -N; else 0, and the values are microseconds
    thread: dict[Count, MeasuredThread]
    command: str | None = Field(None, validation_alias=AliasChoices("cmdline:", "cmdline"))
    version: str | None = Field(None, validation_alias=AliasChoices("rt_test_version:", "rt_test_version"))
    start_time: str | None = None
    sysinfo: dict[str, Any] = {}


def parse(text: str, name: str) -> CyclictestResult:
    """Raises RunFailed that says where the file `name` is not cyclictest's, or that its run failed."""
    try:
        result = CyclictestResult.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or f"{len(text)} characters"
        raise RunFailed(
            f"{name} is not cyclictest's JSON: {where[:80]!r}: {first['msg']}; check its version"
        ) from error
    if result.return_code != 0:
        raise RunFailed(f"cyclictest reports return code {result.return_code} in {name}: run it by hand")
    if not result.thread or any(thread.cycles == 0 for thread in result.thread.values()):
        raise RunFailed(f"cyclictest took no samples ({name}): was it ended early?")
    return result
