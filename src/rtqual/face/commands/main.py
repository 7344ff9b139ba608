# SPDX-License-Identifier: MIT
"""The command line: parse, call, print. Results go to stdout, progress and complaints to stderr.

A command is a file here: it parses, calls a stage, and hands what comes back to terminal/. commands.py lists them.
"""

import locale
import os
import signal
import sys
from typing import NoReturn

from cyclopts import CycloptsError
from rich.markup import escape

from rtqual.base.errors import RtqualError, told
from rtqual.base.libraries import install_command
from rtqual.face.commands.app import STDERR
from rtqual.face.commands.commands import application, commands


class _Terminated(KeyboardInterrupt):
    """SIGTERM ends what Ctrl-C ends."""


def main() -> None:
    """Run the command line. Exit codes: 1 a check did not hold, 2 bad input, 3 a run failed, 130 interrupted, 141
    nobody reads its output any more, 143 ended by SIGTERM."""
    if not sys.flags.utf8_mode and locale.getencoding().upper() != "UTF-8":  # whatever the locale, files are UTF-8
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606 - itself
    # Threads for small sums cost more than they save, and the last digits would depend on their number.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is loaded
    before = signal.signal(signal.SIGTERM, _terminate)
    if sys.argv[1:2] == ["help"]:
        sys.argv[1:] = [*sys.argv[2:], "--help"]
    asked = sys.argv[1:2]
    try:
        asked = [command.name for command in commands() if command.name in asked]
        app = application(listed=not asked)
        code = app(exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except RtqualError as error:
        _complain(str(error))
        code = error.exit_code
    except CycloptsError as error:
        # Of the commands there are it tells eight and dots.
        wrong = str(error).partition(" Available commands:")[0].rstrip(".")
        join = "" if wrong.endswith("?") else ";"
        _complain(f"{wrong}{join} `{' '.join(['rtqual', *asked, '--help'])}` says what it takes")
        code = 2
    except ImportError as error:
        missing = error.__cause__ if isinstance(error.__cause__, ImportError) else error  # cyclopts' own, or as it is
        name = missing.name or str(missing)
        _complain(f"the Python library {name} is missing: {install_command([name.partition('.')[0]])}")
        code = 3
    except KeyboardInterrupt as error:
        _complain("interrupted; finished records are kept, the same command goes on")
        code = 128 + (signal.SIGTERM if isinstance(error, _Terminated) else signal.SIGINT)
    except BrokenPipeError:  # as `rtqual ... | head` leaves it; what is still to be printed goes nowhere
        for stream in (sys.stdout, sys.stderr):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        code = 128 + signal.SIGPIPE
    except OSError as error:  # what nobody foresaw: a full disk, a missing program, a folder that cannot be read
        _complain(told(error))
        code = 3
    finally:
        signal.signal(signal.SIGTERM, before)
    sys.exit(code if isinstance(code, int) else 0)


def _terminate(*_: object) -> NoReturn:
    raise _Terminated


def _complain(text: str) -> None:
    STDERR.print(f"[red]rtqual:[/red] {escape(' '.join(text.split()))}", highlight=False, soft_wrap=True)
