# SPDX-License-Identifier: MIT
"""Logs of a program's threads as target/observers/jobs.c writes them, made up."""

PERIOD_NS = 1_000_000


def job_log(responses_ns: dict[int, int], *, jobs: int = 10, gone: tuple[int, ...] = ()) -> str:
    """A thread `tick` that a signal's timer releases each ms, and `act`, which it wakes at once."""
    lines = [
        "1 n 0 7 7 1 2 tick",
        "1 n 0 8 7 9 1 act",
        "2 s 0 7 128 0 0",
        "3 o 0 7 1 0 0",
        "4 s 0 8 202 64 0",
        "5 o 0 8 1 0 0",
    ]
    for number in range(1, jobs + 1):
        if number in gone:
            continue
        due = number * PERIOD_NS
        end = due + responses_ns.get(number, 50_000)
        lines += [
            f"{due + 100} t 0 0 {due} 77 0", f"{due + 200} w 0 7 0 0 0", f"{due + 300} i 0 7 0 0 0",
            f"{due + 400} w 0 8 7 0 0", f"{end} s 0 7 128 0 0", f"{end + 10} o 0 7 1 8 0", f"{end + 20} i 0 8 0 0 0",
            f"{end + 5_020} s 0 8 202 64 0", f"{end + 5_030} o 0 8 1 0 0",
        ]  # fmt: skip
    return "\n".join([*lines, "end", ""])
