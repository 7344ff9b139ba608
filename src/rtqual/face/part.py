# SPDX-License-Identifier: MIT
"""The commands that rtqual itself has."""

from rtqual.protocols.part import CommandOfPart, Part, Row

PART = Part(
    "face",
    commands=(
        CommandOfPart(
            10,
            "rtqual.face.commands.init:init",
            "init",
            "Write a mission of your own from a template (docs/init.md).",
            examples=("init", 'init mine.toml --template cubesat-adcs --deadline "1 ms" --load hackbench'),
        ),
        CommandOfPart(
            20,
            "rtqual.face.commands.select:select",
            "select",
            "Measure the candidates of a mission and say which one to fly.",
            examples=("select mine.toml", "select mine.toml --scale full --dry-run"),
        ),
        CommandOfPart(
            50,
            "rtqual.face.commands.verify:verify",
            "verify",
            "Verify a flight program with its operating system under telecommands, faults and load (docs/verify.md).",
        ),
        CommandOfPart(80, "rtqual.face.commands.mission:mission_app", "mission", "Mission files."),
        CommandOfPart(
            85,
            "rtqual.face.commands.probe:probe",
            "probe",
            "Write the probe's sources, to link a real-time system with (docs/port.md).",
        ),
        CommandOfPart(
            90,
            "rtqual.face.commands.show:show",
            "show",
            "Show a campaign's figures and verdict, or a record.",
            examples=("show out/mine-demo", "show out/mine-demo:debian-rt", "show 6677addf520a"),
        ),
        CommandOfPart(
            100, "rtqual.face.commands.open:open_", "open", "Open a report in the browser, and print its path."
        ),
        CommandOfPart(
            110,
            "rtqual.face.commands.show:compare",
            "compare",
            "Put two records, or two campaigns, beside each other: effect sizes first.",
            examples=("compare out/old-demo out/new-demo", "compare out/mine-demo:debian-rt out/mine-demo:debian"),
        ),
        CommandOfPart(
            115,
            "rtqual.face.commands.watch:watch",
            "watch",
            "Show campaigns while they run: what runs, what the last runs gave, and the largest sample so far.",
            examples=("watch out/mine-demo", 'watch out/pi-* --on-worse "notify-send later"'),
        ),
        CommandOfPart(
            120,
            "rtqual.face.commands.history:history",
            "history",
            "Follow each figure over the campaigns of several versions, and mark where it changed (docs/history.md).",
        ),
        CommandOfPart(
            130,
            "rtqual.face.commands.report:report",
            "report",
            "Write the reports of a finished campaign or verification again; nothing is run.",
            examples=("report out/mine-demo --format junit --out junit.xml",),
        ),
        CommandOfPart(
            140,
            "rtqual.face.commands.reproduce:reproduce",
            "reproduce",
            "Make a recorded run again, from its hashed inputs alone, and compare the samples.",
        ),
        CommandOfPart(
            170,
            "rtqual.face.commands.seal:seal",
            "seal",
            "Sign a finished campaign and its reports with an SSH key, or verify a signature and all that it covers.",
        ),
        CommandOfPart(
            190,
            "rtqual.face.commands.gate:gate",
            "gate",
            "Fail (exit code 1) where something got worse than a baseline (docs/ci.md).",
            examples=("gate baseline out/mine-demo --mission-only", "gate baseline --junit gate.xml"),
        ),
        CommandOfPart(
            195,
            "rtqual.face.commands.ci:ci",
            "ci",
            "Write the file by which your own repository measures on each change, and fails where something got worse.",
            examples=("ci github missions/mine.toml --rtqual git+https://HOST/rtqual@v0.3.0",),
        ),
        CommandOfPart(
            240, "rtqual.face.commands.board:board_app", "board", "Boards that are reached over ssh (docs/boards.md)."
        ),
        CommandOfPart(
            250,
            "rtqual.face.commands.completion:completion",
            "completion",
            "Print what makes a shell complete rtqual's commands and options, and in bash the names in a mission.",
            examples=("completion bash > ~/.local/share/bash-completion/completions/rtqual",),
        ),
        CommandOfPart(
            260,
            "rtqual.face.commands.doctor:doctor",
            "doctor",
            "Say what this machine can do, what is missing, and how to get it.",
            examples=("doctor", "doctor --install mine.toml | sh"),
        ),
    ),
    templates=(
        Row(10, "rtqual.stages.init:CUBESAT"),
        Row(30, "rtqual.stages.init:UAV"),
        Row(40, "rtqual.stages.init:LEAST"),
    ),
)
