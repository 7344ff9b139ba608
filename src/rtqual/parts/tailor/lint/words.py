# SPDX-License-Identifier: MIT
"""What the real-time lint found, on the terminal and as JSON. Words carry what colours say."""

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from rtqual.base.words import clean, count
from rtqual.engine.kernel.lint.judged_system import System
from rtqual.engine.kernel.lint.lint_rules import Finding, Fix, Severity, State
from rtqual.face.terminal.plain import plain
from rtqual.face.terminal.tables import grid
from rtqual.parts.tailor.lint.stage import Linted

_TITLES = {
    Severity.ERROR: ("ERRORS: no deadline can rest on this system", "bold red"),
    Severity.WARNING: ("WARNINGS: they cost latency", "bold yellow"),
    Severity.NOTE: ("NOTES: they depend on the mission", "bold blue"),
}


def print_lint(console: Console, linted: Linted) -> None:
    """The findings by severity, then the rules that could not be judged; the sums last."""
    findings = linted.findings
    console.print(Text(f"Real-time lint: {described(linted.system)}", "bold"), soft_wrap=True)
    if linted.system.remark:
        console.print(Text(clean(linted.system.remark)), soft_wrap=True)
    for severity, (title, tone) in _TITLES.items():
        found = [finding for finding in findings if finding.state == State.FOUND and finding.rule.severity == severity]
        if found:
            console.print()
            console.print(Text(title, tone))
        for finding in found:
            console.print(
                Padding(
                    Text.assemble((finding.rule.id, "bold"), f": {clean(finding.seen)}"), (0, 0, 0, 2), expand=False
                )
            )
            console.print(_details(finding))
    _print_unknown(console, findings)
    console.print()
    console.print(Text(summary(findings), "bold"))


def described(system: System) -> str:
    """The system with what is known of it, as: this machine (Linux 6.1, x86, 2 CPUs)."""
    cpus = "" if system.cpus is None else count(system.cpus, "CPU")
    version = "Linux {}.{}".format(*system.version) if system.version else ""
    known = ", ".join(filter(None, (version, system.architecture, cpus)))
    return clean(system.name) + (f" ({known})" if known else "")


def summary(findings: Sequence[Finding]) -> str:
    """As: 1 error, 0 warnings, 4 notes; 20 rules hold, 27 are not known, 4 do not apply."""
    found = Counter(finding.rule.severity for finding in findings if finding.state == State.FOUND)
    states = Counter(finding.state for finding in findings)
    levels = ", ".join(count(found[level], level) for level in Severity)
    return (
        f"{levels}; of {len(findings)} rules {states[State.HOLDS]} hold, {states[State.UNKNOWN]} are not known, "
        f"{states[State.NOT_APPLICABLE]} do not apply"
    )


def as_dict(linted: Linted) -> dict[str, object]:
    return {
        "system": described(linted.system),
        "remark": linted.system.remark,
        "failed": linted.failed,
        "summary": summary(linted.findings),
        "findings": [
            {
                **{key: getattr(finding.rule, key) for key in ("id", "severity", "title")},
                "state": finding.state,
                "seen": finding.seen,
                "reason": finding.rule.reason.strip(),
                "source": finding.rule.source,
                "fix": plain(finding.fix.model_dump()),
                "effect": finding.rule.effect and finding.rule.effect.model_dump(),
            }
            for finding in linted.findings
        ],
    }


def _details(finding: Finding) -> Padding:
    rule = finding.rule
    rows: list[tuple[object, ...]] = [("why", " ".join(rule.reason.split()))]
    rows += [(place, Text(text, "cyan")) for place, text in _mended(finding.fix)]
    if rule.effect:
        rows.append(("effect", f"{' '.join(rule.effect.text.split())} ({rule.effect.n}; {rule.effect.source})"))
    return grid([*rows, ("source", Text(rule.source, "dim"))], apart=1, indent=4)


def _mended(fix: Fix) -> Iterator[tuple[str, str]]:
    """Where to mend it, and how exactly."""
    if fix.config:
        yield "config", " ".join(f"CONFIG_{name}" for name in fix.config)
    if fix.boot:
        yield "boot", " ".join(fix.boot)
    if fix.remove:
        yield "boot", f"without {', '.join(fix.remove)}"
    yield from (("now", command) for command in fix.run)


def _print_unknown(console: Console, findings: Sequence[Finding]) -> None:
    unknown: dict[str, list[str]] = {}
    for finding in findings:
        if finding.state == State.UNKNOWN:
            unknown.setdefault(finding.seen, []).append(finding.rule.id)
    if not unknown:
        return
    console.print()
    console.print(Text("NOT KNOWN: these rules could not be judged", "bold magenta"))
    for reason, names in unknown.items():
        console.print(Padding(Text(f"{clean(reason)}: {', '.join(names)}"), (0, 0, 0, 2), expand=False))
