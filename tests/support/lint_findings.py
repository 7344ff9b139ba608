# SPDX-License-Identifier: MIT
"""A configuration for the lint, and its findings by rule."""

from pathlib import Path

from rtqual.engine.kernel.lint.judged_system import System
from rtqual.engine.kernel.lint.lint_rules import Finding, State, lint, rules

DOCKING = str(Path(__file__).parents[2] / "docking/missions/docking.toml")
BY_ID = {rule.id: rule for rule in rules()}
TEXT = """\
#
# Automatically generated file; DO NOT EDIT.
# Linux/x86 6.12.1 Kernel Configuration
#
CONFIG_X86=y
CONFIG_SMP=y
CONFIG_PREEMPT_RT=y
# CONFIG_HIGH_RES_TIMERS is not set
CONFIG_HZ=100
CONFIG_FUTEX_PI=y
CONFIG_LOCALVERSION=""
# end of Kernel hacking
"""


def judged(system: System) -> dict[str, Finding]:
    return {finding.rule.id: finding for finding in lint(system)}


def states(system: System) -> dict[str, State]:
    return {name: finding.state for name, finding in judged(system).items()}
