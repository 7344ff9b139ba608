# SPDX-License-Identifier: MIT
"""Kernels of one's own.

configure/  from needs to symbols, and to a final configuration that holds them
make/       the build
lint/       settings that cost latency
trim/       what a scenario showed no use of
account.py  how a tailored kernel came to be
needs.py    what a mission needs, read from a kernel's configuration; needs.toml: the rules
"""
