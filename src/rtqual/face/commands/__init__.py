# SPDX-License-Identifier: MIT
"""The command line: one file a command. A command parses its arguments, calls a stage (or,
where there is none, a package) and prints what comes back.

app.py      the consoles, what all commands share
commands.py the application; its commands, a row each
main.py     from the command line to an exit code
*.py        a command each
running.py  what the commands that run a campaign share
"""

import gc
import os

# What is imported stays, so the collector would only look through it in vain, a tenth of a short command's time.
gc.set_threshold(50_000)
# None validates rtqual's files: looking for such plugins reads the list of every library that is installed.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
