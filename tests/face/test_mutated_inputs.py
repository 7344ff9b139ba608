# SPDX-License-Identifier: MIT
"""Mutated inputs of everything that rtqual reads of others: taken, or refused in one line.

Importers have a driver of their own, which also counts every line (tests/parts/importers/fuzzing.py).
"""

import random
import time
from collections import Counter
from pathlib import Path

import pytest

from rtqual.base.scratch import scratch
from support.mutated_parsers import PARSERS

LONGEST_S = 20.0  # of CPU, for one input


def fuzz(seed: int, count: int, folder: Path) -> str:
    """`count` inputs over all parsers by their shares. Raises AssertionError with parser, seed and number, by which
    the input is made again."""
    rows = ["| parser | inputs | taken | refused | inputs a second of CPU |", "|---|---|---|---|---|"]
    for name, (made, share) in PARSERS.items():
        inputs, outcomes, slowest_s = max(2, count * share // 1000), Counter[bool](), 0.0
        (place := folder / name.replace(" ", "-").replace(",", "")).mkdir(parents=True)
        one, begun = made(place), time.process_time()
        for number in range(inputs):
            started = time.process_time()
            try:
                outcomes[one(random.Random(f"{seed} {name} {number}"))] += 1  # noqa: S311 - not for secrets
            except Exception as error:
                raise AssertionError(f"{name}, seed {seed}, input {number}: {type(error).__name__}: {error}") from error
            slowest_s = max(slowest_s, time.process_time() - started)
        assert slowest_s < LONGEST_S, f"{name}: an input took {slowest_s:.1f} s"
        assert outcomes[False], f"{name} refuses nothing"
        rate = inputs / max(time.process_time() - begun, 1e-6)
        rows.append(f"| {name} | {inputs:,} | {outcomes[True]:,} | {outcomes[False]:,} | {rate:,.0f} |")
        print(rows[-1], flush=True)
    return "\n".join(rows)


@pytest.mark.guest
def test_mutated_inputs_are_taken_or_refused(tmp_path: Path) -> None:
    fuzz(1, 2000, tmp_path)


@pytest.mark.manual
def test_half_a_million_mutated_inputs() -> None:
    """Its last figures stand in docs/verification/attacks.md, with those of the importers."""
    with scratch(Path("/dev/shm")) as folder:  # noqa: S108 - files that change half a million times
        print(f"\n{fuzz(3, 500_000, folder)}")
