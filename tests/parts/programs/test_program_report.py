# SPDX-License-Identifier: MIT
"""A program's page of the report, and what the first page says of it, from records that were made up."""

from pathlib import Path

import pytest

from rtqual.base.architecture import AMD64
from rtqual.engine.campaign import folder as kept
from rtqual.engine.mission.program import Program
from rtqual.parts.programs.judged import judged
from rtqual.parts.programs.run_report import RunReport
from rtqual.parts.programs.thread_trace import read
from rtqual.protocols.record.schema import Inputs, Provenance, Record, Timing
from rtqual.protocols.record.store import Store, make
from rtqual.stages.selection import report
from support.program_logs import PERIOD_NS, job_log

_MISSION = """\
[mission]
name = "own"
title = "Own"
purpose = "A test."
duration = "1 h"

[[candidate]]
name = "rt"
title = "Debian RT"
package = "linux-image-rt-amd64"

[[candidate]]
name = "stock"
title = "Debian"
package = "linux-image-amd64"

[[program]]
name = "loop"
title = "The loop <of> ours"
binary = "loop"
kernel_threads = { "ktimers/*" = 99 }

[[program.task]]
name = "tick"
thread = "tick"
period = "1 ms"
deadline = "500 us"
window = 4

[[requirement]]
name = "few are missed"
instrument = "program-loop"
load = "none"
scalar = "tick missed in any 4"
at_most = 0

[[scale.demo.plan]]
instruments = ["program-loop"]
runs = 10
"""
_SHA256 = "0123456789abcdef" * 4


def _record(candidate: str, seed: int) -> Record:
    """Of 30 jobs; on `stock` two of each run in a row are late."""
    late = {seed + 1: 600_000, seed + 2: 700_000} if candidate == "stock" else {seed: 60_000 + seed}
    task = {"name": "tick", "thread": "tick", "period": "1 ms", "deadline": "500 us", "window": 4}
    program = Program.model_validate({"name": "loop", "binary": "loop", "task": [task]}, context={})
    measured = judged(program, read(job_log(late, jobs=30), AMD64), RunReport(started=0, begin=0, end=40 * PERIOD_NS))
    inputs = Inputs(
        candidate=candidate, instrument="program-loop", load="none", board="virtual", cpus=1, seed=seed,
        parameters={"hashes": {"binary": _SHA256}},
    )  # fmt: skip
    provenance = Provenance(rtqual="0", mission_sha256="", started=None, wall_s=1.0, command=["true"])
    return make(inputs, measured, provenance, timing=Timing.INSTRUCTIONS, repeat=0)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("own") / "out"
    folder.mkdir()
    records = tuple(_record(candidate, seed) for candidate in ("rt", "stock") for seed in range(1, 11))
    for one in records:
        Store(folder / kept.RECORDS).write(one)
    kept.keep(folder, _MISSION.encode(), "demo", kept.Result(records, {}, {}))
    report(folder, ["md"])
    return Path(folder / "report.md").read_text()


def test_page_one_names_the_binary_and_what_was_changed_of_the_kernel(page: str) -> None:
    first = page[: page.index("## 1 ")]
    assert "Program loop" in first
    assert _SHA256[:16] in first
    assert "ktimers/\\* at FIFO 99" in first or "ktimers/* at FIFO 99" in first


def test_a_program_has_a_page_of_its_own(page: str) -> None:
    chapter = page[page.index("Programs, job by job") :]
    chapter = chapter[chapter.index("A job begins") : chapter.index("Failures and problems")]
    assert "Jobs of loop" in chapter
    rows = [line for line in chapter.splitlines() if line.startswith("|")]
    missed = next(line for line in rows if line.startswith("| missed in any 4"))
    assert [cell.split()[0] for cell in missed.strip("|").split("|")[1:]] == ["0", "2"]
    assert "The worst job of tick" in chapter
    assert "Responses of tick" in chapter
    own = next(line for line in rows if "stock" in line and "its own work" in line)
    assert "50" in own  # jobs that were told: five a run
