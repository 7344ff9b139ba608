# SPDX-License-Identifier: MIT
"""Settings that cost latency: judge.py applies lint.toml to a system.py; known.py knows its age, cpus.py lists of CPUs."""
