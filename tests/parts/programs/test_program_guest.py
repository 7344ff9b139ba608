# SPDX-License-Identifier: MIT
"""The example's loop in a guest: watched at no cost, and seen as it sees itself."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from rtqual.protocols.record.store import read
from support.command import Run

_EXAMPLE = Path(__file__).parents[3] / "examples" / "loop250"


@pytest.mark.guest
def test_jobs_from_outside_are_those_that_the_program_sees(
    tmp_path: Path, rtqual: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    loop = tmp_path / "loop250"
    subprocess.run(["gcc", "-O2", "-static", "-pthread", "-o", loop, _EXAMPLE / "loop250.c"], check=True)
    text = (_EXAMPLE / "loop250.toml").read_text().replace('["500", "70"]', '["100", "70"]')
    stock = text[text.index('[[candidate]]\nname = "debian"\n') : text.index("[[program]]")]
    (tmp_path / "loop.toml").write_text(text.replace(stock, ""))
    done = rtqual("select", tmp_path / "loop.toml", "--scale", "try", "--run-programs", "--out", tmp_path / "out")
    assert "program-loop250" in done.stderr
    records = [read(path) for path in sorted((tmp_path / "out" / "records").iterdir())]
    assert sorted(one.manifest.repeat for one in records) == [0, 1]
    # The second run was made once more with nobody watching: it would have said that the program's output differs.
    assert [one.manifest.problems for one in records] == [[], []]
    first = records[0]
    assert first.manifest.scalars["control missed"].value == 0
    taken = {one.info.name: np.concatenate([*(one.ordered() or ())]) for one in first.series}
    assert (len(taken["late"]), len(taken["control start"])) == (100, 99)  # it ends within its last job
    further = taken["late"][:99] - taken["control start"]  # the way back to user space, and the clock's reading
    assert further.max() - further.min() <= 100
    path = next((tmp_path / "out" / "records").glob("*-0"))
    said = rtqual("explain", path).stdout
    assert "control response" in said
    assert "the thread itself" in said


_LOOKS = """
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>

int main(void)
{
	struct epoll_event event;
	int queue = epoll_create1(0);

	for (int i = 0; i < 40; i++) {
		struct timeval none = { 0 };

		epoll_wait(queue, &event, 1, 0);
		select(0, NULL, NULL, NULL, &none);
		poll(NULL, 0, 0);
		epoll_wait(queue, &event, 1, 10);
	}
	puts("40 times");
	return queue < 0;
}
"""


@pytest.mark.guest
def test_a_call_that_waits_for_no_time_is_no_point_to_wait_at(
    tmp_path: Path, rtqual: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an executor's loop: it looks, and then it waits."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "looks.c").write_text(_LOOKS)
    subprocess.run(["gcc", "-O2", "-static", "-o", tmp_path / "looks", tmp_path / "looks.c"], check=True)
    text = (_EXAMPLE / "loop250.toml").read_text()
    head = text[: text.index('[[candidate]]\nname = "debian"\n')]
    program = '[[program]]\nname = "looks"\nbinary = "looks"\n'
    plan = '[[scale.demo.plan]]\ninstruments = ["cyclictest"]\nruns = 1\n'
    (tmp_path / "looks.toml").write_text(head + program + plan)
    done = rtqual("program", "tasks", tmp_path / "looks.toml", "--run-programs")
    assert "of 39 jobs" in done.stdout
