# SPDX-License-Identifier: MIT
"""The application: the commands that parts bring. A command's file is imported when it is asked for, and only then:
what most of them need is slow to load."""

from cyclopts import App

from rtqual.base.built import version
from rtqual.base.errors import BadInput
from rtqual.face.commands.app import STDOUT
from rtqual.protocols.part import Command, rows


def commands() -> tuple[Command, ...]:
    """Return those that parts bring, in the order of the help. Raises BadInput where two have a name."""
    found: dict[str, Command] = {}
    for part, row in rows("commands"):
        assert isinstance(row, Command), "as the field of Part says"  # noqa: S101
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
    )
    for command in commands():
        app.command(command.where, name=command.name, help=command.summary if listed else None)
    return app
