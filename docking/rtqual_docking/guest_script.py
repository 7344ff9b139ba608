# SPDX-License-Identifier: MIT
"""The shell of a guest that streams from the docking camera: what the camera's instruments run there, and its parts.

The camera (`ds325-emulator`) and the threads that stand for the USB host's interrupts run beside what is measured, at
real-time priorities: a camera waits for no scheduler.
"""

STREAM, EMULATOR, GROUND, CHASER = "ds325-stream", "ds325-emulator", "rtqual-ground", "rtqual-chaser"
RING_MODULE, DRIVER_MODULE, DMABUF_MODULE = "ds325-ring.ko", "ds325-usb.ko", "ds325-dmabuf.ko"
MODULES_AT = "/lib/rtqual"  # in the guest
UVC_NODE, RING_NODE = "/dev/video0", "/dev/ds325-0"
WORKERS_FIFO = 60  # of uvcvideo's workers, as one should fly it (docs/docking/lidar.md)
INTERRUPTS_FIFO = 50  # as PREEMPT_RT has it
# USB 2.0 carries 40 MB/s of frames: at once, one would hold up the CPU that stands for the bus.
ON_BUS = f"--stamp --bus 40 --interrupts {INTERRUPTS_FIFO}"
RECORDED = 8  # frames, spread over the approach, that the camera sends over and over
_STEP_S = 2.5  # of scene between two of them
# The second recording is for poses, which need a realistically moving target: 7 cm/s from 0.6 m on. It is sent forwards
# and backwards, so that nothing jumps at either end; to the filter the change of direction is an acceleration.
_FLOWN = 30
_WAY = ("0 0.02 -0.015 0.6 4 2 -3", "0.5 0.018 -0.013 0.565 3.8 1.9 -2.9")
# A kernel with uvcvideo built in gives it the camera first: the camera is handed on to its own driver, if loaded.
_UVC_DRIVER, _OWN_DRIVER = "/sys/bus/usb/drivers/uvcvideo", "/sys/bus/usb/drivers/ds325"
# The camera above all that is measured but the program that reads it; the USB host where PREEMPT_RT has interrupts.
COMMON = f"""\
fail() {{ echo "$*" >&2; exit 1; }}
awaited() {{ i=0; until "$@"; do i=$((i + 1)); [ $i -lt 300 ] || return 1; usleep 10000; done; }}
as_interrupts() {{
    for thread in vhci_rx vhci_tx; do
        awaited pidof $thread > /dev/null && chrt -f -p {INTERRUPTS_FIFO} "$(pidof $thread)" || return
    done
}}
plug() {{
    {EMULATOR} --attach --daemon --priority 70 --report report "$@" || fail 'the camera did not start'
    as_interrupts || fail "no thread $thread"
    [ ! -e {_OWN_DRIVER} ] || awaited taken || fail 'the driver did not take the camera'
}}
taken() {{
    set -- {_UVC_DRIVER}/*:1.0
    [ ! -e "$1" ] || {{ echo "${{1##*/}}" > {_UVC_DRIVER}/unbind; echo "${{1##*/}}" > {_OWN_DRIVER}/bind; }}
    set -- {_OWN_DRIVER}/*:1.0
    [ -e "$1" ]
}}
gone() {{ ! {{ pidof {EMULATOR} || ls /dev/video* || ls {_OWN_DRIVER}/*:1.0; }} > /dev/null 2>&1; }}
unplug() {{ kill "$(pidof {EMULATOR})"; awaited gone || fail 'the camera did not go'; }}
"""
# After a fault that unplugs it, too, on such a kernel; others have nothing to hand on.
HANDED = f"[ ! -e {_UVC_DRIVER} ] || {{ while :; do taken; usleep 20000; done 2> /dev/null & }}\n"
CPU = "cpu() { rtqual-agent times; }\n"
# uvcvideo copies frames in a workqueue, whose workers have normal priority: any load comes between. No kernel has a
# setting for that, so a few frames show which pool of workers it is, and all that are in it become real-time threads.
RAISED = """\
{stream} > /dev/null || fail 'no frames to find the workers by'
workers() {{ for of in /proc/[0-9]*/comm; do read -r name < $of && echo "${{of//[!0-9]/}} $name"; done 2> /dev/null; }}
pool=$(workers | sed -n 's/^[0-9]* \\(kworker[^:]*:\\).*[-+]uvcvideo$/\\1/p' | head -n 1)
[ -n "$pool" ] || fail "no worker of uvcvideo's: $(workers)"
workers | grep -F " $pool" | while read -r pid name; do chrt -f -p {priority} $pid || exit; done || fail 'no priority'
"""
# As the flight program has its camera where frames come by uvcvideo.
FLOWN_RAISED = RAISED.format(
    stream=f"{STREAM} --device={UVC_NODE} --frames=10 --priority=80 --method=mmap --decode=simd --rate=60",
    priority=WORKERS_FIFO,
)


def rendered(seed: int) -> str:
    """Writes the recording `frames`."""
    return f"{EMULATOR} --write frames --frames {RECORDED} --step {_STEP_S} --seed {seed} || fail 'no frames'"


def flown(seed: int) -> str:
    """Writes the recording `flown`: there, and back frame by frame."""
    way = " ".join(f"--at '{point}'" for point in _WAY)
    return (
        f"{EMULATOR} --write flown --frames {_FLOWN} --seed {seed} {way} || fail 'no approach'\n"
        f"at={_FLOWN - 2}; while [ $at -gt 0 ]; do dd if=flown bs=307200 skip=$at count=1 2> /dev/null; "
        "at=$((at - 1)); done > back && cat back >> flown && rm back"
    )


def parts(*names: str) -> list[str]:
    """Prints each file under its name, as output.sections() reads them."""
    return [f"echo == {name}; cat {name}" for name in names]


# A control loop's task beside the stream: it begins before, since its own start would hold up the camera's driver, and
# takes samples until the stream ends. `kill` fails where it has ended before.
BESIDE = """\
{task} > /dev/null 2>&1 & task=$!
started() {{ chrt -a -p $task > priorities && grep -q 'priority: {priority}$' priorities; }}
awaited started || fail 'cyclictest did not start'
{stream} --output=beside || {{ cat beside; exit 1; }}
kill $task; wait $task || fail 'cyclictest ended before the stream, or failed'
"""
