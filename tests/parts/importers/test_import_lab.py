# SPDX-License-Identifier: MIT
"""A lab's folder: OSADL's RT Datasets of hundreds of boards, read in one go and asked in one query."""

import json
import random
import time
from pathlib import Path

import pytest

from rtqual.parts.importers.records import Circumstances, Imported, import_files
from rtqual.parts.query.query import query

WORST = """\
SELECT board, kernel, load, max(value) FILTER (NOT beyond) / 1000 AS worst_us, sum(count) FILTER (beyond) AS later
FROM samples GROUP BY ALL ORDER BY later DESC NULLS LAST, worst_us DESC, board"""


def lab(folder: Path, boards: int, *, cores: int = 2, symbols: int = 10) -> None:
    """As many files as boards, in folders by rack. Board N's core 0 has its worst bin at 20 + N mod 300 us; every
    tenth board has three samples above the last bin."""
    for number in range(boards):
        rng = random.Random(number)  # noqa: S311 - not for secrets
        bins = list(range(400))
        latencies = [bins]
        for core in range(cores):
            counts = [0] * 400
            for value in range(2, 16):
                counts[value] = rng.randrange(1, 10_000_000)
            counts[20 + number % 300 if core == 0 else 17] = 1
            counts[3] += 100_000_000 - sum(counts) - (3 if core == 0 and number % 10 == 0 else 0)
            latencies.append(counts)
        dataset = {
            "format": {"name": "RT Dataset", "version": "1.0"},
            "timestamps": {"origin": "2025-03-01T12:00:00+01:00", "dataset": "2025-03-01T12:05:00+01:00"},
            "system": {"hostname": f"rack{number // 8}slot{number % 8}.example.org"},
            "processor": {"family": "x86", "vendor": "Intel", "type": f"type {number % 7}"},
            "kernel": {
                "version": f"6.{number % 12}.{number % 90}-rt{number % 40}",
                "config": ["CONFIG_PREEMPT_RT=y", *(f"CONFIG_SYMBOL_{one}=y" for one in range(symbols))],
                "cmdline": "root=/dev/sda1 isolcpus=1",
            },
            "condition": {
                "load": "idle",
                "cyclictest": "cyclictest -l100000000 -m -Sp99 -i200 -h400 -q",
                "cycles": 100_000_000,
                "interval": 200,
            },
            "latency": {"granularity": "microseconds", "cores": latencies},
        }
        place = folder / f"rack{number // 8}" / f"slot{number % 8}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(dataset))


def read(folder: Path, out: Path) -> list[Imported]:
    return import_files([folder], out, Circumstances())


def test_a_lab_is_read_and_asked(tmp_path: Path) -> None:
    lab(tmp_path / "lab", 12)
    found = read(tmp_path / "lab", tmp_path / "out")
    assert [one.record.inputs.board for one in found][:2] == ["rack0slot0.example.org", "rack0slot1.example.org"]
    assert all("CONFIG_SYMBOL_9=y" in one.record.manifest.provenance.facts["configuration"] for one in found)
    rows = query(WORST, [tmp_path / "out"]).rows
    assert len(rows) == 12
    assert rows[0] == ("rack1slot2.example.org", "6.10.10-rt10", "idle", 30, 3)  # number 10: the later of those above
    assert rows[2][:1] + rows[2][3:] == ("rack1slot3.example.org", 31, None)


@pytest.mark.full
def test_a_lab_of_five_hundred_boards_is_read_in_under_a_minute(tmp_path: Path) -> None:
    """Files as large as OSADL's: 16 cores, 6,400 lines of configuration. In processor time: a busy machine is no
    slower by that."""
    lab(tmp_path / "lab", 500, cores=16, symbols=6_400)
    begun_s = time.process_time()
    found = read(tmp_path / "lab", tmp_path / "out")
    read_s = time.process_time() - begun_s
    assert len(found) == 500 and sum(series.total for series in found[0].record.series) == 1_600_000_000
    begun_s = time.process_time()
    rows = query(WORST, [tmp_path / "out"]).rows
    asked_s = time.process_time() - begun_s
    assert len(rows) == 500
    print(f"\n500 files read in {read_s:.1f} s, asked in {asked_s:.1f} s of processor time")
    assert read_s < 60
