# SPDX-License-Identifier: MIT
"""`rtqual explain`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from rtqual.face.commands.app import LITERAL, Json, print_json, tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtqual.parts.explain.stage import TimedRun

_WORST, _OF_EACH = 3, 10


def explain(
    record: Path,
    /,
    *,
    worst: int | None = None,
    sample: int | None = None,
    above: str | None = None,
    trace: Annotated[Path | None, Parameter(help="Write the timelines there as a trace that Perfetto opens.")] = None,
    ctf: Annotated[Path | None, Parameter(help="The same as CTF in a new folder: babeltrace2, Trace Compass.")] = None,
    as_json: Json = False,
) -> int:
    """Say why samples were late: the run is made again and watched from outside of the guest, which stays as it is.

    All samples of the watched run must be the record's. Each sample asked for is divided into parts, from the timer's
    expiry to the thread's first reading of its clock.

    Parameters
    ----------
    record
        A record of the virtual board, as `rtqual show` takes it: cyclictest on one CPU, or on x86-64 on several;
        frames or telecommands on one. Or a campaign's folder: what the worst samples of each candidate under each load
        have in common, on one CPU. Or the file below lost/ of a run that hung: it is made again, to show where it
        hangs.
    worst
        How many of the worst samples; 3 of a record and 10 of each candidate unless given.
    sample
        The sample of this number; the first is 1.
    above
        All samples above a duration, as "30 us"; the 200 worst at most.
    """
    from rtqual.base.errors import BadInput  # noqa: PLC0415
    from rtqual.engine.campaign.find import find  # noqa: PLC0415
    from rtqual.parts.explain import hung, late_samples  # noqa: PLC0415
    from rtqual.parts.explain.advice import advice  # noqa: PLC0415
    from rtqual.parts.explain.cause_tally import waterfalls  # noqa: PLC0415
    from rtqual.parts.explain.stage import Asked, explainable, tally_all, worst_of  # noqa: PLC0415
    from rtqual.parts.explain.stage import explain as explained_by  # noqa: PLC0415
    from rtqual.parts.explain.words import (  # noqa: PLC0415
        explained_dict,
        late_dict,
        print_explained,
        print_late,
        print_tallies,
        tallies_dict,
    )
    from rtqual.protocols.record.store import read  # noqa: PLC0415

    above_ns = _above_ns(worst, sample, above, ctf)
    if hung.is_lost(record):
        if any(option is not None for option in (worst, sample, above, trace, ctf)):
            raise BadInput(f"{record}: is a run without samples: leave out --worst, --sample, --above and traces")
        return _tell_hung(record, as_json=as_json)
    paths = find(record)
    records = {path: read(path) for path in paths}
    many = len(paths) > 1
    if many and (sample is not None or above is not None):
        raise BadInput(f"{record}: holds {len(paths)} records: --sample and --above take one of them")
    asked = Asked(worst or (0 if above else _WORST), sample, above_ns)
    traced = [late_samples.of(path, records[path], asked) for path in late_samples.kept(records)]
    if many and (explainable(records) or not traced):
        told = explained_by(worst_of(records, worst or _OF_EACH), tell)
    else:
        told = [] if traced else explained_by({paths[0]: asked}, tell)
    tallies = tally_all(told) if many else []
    falls = waterfalls(tallies)
    advised = advice(record, tallies) if many else []
    _keep([*told, *traced], trace, ctf)
    if as_json:
        said = [*map(explained_dict, told), *map(late_dict, traced)]
        print_json({"runs": said, **tallies_dict(tallies, falls, advised)})
    else:
        if tallies:
            print_tallies(LITERAL, tallies, falls, advised)
        elif told:
            print_explained(LITERAL, told)
        print_late(LITERAL, traced)
    return 0


def _above_ns(worst: int | None, sample: int | None, above: str | None, ctf: Path | None) -> int | None:
    """What --above says. Raises BadInput where the options do not go together."""
    from rtqual.base.errors import BadInput  # noqa: PLC0415
    from rtqual.base.units import parse_duration_ns  # noqa: PLC0415
    from rtqual.parts.explain.stage import MOST  # noqa: PLC0415

    if sum(option is not None for option in (worst, sample, above)) > 1:
        raise BadInput("--worst, --sample and --above: give one of them")
    if ctf is not None and ctf.exists():
        raise BadInput(f"--ctf {ctf}: is there already: name a new folder")
    if worst is not None and not 1 <= worst <= MOST:
        raise BadInput(f"--worst: {worst} samples cannot be shown: give 1 to {MOST}")
    try:
        return None if above is None else parse_duration_ns(above)
    except ValueError as error:
        raise BadInput(f"--above: {error}") from None


def _tell_hung(path: Path, *, as_json: bool) -> int:
    from rtqual.parts.explain.hung import stands  # noqa: PLC0415
    from rtqual.parts.explain.words import print_hung  # noqa: PLC0415

    found = stands(path, tell)
    if as_json:
        print_json(asdict(found))
    else:
        print_hung(LITERAL, found)
    return 0


def _keep(runs: "Sequence[TimedRun]", trace: Path | None, ctf: Path | None) -> None:
    from rtqual.parts.explain.export import chrome, write_ctf  # noqa: PLC0415
    from rtqual.parts.explain.stage import tail_of  # noqa: PLC0415

    named = [(f"{timed.candidate}, seed {timed.seed}", line) for timed, line in tail_of(runs)]
    if trace is not None:
        trace.write_text(json.dumps(chrome(named), indent=1) + "\n")
    if ctf is not None:
        write_ctf(named, ctf)
