# SPDX-License-Identifier: MIT
"""The command line: parse, call, print. Results go to stdout, progress and complaints to stderr."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rtqual import __version__
from rtqual.errors import BadInput, RtqualError
from rtqual.mission import DEFAULT_SCALE, Mission, load_mission, mission_schema

app = App(
    name="rtqual",
    version=__version__,
    help="Chooses and qualifies the real-time operating system of a low-cost flight computer.",
    suppress_keyboard_interrupt=False,  # main() tells it
)
mission_app = App(name="mission", help="Mission files.")
app.command(mission_app)
published_app = App(name="published", help="Published studies: their figures, and what does not follow from them.")
app.command(published_app)

_stdout, _stderr = Console(emoji=False), Console(stderr=True, emoji=False)
_literal = Console(markup=False, emoji=False)  # for what others wrote: "[two]" is no style there
Format = Literal["html", "pdf", "md", "junit", "prometheus", "bencher", "github"]
Json = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON for machines.")]


@Parameter(name="*")
@dataclass(frozen=True)
class Run:
    """What all commands that run a campaign ask for.

    Parameters
    ----------
    out
        Folder for records and reports; out/MISSION-SCALE unless given. The same command resumes there.
    jobs
        Guests at a time, 1 or 2.
    dry_run
        List the cells with the time and disk they need, and stop.
    """

    out: Path | None = None
    jobs: int = 2
    dry_run: Annotated[bool, Parameter(negative="")] = False
    as_json: Json = False

    def load(self, mission: Path, scale: str) -> Mission:
        if self.jobs not in (1, 2):
            raise BadInput(f"--jobs {self.jobs}: at most two guests run at a time; write 1 or 2")
        loaded = load_mission(mission)
        loaded.scale(scale)
        return loaded

    def folder(self, mission: Mission, scale: str) -> Path:
        return self.out or Path("out") / f"{mission.mission.name}-{scale}"

    def of(self, stage: Callable[..., Any], mission: Mission, scale: str) -> int:
        """Run a stage with its progress shown, then print its verdicts; or list what it would run."""
        from rtqual.campaign import Campaign, plan  # noqa: PLC0415 - the libraries behind it are slow to load
        from rtqual.progress import Display  # noqa: PLC0415
        from rtqual.verdict_text import as_dict, print_verdicts  # noqa: PLC0415

        folder = self.folder(mission, scale)
        if self.dry_run:
            _print_plan(Campaign(mission, scale, folder, workers=self.jobs), as_json=self.as_json)
            return 0
        display = Display(_stderr, plan(mission, scale), self.jobs)
        with display.shown():
            selection = stage(mission, scale, folder, display, workers=self.jobs)
        if self.as_json:
            _print_json(as_dict(selection))
        else:
            print_verdicts(_stdout, selection)
        return 3 if selection.failures else 0


_RUN = Run()


@app.command
def select(mission: Path, /, *, scale: str = DEFAULT_SCALE, run: Run = _RUN) -> int:
    """Measure the candidates of a mission and say which one to fly.

    Parameters
    ----------
    mission
        The mission file.
    scale
        How much to measure: a [scale.NAME] of the mission.
    """
    from rtqual import select as stage  # noqa: PLC0415 - the libraries behind it are slow to load

    return run.of(stage.select, run.load(mission, scale), scale)


@app.command
def tailor(
    mission: Path,
    /,
    *,
    scale: str = "tailor",
    stepwise: Annotated[bool, Parameter(negative="")] = False,
    trim: Annotated[bool, Parameter(negative="")] = False,
    run: Run = _RUN,
) -> int:
    """Cut a kernel down to a mission, build it, and measure it beside the kernel it replaces (docs/tailor.md).

    Parameters
    ----------
    mission
        The mission file, with a candidate that has a table [candidate.tailor].
    scale
        How much to measure: a [scale.NAME] of the mission.
    stepwise
        With the removal list put back, then without one group of it after the other: what each gained. An hour or two.
    trim
        Then watch which of the kernel's code the scale's runs use, and try what could go too (docs/trim.md).
    """
    from rtqual import tailor as stage  # noqa: PLC0415 - the libraries behind it are slow to load

    if trim and stepwise:
        raise BadInput("--trim and --stepwise: the one begins with what the other ends with; give one")
    loaded = run.load(mission, scale)
    stage.check(loaded, scale)
    if stepwise:
        with TemporaryDirectory() as nowhere:
            folder = Path(nowhere) if run.dry_run else run.folder(loaded, stage.STEPWISE)
            loaded, scale = stage.step_by_step(loaded, scale, folder), stage.STEPWISE
    return run.of(partial(stage.tailor, trimming=trim), loaded, scale)


@app.command
def lidar(mission: Path, /, *, scale: str = "lidar", run: Run = _RUN) -> int:
    """Stream the docking camera on every kernel, by every way from frames to ranges (docs/lidar.md).

    Parameters
    ----------
    mission
        The mission file.
    scale
        How much to measure: a [scale.NAME] of the mission that names lidar instruments.
    """
    from rtqual import lidar as stage  # noqa: PLC0415 - the libraries behind it are slow to load

    loaded = run.load(mission, scale)
    stage.check(loaded, scale)
    return run.of(stage.lidar, loaded, scale)


def _print_plan(campaign: Any, *, as_json: bool) -> None:
    from rtqual.campaign import forecast  # noqa: PLC0415
    from rtqual.progress import forecast_text  # noqa: PLC0415

    waiting = campaign.waiting()
    needed = forecast(waiting, campaign.workers)
    built = list(dict.fromkeys(cell.candidate.name for cell in waiting if cell.candidate.tailor))
    left = set(waiting)
    if as_json:
        rows = [
            {"cell": str(cell), "estimate_s": round(cell.estimate_s, 1), "done": cell not in left}
            for cell in campaign.cells
        ]
        _print_json({"cells": rows, "left": vars(needed), "kernels_to_build": built})
        return
    groups: dict[Any, list[Any]] = {}
    for cell in campaign.cells:
        groups.setdefault(cell.group, []).append(cell)
    table = Table("candidate", "instrument", "load", "CPUs", "runs", "done", "s a run", box=box.SIMPLE)
    for group, cells in groups.items():
        done = sum(cell not in left for cell in cells)
        row = (group.candidate, group.instrument, group.load, group.cpus, len(cells), done)
        table.add_row(*map(str, row), f"{cells[0].estimate_s:.1f}")
    _stdout.print(table)
    told = [f"Left to do: {forecast_text(needed)} (an estimate; downloads come on top)."]
    told += [f"Not in it: building kernels that are not kept from before ({', '.join(built)})."] if built else []
    for line in told:
        _literal.print(line, soft_wrap=True)


@app.command
def show(
    record: Path, /, *, every_sample: Annotated[bool, Parameter(negative="")] = False, as_json: Json = False
) -> int:
    """Show a record, or the records of a campaign's folder.

    Parameters
    ----------
    record
        A record's folder, a campaign's folder, or the first characters of a record's hash (looked up below out/).
    every_sample
        Check every sample against the record's hash, also where there are more than a million raw ones.
    """
    from rtqual.inspection import find, show_campaign, show_record  # noqa: PLC0415
    from rtqual.record.store import verify  # noqa: PLC0415

    paths = find(record)
    for path in paths if every_sample else ():
        verify(path)
    if as_json:
        from rtqual.inspection import record_dict  # noqa: PLC0415

        _print_json([record_dict(path) for path in paths])
    elif len(paths) == 1:
        show_record(_literal, paths[0])
    else:
        show_campaign(_literal, paths)
    return 0


@app.command
def compare(a: Path, b: Path, /, *, as_json: Json = False) -> int:
    """Put two records, or two campaigns, beside each other: effect sizes first.

    What the missions of the campaigns call a margin says here too which differences do not matter.

    Parameters
    ----------
    a
        A record or a campaign, as `rtqual show` takes it.
    b
        What it is compared with.
    """
    from rtqual import inspection  # noqa: PLC0415

    comparisons = inspection.compare_paths(inspection.find(a), inspection.find(b), inspection.margins_in(a, b))
    if as_json:
        _print_json([inspection.comparison_dict(one) for one in comparisons])
    else:
        inspection.print_comparisons(_literal, comparisons)
    return 0


@app.command
def reproduce(record: Path, /, *, as_json: Json = False) -> int:
    """Run a record's recorded command line again, by itself, and compare the samples.

    Parameters
    ----------
    record
        A record of the virtual board, as `rtqual show` takes it.
    """
    from rtqual.inspection import find  # noqa: PLC0415
    from rtqual.reproduction import reproduce as again  # noqa: PLC0415

    results = [again(path) for path in find(record)]
    if as_json:
        _print_json([vars(one) for one in results])
    else:
        for one in results:
            _literal.print(f"{one.record}: {one.text}", soft_wrap=True, highlight=False)
    return 0 if all(one.same for one in results) else 1


@app.command
def report(
    folder: Path,
    /,
    *,
    formats: Annotated[list[Format] | None, Parameter(name="--format", negative="")] = None,
    out: Path | None = None,
    as_json: Json = False,
) -> int:
    """Write the reports of a finished campaign again; nothing is run.

    Parameters
    ----------
    folder
        The campaign's folder.
    formats
        What to write; may be given several times. Everything unless given.
    out
        The file for one format, in place of the campaign's folder.
    """
    from rtqual import select as stage  # noqa: PLC0415
    from rtqual.report import FORMATS  # noqa: PLC0415
    from rtqual.verdict_text import as_dict, print_reports  # noqa: PLC0415

    selection = stage.report(folder, formats or tuple(FORMATS), out)
    if as_json:
        _print_json(as_dict(selection))
    elif out is None:
        print_reports(_stdout, selection)
    return 0


@app.command
def gate(
    baseline: Path,
    current: Path | None = None,
    /,
    *,
    tolerance: float = 0.0,
    mission_only: Annotated[bool, Parameter(negative="")] = False,
    strict: Annotated[bool, Parameter(negative="")] = False,
    junit: Path | None = None,
    github: Annotated[bool, Parameter(negative="")] = False,
    as_json: Json = False,
) -> int:
    """Fail (exit code 1) where something got worse than a baseline (docs/ci.md).

    Parameters
    ----------
    baseline
        A campaign's folder, or records as `rtqual show` takes them.
    current
        What is judged; the only finished campaign below out/ unless given.
    tolerance
        By how many percent a figure may be worse.
    mission_only
        Judge only the figures that the mission's requirements and criteria name.
    strict
        Fail on what cannot be judged too.
    junit
        Write JUnit XML into this file as well.
    github
        Print Markdown for $GITHUB_STEP_SUMMARY.
    """
    from rtqual import gate as stage  # noqa: PLC0415
    from rtqual.gate_text import as_dict, print_gate  # noqa: PLC0415

    if github and as_json:
        raise BadInput("--github and --json: both want to be all that is printed; give one")
    found = stage.gate(baseline, current, tolerance_percent=tolerance, mission_only=mission_only, strict=strict)
    if junit:
        stage.write_junit(found, junit)
    if github:
        from rtqual.report.github import gate_github  # noqa: PLC0415

        sys.stdout.write(gate_github(found))
    elif as_json:
        _print_json(as_dict(found))
    else:
        print_gate(_stdout, found)
    return 1 if found.failed else 0


@app.command(name="import")
def import_(
    files: list[Path],
    /,
    *,
    candidate: str,
    out: Path,
    load: str | None = None,
    board: str = "imported",
    form: Annotated[str | None, Parameter(name="--format")] = None,
    unit: str | None = None,
    column: str | None = None,
    instrument: str | None = None,
    cpus: int | None = None,
    as_json: Json = False,
) -> int:
    """Read what other tools measured into records (docs/import.md).

    Parameters
    ----------
    files
        Output of cyclictest, sysbench, hackbench, stress-ng, rtla, jitterdebugger or rteval; Parquet or CSV.
    candidate
        What was measured.
    out
        The folder whose records/ takes them.
    load
        What disturbed it meanwhile.
    board
        Where it ran.
    form
        The files' format, where it is not recognised.
    unit
        The unit of a file that does not tell: ns or us.
    column
        The column of samples, of a table that has several.
    instrument
        The instrument of a file that does not tell.
    cpus
        The number of CPUs of a file that does not tell.
    """
    from rtqual.importer.records import Circumstances, import_files  # noqa: PLC0415
    from rtqual.importer.telling import as_dict, lines  # noqa: PLC0415

    known = Circumstances(candidate, board=board, load=load, instrument=instrument, cpus=cpus, unit=unit, column=column)
    imported = import_files(files, out, known, format_name=form)
    if as_json:
        _print_json([as_dict(one) for one in imported])
    else:
        for line in lines(imported):
            _literal.print(line, soft_wrap=True, highlight=False)
    return 0


@app.command
def lint(
    file: Path | None = None,
    /,
    *,
    running: Annotated[bool, Parameter(negative="")] = False,
    board: Literal["local", "virtual"] | None = None,
    candidate: str | None = None,
    boot: str | None = None,
    cpus: int | None = None,
    as_json: Json = False,
) -> int:
    """Judge the settings that decide latency, of a kernel's configuration or a running system (docs/lint.md).

    Parameters
    ----------
    file
        A kernel's .config, also gzipped; with --board virtual the mission file.
    running
        Judge this machine as it runs, as --board local does.
    board
        Where the system runs that is judged.
    candidate
        Which of the mission's candidates to boot on the virtual board.
    boot
        The kernel parameters that FILE's kernel will be booted with, in one string.
    cpus
        How many CPUs FILE's kernel will have; with --board virtual, how many the guest gets.
    """
    from rtqual import lint as stage  # noqa: PLC0415
    from rtqual.kernel.lint import lint as judge  # noqa: PLC0415
    from rtqual.lint_text import as_dict, failed, print_lint  # noqa: PLC0415

    if running and board == "virtual":
        raise BadInput("--running and --board virtual: one system at a time")
    system = stage.system_of(file, board="local" if running else board, candidate=candidate, boot=boot, cpus=cpus)
    findings = judge(system)
    if as_json:
        _print_json(as_dict(system, findings))
    else:
        print_lint(_stdout, system, findings)
    return 1 if failed(findings) else 0


@app.command
def image(
    mission: Path,
    /,
    *,
    kernel: str,
    out: Path,
    flavour: Literal["minimal", "debian", "both"] = "minimal",
    architecture: Literal["amd64", "arm64"] = "amd64",
    form: Literal["disk", "initramfs"] = "disk",
    package: tuple[str, ...] = (),
    module: tuple[str, ...] = (),
    overlay: Path | None = None,
    firmware: Path | None = None,
    boot: Annotated[bool, Parameter(negative="")] = False,
    as_json: Json = False,
) -> int:
    """Make a system image for a flight disk, with a list of what is inside (docs/image.md).

    Parameters
    ----------
    mission
        The mission file; its needs say which drivers and packages go in.
    kernel
        A candidate of the mission, or a Debian package of a kernel.
    out
        The image's file; with --flavour both, the folder of the two.
    flavour
        The root: busybox only, Debian, or both of them, booted and compared.
    architecture
        arm64 is laid out for the Raspberry Pi 3 and 4.
    form
        A disk with a boot partition and a root, or an initial RAM file system alone.
    package
        A further Debian package; may be repeated.
    module
        A further kernel module, loaded at boot; may be repeated.
    overlay
        A folder whose files are laid over the root: flight software, keys.
    firmware
        The Raspberry Pi's: a folder, or Debian's package raspi-firmware.
    boot
        Boot the image in QEMU and say how much memory it takes.
    """
    from rtqual.image import comparison, trial  # noqa: PLC0415
    from rtqual.image.request import request_for  # noqa: PLC0415
    from rtqual.image.system import build  # noqa: PLC0415
    from rtqual.image.text import as_dict, print_images  # noqa: PLC0415

    request = request_for(
        load_mission(mission),
        kernel,
        architecture=architecture,
        flavour="minimal" if flavour == "both" else flavour,
        form=form,
        packages=package,
        modules=module,
        overlay=overlay,
        firmware=firmware,
    )
    if flavour == "both":
        measured = comparison.two_roots(request, out, _tell)
    else:
        made = build(request, out, _tell)
        measured = {flavour: comparison.Measured(made, trial.boot(made) if boot else None)}
    if as_json:
        _print_json(as_dict(measured))
    else:
        print_images(_literal, measured)
    return 0


def _tell(text: str) -> None:
    _stderr.print(escape(text), highlight=False)


@app.command
def doctor(*, as_json: Json = False) -> int:
    """Say what this machine can do, what is missing, and the command that mends it."""
    from rtqual import doctor as examination  # noqa: PLC0415

    checks = examination.diagnose()
    if as_json:
        _print_json(examination.as_json(checks))
    else:
        _stdout.print(examination.render(checks))
    return 0 if examination.demo_can_run(checks) else 1


@mission_app.command
def schema() -> int:
    """Print the JSON Schema of mission files, for editors."""
    _print_json(mission_schema())
    return 0


@mission_app.command
def check(mission: Path, /) -> int:
    """Check a mission file.

    Parameters
    ----------
    mission
        The mission file.
    """
    loaded = load_mission(mission)
    scales = ", ".join(loaded.scales)
    text = f"{mission}: good; {len(loaded.candidates)} candidates, scales {scales}"
    _literal.print(text, highlight=False, soft_wrap=True)
    return 0


@published_app.command(name="list")
def published_list() -> int:
    """List the published studies."""
    from rtqual.published import studies  # noqa: PLC0415
    from rtqual.published.text import catalogue  # noqa: PLC0415

    sys.stdout.write(catalogue(studies()) + "\n")
    return 0


@published_app.command(name="show")
def published_show(key: str, /, *, as_json: Json = False) -> int:
    """Show a study's tables as they were printed, with their units.

    Parameters
    ----------
    key
        The study, as `rtqual published list` names it.
    """
    from rtqual.published import study  # noqa: PLC0415
    from rtqual.published.text import study_text, study_values  # noqa: PLC0415

    if as_json:
        _print_json(study_values(study(key)))
    else:
        sys.stdout.write(study_text(study(key)))
    return 0


@published_app.command(name="audit")
def published_audit(key: str | None = None, /, *, as_json: Json = False) -> int:
    """List every figure and claim that does not follow from the study's own figures.

    Parameters
    ----------
    key
        One study; all of them unless given.
    """
    from rtqual.published import audit, document, studies, study  # noqa: PLC0415
    from rtqual.published.text import audit_values  # noqa: PLC0415

    if as_json:
        _print_json([audit_values(audit(one)) for one in (studies() if key is None else (study(key),))])
    else:
        sys.stdout.write(document(key))
    return 0


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=1, default=str) + "\n")


def main() -> None:
    """Run the command line. Exit codes: 1 a check did not hold, 2 bad input, 3 a run failed, 130 interrupted."""
    try:
        code = app(exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except RtqualError as error:
        _complain(str(error))
        code = error.exit_code
    except CycloptsError as error:
        _complain(str(error))
        code = 2
    except ModuleNotFoundError as error:
        _complain(f"the Python library {error.name} is missing: pip install 'rtqual[analysis,report]'")
        code = 3
    except KeyboardInterrupt:
        _complain("interrupted; finished records are kept, the same command goes on")
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:  # what nobody foresaw: a full disk, a missing program, a folder that cannot be read
        _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        code = 3
    sys.exit(code if isinstance(code, int) else 0)


def _complain(text: str) -> None:
    _stderr.print(f"[red]rtqual:[/red] {escape(' '.join(text.split()))}", highlight=False, soft_wrap=True)
