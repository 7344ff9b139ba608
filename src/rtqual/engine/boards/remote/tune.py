# SPDX-License-Identifier: MIT
"""Settings that steady a board's time: what was set, from what to what, and the way back.

Each is a file of the kernel's. What stood there before lies in memory on the board, beside the settings themselves: a
start of the board takes back both. After psf/pyperf, `_system.py`.
"""

from collections import Counter
from dataclasses import dataclass

from rtqual.base.errors import RunFailed
from rtqual.base.words import clean, count
from rtqual.engine.boards.remote.link import Link

BEFORE = "/run/rtqual-tuned"  # a line a file: its path, a tab, what stood there
_MOST_LETTERS, _LONGEST, _MOST = 100_000, 60, 50  # of what a board answers
_CPU = "/sys/devices/system/cpu"
# Name, files, what they are to say; $rest: the CPUs that are not isolated, empty where none is.
_SETTINGS = (
    ("governor", f"{_CPU}/cpu[0-9]*/cpufreq/scaling_governor", "performance"),
    ("boost", f"{_CPU}/cpufreq/boost", "0"),
    ("turbo", f"{_CPU}/intel_pstate/no_turbo", "1"),
    ("idle states", f"{_CPU}/cpu[0-9]*/cpuidle/state[1-9]*/disable", "1"),
    ("limit of real-time CPU time", "/proc/sys/kernel/sched_rt_runtime_us", "-1"),
    ("watchdog by NMI", "/proc/sys/kernel/nmi_watchdog", "0"),
    ("timer migration", "/proc/sys/kernel/timer_migration", "0"),
    ("interrupts", "/proc/irq/[0-9]*/smp_affinity_list", "$rest"),
)
NAMES = ", ".join(name for name, _, _ in _SETTINGS)
_REST = """\
rest=$(awk -v every="$(cat {cpu}/online)" -v apart="$(cat {cpu}/isolated)" '
function add(text, set, n, i, parts, ends, one, last) {{
	n = split(text, parts, ",")
	for (i = 1; i <= n; i++) {{
		last = split(parts[i], ends, "-")
		for (one = ends[1] + 0; one <= ends[last] + 0; one++) set[one] = 1
	}}
}}
BEGIN {{
	add(every, on); add(apart, off)
	for (one = 0; one < 4096; one++) if (one in on && !(one in off)) rest = rest "," one
	if (apart != "") print substr(rest, 2)
}}')
"""
_ONE = """\
one() {{
	[ -n "$3" ] && [ -e "$2" ] && old=$(cat "$2" 2> /dev/null) || return
	[ "$old" != "$3" ] || return
	grep -qs "^$2	" {before} || printf '%s\\t%s\\n' "$2" "$old" >> {before}
	{{ printf '%s\\n' "$3" > "$2"; }} 2> /dev/null
	printf '%s\\t%s\\t%s\\n' "$1" "$old" "$(cat "$2")"
}}
"""
_RESET = """\
[ ! -e {before} ] || while IFS='	' read -r path old; do
	{{ printf '%s\\n' "$old" > "$path"; }} 2> /dev/null
	[ "$(cat "$path")" = "$old" ] || echo "$path"
done < {before}
rm -f {before}
"""


@dataclass(frozen=True)
class TunedSetting:
    """`after` equals `before` where the kernel refused."""

    name: str
    before: str
    after: str
    places: int

    @property
    def refused(self) -> bool:
        return self.before == self.after

    def __str__(self) -> str:
        places = f" ({count(self.places, 'place')})" if self.places > 1 else ""
        how = f"stays {self.before}: the kernel refuses" if self.refused else f"{self.before} -> {self.after}"
        return f"{self.name}: {how}{places}"


def script(root: str = "") -> str:
    """`root`: before every path, for tests."""
    lines = [_REST.format(cpu=root + _CPU), _ONE.format(before=root + BEFORE)]
    lines += [f'for path in {root}{files}; do one "{name}" "$path" "{value}"; done' for name, files, value in _SETTINGS]
    return "\n".join(lines) + "\nexit 0\n"


def reset_script(root: str = "") -> str:
    return _RESET.format(before=root + BEFORE)


def changes(said: str) -> list[TunedSetting]:
    """Of what the script printed; settings that are right already are not in it."""
    known = {name for name, _, _ in _SETTINGS}
    parts = [line.split("\t") for line in said[:_MOST_LETTERS].splitlines()]
    rows = Counter(tuple(clean(text[:_LONGEST]) for text in row) for row in parts if len(row) == 3 and row[0] in known)
    return [TunedSetting(name, before, after, n) for (name, before, after), n in [*rows.items()][:_MOST]]


def tune(link: Link) -> list[TunedSetting]:
    """Where it fails or is interrupted, what was set is taken back."""
    try:
        return changes(link.run(script(), deadline_s=60).decode(errors="replace"))
    except BaseException:
        reset(link)
        raise


def reset(link: Link) -> None:
    """As it was before. Raises RunFailed where the board does not take something back."""
    left = link.run(reset_script(), deadline_s=60).decode(errors="replace").split()
    if left:
        raise RunFailed(f"could not be put back: {clean(', '.join(left))[:200]}; the board's next start restores it")
