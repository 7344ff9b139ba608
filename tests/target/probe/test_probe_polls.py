# SPDX-License-Identifier: MIT
"""A system that waits by looking at the clock is never late, and is told apart: FreeRTOS whose sleep spins."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from rtqual.engine.boards.rtos_board import RtosBoard
from rtqual.engine.campaign import folder as kept
from rtqual.engine.candidates import rtos
from rtqual.engine.candidates.sources import probe_sources
from rtqual.engine.instruments.probe import families
from rtqual.engine.instruments.probe.families import ProbeParameters
from rtqual.engine.instruments.probe.probe_output import Benchmark, ProbeOutput, Sampled, Status
from rtqual.protocols.board import JobOutcome
from rtqual.protocols.board.system import Rtos
from rtqual.protocols.instrument import Measurement
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.instrument.output import clock_problems, refused
from support.command import Run
from support.freertos import MISSION

_SLEEP = b"xTaskDelayUntil(&tick, machine_ticks_until(due_ns));"
_SWITCHES = "involuntary switches"
_SAYS = "polls: a thread that waits by sleep keeps the CPU from those of lower priority"


@pytest.fixture(scope="module")
def spinning() -> Rtos:
    sources = dict(probe_sources())
    timer = sources["probe/freertos/timer.c"]
    assert timer.count(_SLEEP) == 1
    sources["probe/freertos/timer.c"] = timer.replace(_SLEEP, b"(void)tick;")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rtos, "probe_sources", lambda: sources)
        return rtos.prepare("spins")


def measured(image: Rtos, family: str) -> Measurement:
    instrument, parameters = all_instruments()[f"probe-{family}"], ProbeParameters(iterations=20)
    outcome = RtosBoard(image).run(instrument.job(parameters, cpus=1, seed=1), seed=1, timeout_s=30)
    return instrument.read(parameters, outcome, cpus=1)


@pytest.mark.guest
@pytest.mark.parametrize("family", ["wakeup", "periodic", "loop"])
def test_a_sleep_that_spins_is_found_in_every_family_that_waits(image: Rtos, spinning: Rtos, family: str) -> None:
    sleeps, spins = measured(image, family), measured(spinning, family)
    assert not sleeps.problems
    shares = [one.value for name, one in sleeps.scalars.items() if "lower thread's share" in name]
    assert len(shares) == 1 and min(shares) > 98
    assert _SAYS in spins.problems


@pytest.mark.guest
def test_what_polls_never_ranks_first_and_says_so_everywhere(rtqual: Run, tmp_path: Path, spinning: Rtos) -> None:
    plan = 'instruments = ["probe-wakeup"]\nparameters.probe-wakeup.iterations = 50'
    text = MISSION.format(candidate='rtos = "freertos"', plan=plan).replace("runs = 1", "runs = 10")
    more = f'[[candidate]]\nname = "spins"\ntitle = "Spins"\nimage = "{spinning.image}"\n'
    asked = (
        '[[criterion]]\nname = "w"\ninstrument = "probe-wakeup"\nstatistic = "p50"\nbetter = "lower"\nweight = 1.0\n'
    )
    (tmp_path / "m.toml").write_text(text.replace("[[scale", f"{more}{asked}[[scale"))
    done = rtqual("select", tmp_path / "m.toml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    shown = rtqual("show", tmp_path / "out").stdout
    assert re.search(r"^spins +polls +", shown, re.MULTILINE) and re.search(r"^freertos +\d+ ns", shown, re.MULTILINE)
    assert "spins refused: polls: a thread that waits by sleep" in " ".join(shown.split())
    assert not re.search(r"spins (leads|ranks|scores)", " ".join(done.stdout.split()))
    report = (tmp_path / "out/report.md").read_text()
    assert re.search(r"no verdict rests on it *\|.*polls", report)
    assert "polls: a thread that waits by sleep" in (tmp_path / "out/summary.md").read_text() + report


@pytest.mark.guest
def test_what_polls_is_not_measured_beside_threads_that_would_never_run(
    rtqual: Run, tmp_path: Path, spinning: Rtos
) -> None:
    """It hung until its deadline, once for each run."""
    plan = 'instruments = ["probe-wakeup", "probe-loaded"]\nparameters.probe-wakeup.iterations = 20'
    text = MISSION.format(candidate='rtos = "freertos"', plan=plan + "\nparameters.probe-loaded.iterations = 20")
    spins = f'[[candidate]]\nname = "spins"\ntitle = "Spins"\nimage = "{spinning.image}"\n'
    (tmp_path / "m.toml").write_text(text.replace("[[scale", f"{spins}[[scale").replace("runs = 1", "runs = 3"))
    why = "its image polls: a thread that sleeps leaves nothing to those of lower priority"
    checked = rtqual("mission", "check", tmp_path / "m.toml")
    assert checked.returncode == 0
    assert f"spins: probe-loaded idle cannot run: {why}" in checked.stdout
    done = rtqual("select", tmp_path / "m.toml", "--out", tmp_path / "out")
    assert done.returncode == 3
    assert "hung" not in done.stdout + done.stderr
    (line,) = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("refused ")]
    assert line.startswith("refused 4 runs of ") and why in line
    result = kept.load(tmp_path / "out").result
    measured = {(record.inputs.candidate, record.inputs.instrument) for record in result.records}
    assert measured == {("freertos", "probe-wakeup"), ("freertos", "probe-loaded"), ("spins", "probe-wakeup")}
    ((group, told),) = result.failures.items()
    assert (group.candidate, group.instrument) == ("spins", "probe-loaded") and told.startswith(why)
    assert not result.lost


def told(cmdline: str) -> list[str]:
    facts: Mapping[str, str] = {"clock_resolution_ns": "1", "cmdline": cmdline}
    nothing = JobOutcome(0, "", "", {}, facts, {"exit": 0}, "", (), "", 0.0, ())
    return clock_problems(nothing)


def test_a_cpu_that_polls_when_it_has_no_work_is_told() -> None:
    (problem,) = told("root=/dev/vda idle=poll quiet")
    assert problem.startswith("polls: ")
    assert refused(["samples were lost", problem]) == "polls" and refused(["samples were lost"]) == "refused"
    for other in ("root=/dev/vda", "idle=nomwait", "myidle=poll", "idle=poller", ""):
        assert told(other) == []


def test_what_a_load_takes_is_no_polling_where_the_system_tells_what_the_sleeper_used() -> None:
    def problems(**shares: int) -> list[str]:
        return list(
            families._polling(
                {
                    name.replace("_", " ").replace("lower", "lower thread's"): (value, "%")
                    for name, value in shares.items()
                }
            )
        )

    assert problems(lower_share=20, own_share=3) == problems(lower_share=20, own_share=0) == []
    assert problems(lower_share=20, own_share=70) != []
    assert problems(lower_share=20) != []
    assert problems(lower_share=97) == problems(lower_share=91) == []
    assert problems(lower_share=90) != []


def test_what_happens_while_one_is_asleep_disturbs_no_sample() -> None:
    facts = {"cycles": (10**9, "1/s"), "clock step": (1, "ns")}
    woken = Benchmark("wake-up", Status.OK, "", {_SWITCHES: (2, "1")}, [Sampled("latency", "ns", (1,), 0, 0)])
    asleep = Benchmark("asleep", Status.OK, "", {_SWITCHES: (10, "1"), "own share": (1, "%")})
    series, scalars, problems, _ = families.of_output(ProbeOutput("s", "wakeup", facts, [woken, asleep]))
    assert [one.info.name for one in series] == ["latency"] and not problems
    assert scalars[_SWITCHES].value == 2 and scalars["asleep: own share"].value == 1
