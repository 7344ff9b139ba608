# SPDX-License-Identifier: MIT
"""The application: the commands that parts bring. A command's file is imported when it is asked for, and only then:
what most of them need is slow to load."""

from cyclopts import App, Parameter

from rtqual.base.built import version
from rtqual.base.errors import BadInput
from rtqual.face.commands.app import STDOUT
from rtqual.protocols.part import CommandOfPart, rows

_EXAMPLES = (
    "init mine.toml                 write a mission",
    "select mine.toml               measure, and say which kernel to fly",
    "show out/mine-demo             verdict and figures",
    "ci github mine.toml --rtqual git+https://HOST/rtqual@v0.3.0",
)
_MORE = "`rtqual help COMMAND` says what a command takes."
_EXIT_CODES = "Exit codes: 0 done, 1 a check did not hold, 2 bad input, 3 a run failed."


def commands() -> tuple[CommandOfPart, ...]:
    """Return those that parts bring, in the order of the help. Raises BadInput where two have a name."""
    found: dict[str, CommandOfPart] = {}
    for part, row in rows("commands"):
        assert isinstance(row, CommandOfPart), "as the field of Part says"  # noqa: S101
        if row.name in found:
            raise BadInput(
                f"the part '{part.name}' brings the command '{row.name}', which is there already: remove one"
            )
        found[row.name] = row
    return tuple(found.values())


def application(*, listed: bool) -> App:
    """The application with its commands. `listed`: with what each does, to be listed unread; a command that is asked
    for tells all of its own text."""
    app = App(
        name="rtqual",
        version=version,
        version_format="plaintext",  # markdown is slow to load
        help="Chooses and qualifies the real-time operating system of a low-cost flight computer.",
        suppress_keyboard_interrupt=False,  # main() tells it
        console=STDOUT,
        help_epilogue=f"{_told(_EXAMPLES)}{_EXIT_CODES} {_MORE}" if listed else _EXIT_CODES,
        default_parameter=Parameter(negative=(), show_default=_default),
    )
    for command in commands():
        text = command.summary if listed else None
        own = {"help_epilogue": _told(command.examples) + _EXIT_CODES} if command.examples else {}
        app.command(command.where, name=command.name, help=text, **own)
    return app


def _told(examples: tuple[str, ...]) -> str:
    """As a block of Markdown."""
    return "".join(f"    rtqual {example}\n" for example in examples) + "\n"


def _default(value: object) -> str | None:
    """What a switch that is off, an empty list or an empty text is by default, everybody knows."""
    return str(value) if value not in (None, False, "", ()) else None
