# SPDX-License-Identifier: MIT
"""Wi-Fi traffic between two simulated radios (mac80211_hwsim).

One radio moves into a second network namespace: with both in one, the kernel would short-cut their traffic
through the loopback device and the Wi-Fi stack would see none of it. They join without an access point (IBSS),
which needs no other program than iw.
"""

_NEAR, FAR = "10.0.0.1", "10.0.0.2"
_CHANNEL_MHZ = 2412
_CELL = "02:00:00:00:ff:ff"  # with cell and channel fixed, the radios join at once instead of scanning for 7 s

# Sets the link up, starts the receiver and proves both by a ping: the load disturbs from its first moment on.
SETUP = f"""\
set -e
head -c 1 /dev/urandom > /dev/null  # without a source of entropy the kernel spins for a second at the first read
set -- $(ls /sys/class/ieee80211)
near=$(ls "/sys/class/ieee80211/$1/device/net")
far=$(ls "/sys/class/ieee80211/$2/device/net")

unshare -n sleep 1000000 > /dev/null 2>&1 &
holder=$!
until [ "$(readlink /proc/$holder/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do usleep 1000; done
iw phy "$2" set netns "$holder"

join() {{  # join INTERFACE ADDRESS [PREFIX...]: the prefix goes before each command
    interface=$1 address=$2
    shift 2
    "$@" ip link set lo up
    "$@" iw dev "$interface" set type ibss
    "$@" ip link set "$interface" up
    "$@" ip addr add "$address/24" dev "$interface"
    "$@" iw dev "$interface" ibss join rtqual {_CHANNEL_MHZ} fixed-freq {_CELL}
}}
join "$near" {_NEAR}
join "$far" {FAR} nsenter -t "$holder" -n
nsenter -t "$holder" -n iperf3 --server --daemon

tries=0
until ping -c 1 -W 1 {FAR}; do
    tries=$((tries + 1))
    [ "$tries" -lt 20 ] || {{ echo 'the radios do not hear each other' >&2; exit 1; }}
done
"""

# 20 Mbit/s: about what a camera's video takes.
CLIENT = ("iperf3", "--client", FAR, "--udp", "--bitrate", "20M", "--time", "86400", "--interval", "0")
