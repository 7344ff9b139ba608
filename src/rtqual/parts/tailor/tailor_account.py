# SPDX-License-Identifier: MIT
"""How a tailored kernel came to be, as a campaign keeps it (tailor.json) and its report shows it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from rtqual.engine.campaign.annex import Annex, Annexes
from rtqual.parts.tailor.trim.trimmed import TRIMS, Trimmed

if TYPE_CHECKING:
    from rtqual.parts.tailor.configure.resolve import ChangedSymbol, Resolution
    from rtqual.parts.tailor.configure.rules import Removal
    from rtqual.parts.tailor.make.build import BuiltKernel

_LEVELS = 2  # of a menu's path that changes are counted by


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class RemovalEntry(_Model):
    """One entry of the removal list."""

    id: str
    menu: str  # as the study prints it
    group: str
    state: str  # "gone", "no longer exists", "kept", or "not asked"
    text: str  # one sentence
    held: dict[str, str] = {}  # symbol still on -> the chain that holds it on


class MenuChange(_Model):
    """How many symbols of a menu went and came, against where tailoring began."""

    menu: str
    removed: int
    added: int


class JudgedRule(_Model):
    """A rule of the real-time lint that the kernel's configuration breaks, or that it does not answer."""

    id: str
    title: str
    severity: str  # "error", "warning", "note"
    state: str  # "found" or "not known"
    seen: str


class Account(_Model):
    """One tailored kernel."""

    candidate: str
    baseline: str | None  # the candidate whose figures stand before
    source: str  # the package or path of its source
    version: str
    release: str
    architecture: str
    start: str
    compiler: str
    sha256: str  # of all its files: equal inputs give equal hashes
    files_compiled: int
    symbols_on: int  # of its configuration
    modules: tuple[str, ...]  # symbols built as loadable modules
    entries: tuple[RemovalEntry, ...]
    changes: tuple[MenuChange, ...]
    explanations: tuple[str, ...]  # one sentence a step of the way to the configuration
    lint: tuple[JudgedRule, ...] = ()
    lint_rules: int = 0  # that were asked; those that are not in `lint` hold, or do not apply
    trim: Trimmed | None = Field(default=None, exclude=True)  # kept in a file of its own


class Accounts(_Model):
    schema_version: int = 1
    kernels: tuple[Account, ...]


ACCOUNTS = Annex(
    "tailor.json", Accounts, "tailor again", gather=lambda accounts: Accounts(kernels=tuple(accounts)), indent=1
)


def account_of(
    candidate: str,
    baseline: str | None,
    *,
    source: str,
    start: str,
    every: "Sequence[Removal]",
    architecture: str,
    resolution: "Resolution",
    made: "BuiltKernel",
) -> Account:
    """`every` is the whole removal list; entries that the resolution was not asked to remove are marked so."""
    from rtqual.engine.kernel.config import parse  # noqa: PLC0415 - a campaign that is read makes no account
    from rtqual.engine.kernel.lint.lint_rules import rules  # noqa: PLC0415

    outcomes = {outcome.removal.id: outcome for outcome in resolution.outcomes}
    entries = []
    for removal in every:
        outcome = outcomes.get(removal.id)
        state, text, held = ("not asked", "The mission keeps it.", {}) if outcome is None else (
            outcome.state, outcome.text, dict(outcome.held),
        )  # fmt: skip
        entries.append(
            RemovalEntry(id=removal.id, menu=removal.menu, group=removal.group, state=state, text=text, held=held)
        )
    config = parse(made.config, f"the configuration of {candidate}")
    return Account(
        candidate=candidate,
        baseline=baseline,
        source=source,
        version=made.version,
        release=made.release,
        architecture=architecture,
        start=start,
        compiler=made.compiler,
        sha256=made.sha256,
        files_compiled=made.objects,
        symbols_on=sum(config.on(symbol) for symbol in config),
        modules=tuple(sorted(symbol for symbol, value in config.items() if value == "m")),
        entries=tuple(entries),
        changes=tuple(_by_menu(resolution.removed, resolution.forced)),
        explanations=resolution.explanations,
        lint=tuple(_judged(made.config, candidate)),
        lint_rules=len(rules()),
    )


def _judged(config: str, candidate: str) -> Iterable[JudgedRule]:
    from rtqual.engine.kernel.lint.judged_system import from_config  # noqa: PLC0415
    from rtqual.engine.kernel.lint.lint_rules import State, lint  # noqa: PLC0415 - as above

    for finding in lint(from_config(config, candidate)):
        if finding.state in (State.FOUND, State.UNKNOWN):
            told = (finding.rule.id, finding.rule.title, finding.rule.severity.value, finding.state.value, finding.seen)
            yield JudgedRule(**dict(zip(JudgedRule.model_fields, told, strict=True)))


def _by_menu(removed: "Iterable[ChangedSymbol]", forced: "Iterable[ChangedSymbol]") -> Iterable[MenuChange]:
    gone, come = (Counter(_short(change.menu) for change in changes) for changes in (removed, forced))
    for menu in sorted({*gone, *come}, key=lambda menu: (-gone[menu] - come[menu], menu)):
        yield MenuChange(menu=menu, removed=gone[menu], added=come[menu])


def _short(menu: str) -> str:
    return " -> ".join(menu.split(" -> ")[:_LEVELS]) or "(no menu)"


def with_trims(annexes: Annexes) -> tuple[Account, ...]:
    """Return the accounts of an annex, each with the trim of the same kernel, where there was one."""
    accounts, trims = ACCOUNTS.of(annexes), TRIMS.of(annexes)
    found = {(trimmed.candidate, trimmed.kernel_sha256): trimmed for trimmed in (trims.kernels if trims else ())}
    kernels = accounts.kernels if accounts else ()
    return tuple(
        account.model_copy(update={"trim": found.get((account.candidate, account.sha256))}) for account in kernels
    )
