# SPDX-License-Identifier: MIT
"""The command line: one file a command. A command parses its arguments, calls a stage (or,
where there is none, a package) and prints what comes back.

app.py      the consoles, what all commands share
commands.py the application; its commands, a row each
main.py     from the command line to an exit code
*.py        a command each
running.py  what the commands that run a campaign share
"""
