# SPDX-License-Identifier: MIT
"""The commands, a row each: where one is, and what it does. A command's file is imported when it is asked for, and only
then: what most of them need is slow to load."""

from cyclopts import App

from rtqual import __version__

# As in the files themselves, which are not read to list them; a test compares them.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("init:init", "Write a mission of your own from a template (docs/init.md)."),
    "select": ("select:select", "Measure the candidates of a mission and say which one to fly."),
    "tailor": (
        "tailor:tailor",
        "Cut a kernel down to a mission, build it, and measure it beside the kernel it replaces (docs/tailor.md).",
    ),
    "lidar": (
        "lidar:lidar",
        "Stream the docking camera on every kernel, by every way from frames to ranges (docs/lidar.md).",
    ),
    "verify": (
        "verify:verify",
        "Verify the flight program with its operating system under telecommands, faults and load (docs/verify.md).",
    ),
    "ground": (
        "ground:ground",
        "Write what Yamcs needs to be the flight program's ground, and print how to start it (docs/ground.md).",
    ),
    "serial": (
        "serial:serial",
        "Carry a serial line of the flight program to a TCP port, for Yamcs and other grounds (docs/ground.md).",
    ),
    "mission": ("mission:mission_app", "Mission files."),
    "show": ("show:show", "Show a campaign's figures and verdict, or a record."),
    "open": ("open:open_", "Open a report in the browser, and print its path."),
    "compare": ("show:compare", "Put two records, or two campaigns, beside each other: effect sizes first."),
    "history": (
        "history:history",
        "Follow each figure over the campaigns of several versions, and mark where it changed (docs/history.md).",
    ),
    "report": ("report:report", "Write the reports of a finished campaign or verification again; nothing is run."),
    "reproduce": (
        "reproduce:reproduce",
        "Make a recorded run again, from its hashed inputs alone, and compare the samples.",
    ),
    "explain": (
        "explain:explain",
        "Say why samples were late: the run is made again and watched from outside of the guest, which stays as it is.",
    ),
    "bisect": (
        "bisect:bisect",
        "Find which change moved the tail between two candidates: kernels in between are made and measured alike.",
    ),
    "seal": (
        "seal:seal",
        "Sign a finished campaign with an SSH key, or verify such a signature and all that it covers.",
    ),
    "query": ("query:query", "Ask the records of many campaigns and boards in SQL (docs/query.md)."),
    "gate": ("gate:gate", "Fail (exit code 1) where something got worse than a baseline (docs/ci.md)."),
    "import": ("importing:import_", "Read what other tools measured into records (docs/import.md)."),
    "published": ("published:published_app", "Published studies: their figures, and what does not follow from them."),
    "image": (
        "image:image",
        "Make a system image for a flight disk, with a list of what is inside (docs/image.md).",
    ),
    "lint": (
        "lint:lint",
        "Judge the settings that decide latency, of a kernel's configuration or a running system (docs/lint.md).",
    ),
    "board": ("board:board_app", "Boards that are reached over ssh (docs/boards.md)."),
    "completion": (
        "completion:completion",
        "Print what makes a shell complete rtqual's commands and options.",
    ),
    "doctor": ("doctor:doctor", "Say what this machine can do, what is missing, and the command that mends it."),
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
        app.command(f"rtqual.cli.{where}", name=name, help=summary if listed else None)
    return app
