# SPDX-License-Identifier: MIT
"""Commands and files over ssh: the system's OpenSSH, with a deadline of ours on every call.

A peer that froze keeps ssh waiting for longer than its own time-outs say, so a call that is over its deadline is ended.
"""

import os
import shlex
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from rtqual.base.errors import RunFailed
from rtqual.base.interrupt import registered
from rtqual.engine.boards.remote.settings import BoardRefused, Settings, Unreachable

_CONNECT_S, _ALIVE_S, _ALIVE_TIMES, _PERSIST_S = 5, 5, 2, 60
_SSH_FAILED = 255
_NO_COMMON_KEY = "no matching host key type found"  # an old dropbear has RSA with SHA-1 alone
_SLICE_S = 0.5  # looked at so often
SAID_MOST_B, FILE_MOST_B = 2**20, 2**28  # of what a command prints; of a file, as a result
_BYTES_PER_S = 50_000  # no link of a board is taken to be slower
_STRANGER = ("Host key verification failed", "REMOTE HOST IDENTIFICATION HAS CHANGED")
_HERE = ("command-line line", "too long for Unix domain socket", "expand: failed", "environment variable expansion")
# Before it, a board may say what its login shell's files print (~/.bashrc): that is no answer.
_BEGUN = b"rtqual: begun\n"
_BEGIN = "echo 'rtqual: begun'; echo 'rtqual: begun' >&2\n"
_NO_ENTRY = ("Permission denied", "Too many authentication failures")


class Link(Protocol):
    """A way to a board. Every call raises Lost by its deadline, Refused where another machine answers."""

    def run(self, script: str, *, deadline_s: float = 30.0, give: bytes = b"", most_b: int = SAID_MOST_B) -> bytes:
        """What a shell script prints there. Raises RunFailed, with its complaint, where it fails or prints more."""
        ...

    def drop(self) -> None:
        """Forget the connection: the board restarts."""
        ...


def put(link: Link, content: bytes, path: str, *, before: str = "") -> None:
    """Write a file; there whole once the call returned. `before`: what the same command does first."""
    deadline_s = 60.0 + len(content) / _BYTES_PER_S
    link.run(f"{before}cat > {shlex.quote(path)} && sync", deadline_s=deadline_s, give=content)


def get(link: Link, path: str, *, before: str = "", deadline_s: float = 300.0) -> bytes:
    return link.run(f"{before}cat {shlex.quote(path)}", deadline_s=deadline_s, most_b=FILE_MOST_B)


class Ssh:
    """`folder` keeps the pinned key and the socket of the shared connection; its path must be short."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._settings, self._folder = settings, folder
        self._known = folder / "known_hosts"
        place = settings.host if settings.port == 22 else f"[{settings.host}]:{settings.port}"
        self._known.write_text(f"{place} {settings.host_key}\n")

    @property
    def where(self) -> str:
        return f"board {self._settings.name} ({self._settings.user}@{self._settings.host}:{self._settings.port})"

    def _options(self) -> list[str]:
        algorithm = self._settings.host_key.split()[0]
        settings = {
            "BatchMode": "yes",
            "ConnectTimeout": _CONNECT_S,
            "ServerAliveInterval": _ALIVE_S,
            "ServerAliveCountMax": _ALIVE_TIMES,
            "StrictHostKeyChecking": "yes",
            "UserKnownHostsFile": self._known,
            "GlobalKnownHostsFile": "/dev/null",
            "HostKeyAlgorithms": algorithm if algorithm != "ssh-rsa" else "rsa-sha2-512,rsa-sha2-256",
            "ControlMaster": "auto",
            "ControlPath": self._folder / "ssh",
            "ControlPersist": _PERSIST_S,
            "ClearAllForwardings": "yes",
            "LogLevel": "ERROR",
        }
        words = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
        identity = self._settings.identity
        return ["-F", "none", "-T", *words, *(["-i", str(identity), "-o", "IdentitiesOnly=yes"] if identity else [])]

    def _command(self, *last: str) -> list[str]:
        settings = self._settings
        return [
            "ssh",
            *self._options(),
            "-p",
            str(settings.port),
            *last[:-1],
            f"{settings.user}@{settings.host}",
            *last[-1:],
        ]

    def run(self, script: str, *, deadline_s: float = 30.0, give: bytes = b"", most_b: int = SAID_MOST_B) -> bytes:
        command = self._command(f"sh -c {shlex.quote(_BEGIN + script)}")
        code, said, complaint = _ended(command, deadline_s, give, most_b)
        if len(said) + len(complaint) > most_b:
            self.drop()
            raise RunFailed(f"{self.where} answered with more than {most_b:,} bytes: what is there is no such board")
        if code is None:
            self.drop()
            raise Unreachable(f"{self.where} did not answer within {deadline_s:.0f} s")
        (_, begun, said), (junk, _, own) = said.partition(_BEGUN), complaint.partition(_BEGUN)
        text = (own if begun else junk).decode(errors="replace").strip()
        last = " ".join(text.splitlines()[-1:])
        if code == _SSH_FAILED and any(sign in text for sign in _STRANGER):
            raise BoardRefused(
                f"{self.where}: another host key answers than the pinned one: if the board is new, write its host_key "
                "(ssh-keyscan -t ed25519); if it makes one at each start (dropbear -R, a root in memory), keep its key "
                "on a partition that stays"
            )
        if code == _SSH_FAILED and _NO_COMMON_KEY in text:
            offer = text.rpartition("Their offer:")[2].strip()[:80] or "nothing that it names"
            raise BoardRefused(
                f"{self.where} answers, with host keys only that ssh takes no more ({offer}): give it an ed25519 or "
                "ECDSA host key, or a newer dropbear or sshd (docs/boards.md)"
            )
        if code == _SSH_FAILED and any(sign in text for sign in _NO_ENTRY):
            raise BoardRefused(f"{self.where} does not let us in: {last}; put your public key into its authorized_keys")
        if code == _SSH_FAILED and any(sign in text for sign in _HERE):
            raise BoardRefused(f"{self.where}: ssh cannot be started here: {last}; TMPDIR={self._folder.parent}")
        if code == _SSH_FAILED:
            self.drop()
            raise Unreachable(f"{self.where} does not answer: {last or 'the connection broke'}")
        if code:
            raise RunFailed(f"{self.where}: {last or f'a command ended with {code}'}")
        if not begun:
            raise RunFailed(
                f"{self.where} lets us in and runs nothing: give {self._settings.user} a login shell (chsh)"
            )
        return said

    def drop(self) -> None:
        with suppress(RunFailed):
            _ended(["ssh", *self._options(), "-O", "exit", "board"], 5.0, b"", SAID_MOST_B)
        (self._folder / "ssh").unlink(missing_ok=True)


def _ended(command: list[str], deadline_s: float, give: bytes, most_b: int) -> tuple[int | None, bytes, bytes]:
    """Exit code (None: it was ended at its deadline, or since it said more), output, complaints."""
    given = os.memfd_create("given")  # a file: a pipe would have to be fed between two looks at the deadline
    try:
        with os.fdopen(given, "wb") as file:
            file.write(give)
            file.flush()
            os.lseek(given, 0, os.SEEK_SET)
            program = subprocess.Popen(
                command, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
    except FileNotFoundError:
        raise RunFailed("ssh is missing: `apt-get install openssh-client`") from None

    interrupted = threading.Event()

    def kill() -> None:
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)

    def interrupt() -> None:
        interrupted.set()
        kill()

    end_s, said, complaint = time.monotonic() + deadline_s, b"", b""
    with registered(program, interrupt):
        try:
            while True:
                try:
                    said, complaint = program.communicate(timeout=_SLICE_S)
                    break
                except subprocess.TimeoutExpired as late:
                    said, complaint = late.stdout or b"", late.stderr or b""
                if interrupted.is_set() or time.monotonic() >= end_s or len(said) + len(complaint) > most_b:
                    kill()
                    program.wait()
                    # Not read to its end: the shared connection holds it for as long as the command there runs.
                    for pipe in (program.stdout, program.stderr):
                        if pipe:
                            with suppress(OSError):
                                pipe.close()
                    if not interrupted.is_set():
                        return None, said, complaint
                    break
        except BaseException:
            kill()
            program.wait()
            raise
    if interrupted.is_set():  # not the board's silence, which is waited out
        raise RunFailed("interrupted")
    return program.returncode, said, complaint
