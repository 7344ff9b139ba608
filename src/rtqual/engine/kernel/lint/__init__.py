# SPDX-License-Identifier: MIT
"""Settings that cost latency: judge.py applies lint.toml to a system.py; known.py knows ages, cpus.py lists of CPUs."""
