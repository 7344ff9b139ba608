# SPDX-License-Identifier: MIT
"""The way of poses to another spacecraft: two simulated radios, the second in a network namespace of its own, which
stands for the other one (wifi.py), and `rtqual-peer` at both ends. They share a clock, so an age is exact."""

import re

from rtqual.base.errors import RunFailed
from rtqual.engine.loads import wifi

PROGRAM, FIFO = "rtqual-peer", "poses"
CAME, SENT, POSES_LOG = "peer.log", "sender.log", "poses.log"  # in the job's folder
MODULES = ("mac80211_hwsim",)
AGE = "pose age at the peer"
_PORT = 10030  # rtqual-peer's
_FAR_FIFO, _SENDER_FIFO = 60, 25  # what comes is stamped then; sent as soon as the pose is there, below the link

# The radios are there already where the load has them. Not at a real-time priority: where the kernel first gathers
# entropy it spins until a softirq's thread has run.
RADIOS = f"""\
far() {{
    for one in $(pidof sleep); do
        [ "$(readlink /proc/$one/ns/net)" = "$(readlink /proc/self/ns/net)" ] || {{ echo $one; return; }}
    done
    false
}}
cat > radios <<'END'
{wifi.SETUP}END
far > /dev/null || rtqual-agent run . radios 0 sh radios || fail "no radios: $(cat radios.err)"
mkfifo {FIFO}
"""
LISTEN = f"""\
nsenter -t $(far) -n chrt -f {_FAR_FIFO} {PROGRAM} --listen > {CAME} & peer=$!
awaited grep -q ':{_PORT:04X} ' /proc/$peer/net/udp || fail 'the peer does not listen'
"""
SEND = f"chrt -f {_SENDER_FIFO} {PROGRAM} --poses={FIFO} --to={wifi.FAR} 2> {SENT}"
LOGGED = re.compile(r"(\d{1,9}) (\d{1,15}) \d{1,2}(?: -?\d{1,6}\.\d{3}){3}", re.ASCII)  # a line of the sender's
_CAME = re.compile(r"(\d{1,9}) (\d{1,15})", re.ASCII)
_SENT = re.compile(r"sent (\d{1,9}) unsent (\d{1,9}) unlogged (\d{1,9})", re.ASCII)


def taken(sent: str, came: str) -> tuple[int, list[tuple[int, int]]]:
    """Of what both ends left: how many were sent; of each that came, in that order, its number and its age in ns.
    Raises RunFailed."""
    said = _SENT.fullmatch(sent.strip())
    lines = [_CAME.fullmatch(line) for line in came.splitlines()]
    if said is None or not all(lines) or max(int(said[2]), int(said[3])) > int(said[1]):
        raise RunFailed(f"{PROGRAM}: left no count of poses, last words: {sent[-200:]!r}")
    return int(said[1]), [(int(one[1]), int(one[2])) for one in lines if one]
