# SPDX-License-Identifier: MIT
"""What a Linux kernel's configuration says.

config.py  a configuration, read
needs.py   what a mission needs of it; needs.toml: the rules
lint/      settings that cost latency, judged
"""
