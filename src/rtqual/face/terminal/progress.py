# SPDX-License-Identifier: MIT
"""A campaign on the terminal: what runs, how far it is, the time left. On a pipe: a line a finished run."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from rtqual.base.units import format_duration
from rtqual.base.words import count, listed
from rtqual.engine.campaign.cell import Cell
from rtqual.engine.campaign.cost import Cost, cost_of
from rtqual.engine.campaign.run import Watcher


class Display(Watcher):
    """Follows a campaign. The time left is the forecast of what remains, at the pace seen so far."""

    def __init__(self, console: Console, cells: Sequence[Cell], workers: int) -> None:
        self._console = console
        self._left = list(cells)
        self._workers = workers
        self._started: dict[Cell, float] = {}
        self._forecast_s = self._spent_s = 0.0  # of finished cells
        self._lock = threading.Lock()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:.0f}/{task.total:.0f} runs"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
        )
        self._task = self._bar.add_task("preparing", total=len(cells), left="")

    @contextmanager
    def shown(self) -> Iterator[None]:
        if not self._console.is_terminal:
            yield
            return
        with Live(get_renderable=self._render, console=self._console, refresh_per_second=4, transient=True):
            yield

    def preparing(self, what: str) -> None:
        self._bar.update(self._task, description=f"preparing {what}")
        self._say(f"preparing {what}")

    def kept(self, cells: Sequence[Cell]) -> None:
        with self._lock:
            self._left = [cell for cell in self._left if cell not in set(cells)]
        self._bar.update(self._task, advance=len(cells))
        if cells:
            self._console.print(f"{len(cells)} of {len(cells) + len(self._left)} runs are done already")

    def started(self, cell: Cell) -> None:
        with self._lock:
            self._started[cell] = time.monotonic()
        self._bar.update(self._task, description="running", left=self._time_left())

    def finished(self, cell: Cell, failure: str | None) -> None:
        with self._lock:
            took_s = time.monotonic() - self._started.pop(cell)
            self._spent_s += took_s
            self._forecast_s += cell.estimate_s
            self._left.remove(cell)
        self._bar.update(self._task, advance=1, left=self._time_left())
        if failure:
            self._console.print(f"[red]failed[/red] {escape(f'{cell}: {failure}')}", highlight=False, soft_wrap=True)
        else:
            self._say(f"done in {took_s:.1f} s: {cell} ({count(len(self._left), 'run')}, {self._time_left()})")

    def waits(self, cells: Sequence[Cell], why: str) -> None:
        self._leave_out(cells, f"[yellow]waiting[/yellow] {count(len(cells), 'run')}: {escape(why)}")

    def refused(self, cells: Sequence[Cell], why: str) -> None:
        text = escape(f"{count(len(cells), 'run')} of {cells[0].group}: {why}")
        self._leave_out(cells, f"[red]refused[/red] {text}")

    def _leave_out(self, cells: Sequence[Cell], text: str) -> None:
        with self._lock:
            self._left = [cell for cell in self._left if cell not in set(cells)]
        self._console.print(text, highlight=False, soft_wrap=True)

    def goes_on(self, cells: Sequence[Cell], why: Sequence[str]) -> None:
        with self._lock:
            self._left += cells
        self._bar.update(self._task, total=(self._bar.tasks[0].total or 0) + len(cells))
        text = f"not decided yet: {listed(why)}; {count(len(cells), 'more run')}"
        self._console.print(text, highlight=False, soft_wrap=True, markup=False)

    def warning(self, text: str) -> None:
        self._console.print(f"[yellow]warning[/yellow] {escape(text)}", highlight=False, soft_wrap=True)

    def _say(self, text: str) -> None:
        if not self._console.is_terminal:
            self._console.print(text, highlight=False, soft_wrap=True)

    def _time_left(self) -> str:
        with self._lock:
            pace = self._spent_s / self._forecast_s if self._forecast_s > 10 else 1.0
            left_s = cost_of(self._left, self._workers, booting=not self._spent_s).wall_s * pace
        return f"about {format_duration(left_s)} left"

    def _render(self) -> Table:
        grid = Table.grid()
        grid.add_row(self._bar)
        with self._lock:
            running = [(cell, time.monotonic() - since) for cell, since in self._started.items()]
        for cell, since_s in running:
            grid.add_row(f"  {cell} [dim]{since_s:.0f} s[/dim]")
        return grid


def cost_text(cost: Cost) -> str:
    return f"{count(cost.cells, 'run')}, about {format_duration(cost.wall_s)}, {cost.disk_b / 2**20:.0f} MiB of disk"
