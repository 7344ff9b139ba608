# SPDX-License-Identifier: MIT
"""The samples that the others read: FOLDER, how many, how many as text."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rtqual.protocols.record.parquet import Spool, save
from rtqual.protocols.record.schema import CHUNK, Int64Array

SEED = 1


def samples(number: int) -> Iterator[Int64Array]:
    """Wake-up latencies in ns: a lognormal body about 9 us, and one in a thousand in a tail up to 20 ms."""
    random = np.random.default_rng(SEED)
    for start in range(0, number, CHUNK):
        size = min(CHUNK, number - start)
        body = 3_000 + random.lognormal(np.log(6_000), 0.4, size)
        tail = np.minimum(20_000 / (1 - random.random(size)) ** 0.6, 20e6)
        yield np.where(random.random(size) < 0.001, tail, body).astype(np.int64)


def make(folder: Path, number: int, in_text: int) -> None:
    """The same samples as Parquet, as an array, and the first of them as `cyclictest -v -N` prints them."""
    spool, done = Spool(), 0
    array = np.lib.format.open_memmap(folder / "samples.npy", "w+", np.int64, (number,))
    with (folder / "samples.txt").open("w") as text:
        for chunk in samples(number):
            spool.add(chunk)
            array[done : done + len(chunk)] = chunk
            printed = chunk[: max(0, in_text - done)].tolist()
            text.writelines(f"{0:8d}:{cycle:8d}:{value:8d}\n" for cycle, value in enumerate(printed, done))
            done += len(chunk)
    array.flush()
    save(spool.order(), folder / "samples.parquet")


make(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
