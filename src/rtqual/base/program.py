# SPDX-License-Identifier: MIT
"""Other people's programs: found, run to their end, and what they said last."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from rtqual.base.errors import RunFailed

_LONGEST = 300  # characters of last words


@dataclass(frozen=True)
class Ended:
    """A program that ran to its end. `code`: negative where a signal ended it."""

    code: int
    out: bytes
    err: bytes

    @property
    def stdout(self) -> str:
        return self.out.decode(errors="replace")

    @property
    def stderr(self) -> str:
        return self.err.decode(errors="replace")

    @property
    def how(self) -> str:
        return f"ended with {self.code}" if self.code >= 0 else f"ended by signal {-self.code}"

    def last_words(self, *telling: str) -> str:
        """Its complaint in a line: the first that has one of these words, else the last it said; else how it ended."""
        told = next((line for line in self.stderr.splitlines() if any(word in line for word in telling)), "")
        return told.strip()[-_LONGEST:] or self.said or self.how

    @property
    def said(self) -> str:
        """The last line, of its complaints where there are some."""
        return (self.stderr.strip() or self.stdout.strip()).rpartition("\n")[2].strip()[-_LONGEST:]

    def require(self, failed: str, *telling: str, then: str = "") -> Self:
        """Return itself. Raises RunFailed where it failed: `failed`, its last words, and what to do `then`."""
        if self.code:
            raise RunFailed(f"{failed}: {self.last_words(*telling)}{then and f'; {then}'}")
        return self


def find(name: str, package: str = "") -> str:
    """Return a program's path; Debian keeps some where only root looks. Raises RunFailed that says what brings it."""
    path = name if "/" in name else shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    if path is None:
        raise RunFailed(missing(name, package))
    return path


def missing(name: str, package: str) -> str:
    """Say what brings a program that is not here."""
    advice = f"`apt-get install {package}`" if package else "`rtqual doctor` says what installs it"
    return f"{name} is missing: {advice}"


def run(
    command: Iterable[str | Path],
    *,
    package: str = "",
    environment: Mapping[str, str] | None = None,
    also: Mapping[str, str] | None = None,
    folder: Path | None = None,
    given: bytes | None = None,
    source: IO[bytes] | None = None,
    into: IO[bytes] | None = None,
    timeout_s: float | None = None,
) -> Ended:
    """Run a program to its end; it has nothing to read but what is `given`, or a `source`.

    `package`: what brings it; `environment`: in place of ours; `also`: added to that; `into`: takes what it prints.
    Raises RunFailed where it is missing or does not end in time.
    """
    name, *words = map(str, command)
    fed: dict[str, Any] = {"stdin": source or subprocess.DEVNULL} if given is None else {"input": given}
    try:
        done = subprocess.run(
            [find(name, package), *words],
            **fed,
            env={**(os.environ if environment is None else environment), **(also or {})},
            cwd=folder,
            stdout=into or subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RunFailed(f"{name} did not end within {timeout_s:g} s and was ended") from None
    except (OSError, ValueError) as error:
        if package and isinstance(error, FileNotFoundError):
            raise RunFailed(missing(name, package)) from None
        raise RunFailed(f"{name} does not start: {getattr(error, 'strerror', None) or error}") from None
    return Ended(done.returncode, done.stdout or b"", done.stderr)
