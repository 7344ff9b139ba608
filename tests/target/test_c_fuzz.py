# SPDX-License-Identifier: MIT
"""Whatever they are given, our C programs' parsers read or refuse it, under the address and undefined-behaviour
sanitizers. And the fuzzers that show this reach what they are for: the share of lines that ran is judged too."""

import re
from pathlib import Path

import pytest

from support.c_fuzzers import BY_NAME, FUZZERS, Fuzzer, lines, main, run

# Inputs of the short run: some seconds of CPU in all, with the coverage of the long one.
SHORT = {"options-pose": 300, "payload": 20, "pose": 1500, "device": 1000, "decode": 1500, "files": 1000}


@pytest.mark.guest  # builds 200 files with sanitizers the first time: half a minute of CPU
@pytest.mark.parametrize("fuzzer", FUZZERS, ids=BY_NAME)
def test_no_input_breaks_a_parser_and_the_fuzzer_reaches_it(fuzzer: Fuzzer, tmp_path: Path) -> None:
    said = run(fuzzer, tmp_path, seed=7, count=SHORT.get(fuzzer.name, 5000))
    # The probe reads no files; how far the pose's frames get is the next test's.
    reached = {"pose": "", "options-probe": said.replace(", 0 files read", "")}.get(fuzzer.name, said)
    assert not re.search(r"\b0 \w", reached), f"nothing came that far: {said}"
    ran = {name: executed / whole for name, (executed, whole) in lines(fuzzer, tmp_path).items()}
    assert {name: share for name, share in ran.items() if share < fuzzer.files[name]} == {}


@pytest.mark.guest
def test_the_pose_fuzzer_stays_on_the_target(tmp_path: Path) -> None:
    """Most frames are tracked, although most are damaged, and a third are sure; the target is lost and found again."""
    said = run(BY_NAME["pose"], tmp_path, seed=8, count=1500)
    counts = re.fullmatch(r"(\d+) not found, (\d+) degenerate, (\d+) ok; (\d+) tracked, (\d+) times found, .*", said)
    assert counts
    missed, degenerate, ok, tracked, found = map(int, counts.groups())
    assert missed + degenerate + ok == 1500
    assert ok > 500
    assert tracked > 900
    assert found >= 3


@pytest.mark.manual  # 5 minutes of CPU; docs/verification/attacks.md has the figures of the last time
def test_a_million_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main() == 0
    total = re.search(r"^([\d,]+) inputs, no fault", capsys.readouterr().out, re.MULTILINE)
    assert total
    assert int(total[1].replace(",", "")) >= 1_000_000
