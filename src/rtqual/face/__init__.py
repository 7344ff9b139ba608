# SPDX-License-Identifier: MIT
"""What people and shells see.

commands/  the command line, a file a command
terminal/  results in words, and as JSON
"""
