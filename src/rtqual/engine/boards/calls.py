# SPDX-License-Identifier: MIT
"""System calls that may wait, by Debian's names of the processors: number -> name (arch/*/entry/syscalls, unistd.h)."""

from rtqual.base.architecture import AMD64, ARM64, ARMHF

SLEEP = "clock_nanosleep"
FUTEX = "futex"
_NAMES = (
    "read", "ioctl", "poll", "select", "pause", "nanosleep", "accept", "recvfrom", "recvmsg", "wait4", "semop",
    "msgrcv", "flock", "rt_sigtimedwait", "rt_sigsuspend", "futex", "io_getevents", "semtimedop", "clock_nanosleep",
    "epoll_wait", "mq_timedsend", "mq_timedreceive", "waitid", "pselect6", "ppoll", "epoll_pwait", "accept4",
    "recvmmsg", "io_uring_enter", "epoll_pwait2", "futex_waitv", "sched_yield",
)  # fmt: skip
_NUMBERS = {  # in that order; -1: the processor has no such call
    AMD64.name: (
        0, 16, 7, 23, 34, 35, 43, 45, 47, 61, 65, 70, 73, 128, 130, 202, 208, 220, 230, 232, 242, 243, 247, 270, 271,
        281, 288, 299, 426, 441, 449, 24,
    ),
    ARM64.name: (
        63, 29, -1, -1, -1, 101, 202, 207, 212, 260, 193, 188, 32, 137, 133, 98, 4, 192, 115, -1, 182, 183, 95, 72, 73,
        22, 242, 243, 426, 441, 449, 124,
    ),
    ARMHF.name: (
        3, 54, 168, 142, 29, 162, 285, 292, 297, 114, 298, 301, 143, 177, 179, 240, 245, 312, 265, 252, 276, 277, 280,
        335, 336, 346, 366, 365, 426, 441, 449, 158,
    ),
}  # fmt: skip
# 32-bit ARM's calls with a time of 64 bits.
_MORE = {
    ARMHF.name: {
        407: SLEEP, 413: "pselect6", 414: "ppoll", 417: "recvmmsg", 418: "mq_timedsend", 419: "mq_timedreceive",
        420: "semtimedop", 421: "rt_sigtimedwait", 422: FUTEX, 441: "epoll_pwait2",
    }
}  # fmt: skip
WAITING: dict[str, dict[int, str]] = {
    name: {number: call for number, call in zip(numbers, _NAMES, strict=True) if number >= 0} | _MORE.get(name, {})
    for name, numbers in _NUMBERS.items()
}
# How long these wait at most: which argument says so, and whether it is the address of a time. One that waits for no
# time only looks.
AT_MOST: dict[str, tuple[int, bool]] = {
    "poll": (2, False), "epoll_wait": (3, False), "epoll_pwait": (3, False), "ppoll": (2, True), "select": (4, True),
    "pselect6": (4, True), "epoll_pwait2": (3, True), "rt_sigtimedwait": (2, True),
}  # fmt: skip
# Their first argument says nothing of where the thread waits: an address of the moment.
NO_PLACE = frozenset(
    {"poll", "ppoll", "select", "pselect6", "nanosleep", "pause", "rt_sigtimedwait", "rt_sigsuspend", "sched_yield"}
)
