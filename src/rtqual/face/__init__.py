# SPDX-License-Identifier: MIT
"""What people and shells see.

part.py    the commands, a row each
commands/  the command line, a file a command
terminal/  results in words, and as JSON
"""
