# SPDX-License-Identifier: MIT
"""Settings that cost latency: lint_rules.py applies lint.toml to a system (judged_system.py); known.py
knows ages, cpus.py lists of CPUs.
"""
