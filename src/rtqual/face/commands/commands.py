# SPDX-License-Identifier: MIT
"""The commands, a row each: where one is, and what it does. A command's file is imported when it is asked for, and only
then: what most of them need is slow to load."""

from cyclopts import App

from rtqual import __version__

# As in the files themselves, which are not read to list them; a test compares them.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("rtqual.face.commands.init:init", "Write a mission of your own from a template (docs/init.md)."),
    "select": ("rtqual.face.commands.select:select", "Measure the candidates of a mission and say which one to fly."),
    "tailor": (
        "rtqual.parts.tailor.command:tailor",
        "Cut a kernel down to a mission, build it, and measure it beside the kernel it replaces (docs/tailor.md).",
    ),
    "lidar": (
        "rtqual_docking.command:lidar",
        "Stream the docking camera on every kernel, by every way from frames to ranges (docs/lidar.md).",
    ),
    "verify": (
        "rtqual.face.commands.verify:verify",
        "Verify the flight program with its operating system under telecommands, faults and load (docs/verify.md).",
    ),
    "ground": (
        "rtqual.parts.yamcs.command:ground",
        "Write what Yamcs needs to be the flight program's ground, and print how to start it (docs/ground.md).",
    ),
    "serial": (
        "rtqual.parts.yamcs.command_serial:serial",
        "Carry a serial line of the flight program to a TCP port, for Yamcs and other grounds (docs/ground.md).",
    ),
    "mission": ("rtqual.face.commands.mission:mission_app", "Mission files."),
    "show": ("rtqual.face.commands.show:show", "Show a campaign's figures and verdict, or a record."),
    "open": ("rtqual.face.commands.open:open_", "Open a report in the browser, and print its path."),
    "compare": (
        "rtqual.face.commands.show:compare",
        "Put two records, or two campaigns, beside each other: effect sizes first.",
    ),
    "history": (
        "rtqual.face.commands.history:history",
        "Follow each figure over the campaigns of several versions, and mark where it changed (docs/history.md).",
    ),
    "report": (
        "rtqual.face.commands.report:report",
        "Write the reports of a finished campaign or verification again; nothing is run.",
    ),
    "reproduce": (
        "rtqual.face.commands.reproduce:reproduce",
        "Make a recorded run again, from its hashed inputs alone, and compare the samples.",
    ),
    "explain": (
        "rtqual.parts.explain.command:explain",
        "Say why samples were late: the run is made again and watched from outside of the guest, which stays as it is.",
    ),
    "bisect": (
        "rtqual.parts.bisect.command:bisect",
        "Find which change moved the tail between two candidates: kernels in between are made and measured alike.",
    ),
    "seal": (
        "rtqual.face.commands.seal:seal",
        "Sign a finished campaign with an SSH key, or verify such a signature and all that it covers.",
    ),
    "query": (
        "rtqual.parts.query.command:query",
        "Ask the records of many campaigns and boards in SQL (docs/query.md).",
    ),
    "gate": (
        "rtqual.face.commands.gate:gate",
        "Fail (exit code 1) where something got worse than a baseline (docs/ci.md).",
    ),
    "import": (
        "rtqual.parts.importers.command:import_",
        "Read what other tools measured into records (docs/import.md).",
    ),
    "published": (
        "rtqual.parts.studies.command:published_app",
        "Published studies: their figures, and what does not follow from them.",
    ),
    "image": (
        "rtqual.parts.images.command:image",
        "Make a system image for a flight disk, with a list of what is inside (docs/image.md).",
    ),
    "lint": (
        "rtqual.parts.tailor.lint.command:lint",
        "Judge the settings that decide latency, of a kernel's configuration or a running system (docs/lint.md).",
    ),
    "board": ("rtqual.face.commands.board:board_app", "Boards that are reached over ssh (docs/boards.md)."),
    "completion": (
        "rtqual.face.commands.completion:completion",
        "Print what makes a shell complete rtqual's commands and options.",
    ),
    "doctor": (
        "rtqual.face.commands.doctor:doctor",
        "Say what this machine can do, what is missing, and the command that mends it.",
    ),
}


def application(*, listed: bool) -> App:
    """The application with its commands. `listed`: with what each does, to be listed unread; a command that is asked
    for tells all of its own text."""
    app = App(
        name="rtqual",
        version=__version__,
        version_format="plaintext",  # markdown is slow to load
        help="Chooses and qualifies the real-time operating system of a low-cost flight computer.",
        suppress_keyboard_interrupt=False,  # main() tells it
    )
    for name, (where, summary) in COMMANDS.items():
        app.command(where, name=name, help=summary if listed else None)
    return app
