# SPDX-License-Identifier: MIT
"""Which programs of others this user lets run: a mission with a program or a load of its own is code.

What a run executes beside rtqual's and Debian's programs is known by the hash of its instrument, its parameters (which
hold the mission's table and every file's sha256) and its job's command lines. `--run-programs` lets those of a mission
run and notes their hashes; nothing else does. So a byte that changes is asked for again, and a folder that somebody
sent runs nothing here: a record that names an instrument of rtqual's has to hold the job that this rtqual makes of it.
Where the mission's files lie is noted too, for what makes runs again from the records.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.words import listed
from rtqual.engine.campaign.cell import with_load
from rtqual.protocols.board import Job
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.load import split
from rtqual.protocols.load.all_loads import all_loads
from rtqual.protocols.load.own import shape_of
from rtqual.protocols.record.schema import Inputs, digest

_JOB = TypeAdapter(Job)
_LARGEST_B = 2**24
_LETS = "look at what they are, then give --run-programs"


def own_code(inputs: Inputs) -> str:
    """What a run executes that is neither rtqual's nor Debian's, by its name; empty where nothing."""
    names = [inputs.instrument] if "program" in inputs.parameters else []
    names += [f"load {inputs.load}"] if inputs.load not in all_loads() and inputs.load != "none" else []
    return listed(names)


def _hash(inputs: Inputs) -> str:
    job = {name: item for name, item in inputs.job.items() if name not in ("collect", "version")}
    return digest([inputs.instrument, inputs.load, inputs.parameters, job])


def require(every: Iterable[Inputs], where: str, folder: Path, *, lets: bool = False) -> None:
    """Raises BadInput where a run executes what the user did not let run. `lets`: he does so now, once for all.
    `folder`: of the mission."""
    wanted = {_hash(inputs): own_code(inputs) for inputs in every if own_code(inputs)}
    if not wanted:
        return
    known, lies_in = _known(), str(folder.absolute())
    lies_in = lies_in if lies_in.isprintable() else ""  # a line of the file holds one hash
    new = {sha256: name for sha256, name in wanted.items() if sha256 not in known}
    if new and not lets:
        names = listed(list(dict.fromkeys(new.values())))
        raise BadInput(f"{where}: runs programs that are not rtqual's ({names}): {_LETS}")
    _note({sha256: name for sha256, name in wanted.items() if known.get(sha256) != lies_in}, lies_in)


def require_record(inputs: Inputs, where: str) -> None:
    """Raises BadInput where a recorded run executes what the user did not let run."""
    if not own_code(inputs) and inputs.instrument in all_instruments() and not _is_made_here(inputs):
        raise BadInput(
            f"{where}: its command lines are not those that this rtqual makes of its instrument and load, so they do "
            "not run: use the version that measured it"
        )
    if own_code(inputs) and _hash(inputs) not in _known():
        raise BadInput(
            f"{where}: ran a program that is not rtqual's ({own_code(inputs)}), and it was never let run here: measure "
            "it with its mission and --run-programs"
        )


def _is_made_here(inputs: Inputs) -> bool:
    """Whether the instrument and the load that a record names make the job that it holds, if it holds any."""
    instrument = all_instruments()[inputs.instrument]
    try:
        held: Job = _JOB.validate_python(inputs.job)
    except ValidationError:
        return True  # nobody can run it
    own, shaped = split(inputs.parameters)
    try:
        shape = shape_of(inputs.load).model_validate(shaped) if shaped else None
        parameters = instrument.parameters.model_validate(own)
        made = with_load(instrument.job(parameters, cpus=inputs.cpus, seed=inputs.seed), inputs.load, shape)
    except (KeyError, ValidationError):
        return False
    return made == held


def folder_of(inputs: Inputs) -> Path | None:
    """Where the files of a recorded run's mission lay when it was let run last; None of a run without any."""
    return Path(told) if own_code(inputs) and (told := _known().get(_hash(inputs))) else None


def _file() -> Path:
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state"
    return Path(base) / "rtqual" / "run-programs"


def _known() -> dict[str, str]:
    """Hashes, and the folder of each."""
    try:
        with _file().open() as file:
            lines = (line.partition("\t") for line in file.read(_LARGEST_B).splitlines())
            return {told.partition(" ")[0]: folder for told, _, folder in lines}
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise RunFailed(f"{_file()}: cannot be read ({error}): delete it") from None


def _note(new: dict[str, str], folder: str) -> None:
    if not new:
        return
    file = _file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "w") as out:
            out.writelines(f"{sha256} {name}\t{folder}\n" for sha256, name in sorted(new.items()))
    except OSError as error:
        raise RunFailed(f"{file}: cannot be written: {error.strerror}") from None
