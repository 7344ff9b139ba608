# SPDX-License-Identifier: MIT
"""What a line of a text is that no reader has figures in: one classifier for all of them.

People paste results with what stood around them: prompts, `uname -a`, lscpu, a load's output, warnings, remarks, and
logs put a time before every line. Each such line is of one kind, and what a kind says of the measurement is kept.
"""

import re
from dataclasses import dataclass
from enum import StrEnum


class LineKind(StrEnum):
    """The words with which a record counts such lines."""

    BLANK = "blank"
    KERNEL = "a kernel message"
    TIME = "a time"
    LOAD = "a load's output"
    REPEATED = "a repetition"
    COMMAND = "a command"
    FACT = "kernel and machine"
    WARNING = "a warning"
    FAILURE = "a failure"
    PROSE = "text without figures"
    UNKNOWN = "not understood"


@dataclass(frozen=True)
class RecordLine:
    """`facts`: of kernel and machine, by name; "kernel" and "kernel_cmdline" are a record's own.
    `said`: what it means for the figures, a sentence; `doubt`: a reason not to judge them."""

    kind: LineKind
    facts: tuple[tuple[str, str], ...] = ()
    command: str = ""
    said: str = ""
    doubt: bool = False


LONGEST = 4096  # characters of a line that is no tool's

_TIME = re.compile(
    r"\s*(real|user|sys)\s+\d+m\d+[.,]\d+s\s*|\s*([01]\d|2[0-3]):[0-5]\d:[0-5]\d\s*|"
    r"\s*\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?\S*)?( \S{1,6})?\s*|"
    r"\s*(Mon|Tue|Wed|Thu|Fri|Sat|Sun),? [A-Za-z0-9: +]{10,30}|"
    r"\s*[\d:]{5,8} up .{1,60}load average: [\d., ]+",
    re.ASCII,
)
_KERNEL = re.compile(r"\s*(<\d{1,3}>)?\[ *\d{1,10}\.\d{6}\] .*", re.ASCII)
_LOAD = re.compile(
    r"\s*(Running in (process|threaded) mode with \d+ groups using \d+ file descriptors each \(== \d+ tasks\)|"
    r"Each sender will pass \d+ messages of \d+ bytes|Time: \d+\.\d{3}|"
    r"stress-ng: (info|metrc|metrics|debug): .*|stress: (info|dbug): .*)\s*",
    re.ASCII,
)
_REPEATED = re.compile(r"\s*\(?\s*(last )?message repeated \d{1,9} times\s*\)?\s*", re.IGNORECASE | re.ASCII)
# Prompts: root@host:~#, [root@host ~]#, pi@raspberrypi ~ $, ~ #, bash-5.1$, uart:~$, =>, $, with an environment's name.
_PROMPT = (
    r"\s*(?:\([\w.-]{1,40}\)\s*)?(?:\[[\w.-]+[@:\s][^\]\n]{0,80}\]\s?[#$%>]|[\w.-]+@[^\s#$%>]{1,80}(?: "
    r"[^\s#$%>]{1,80})?\s?"
    r"[#$%>]|[\w.-]{1,40}:[~/]\S{0,80}?\s?[#$%>]|(?:ba|z|da|k|a)?sh-?[\d.]*[#$%]|[~/][\w./~-]{0,80}\s?[#$%>]|"
    r"[\w.-]{1,32}[$>]|[$%>»\u276f\u279c]|\++|[-=]>)"
)
_COMMAND = re.compile(rf"{_PROMPT}\s+(?P<command>[A-Za-z./_~({{][^\n]*)")
_EMPTY_PROMPT = re.compile(rf"{_PROMPT}\s*")
# Programs whose name begins a command where no prompt does.
_PROGRAMS = (
    r"(?:sudo|time|taskset|chrt|nohup|nice|stdbuf|numactl|timeout|\./)?[\w./-]*(?:cyclictest|cyclicdeadline|hackbench|"
    r"rtla|sysbench|stress-ng|stress|hwlatdetect|oslat|sysjitter|jitterdebugger|pmqtest|ptsematest|svsematest|"
    r"sigwaittest|latency|latmus|klatency|timerlat|trace-cmd|perf|iperf3?|taskset|chrt|cgexec|uname|rt-app|rteval|sudo)"
)
_BARE = re.compile(
    rf"\s*[`'\"]?(?:(?:#|//|command(?: line)?|cmd|cmdline|running|run|executing|exec)\s*:?\s+)?"
    rf"[`'\"]?(?P<command>{_PROGRAMS}(?:\s+(?:-{{1,2}}[A-Za-z]|[A-Za-z_./~]|\d+$|0x|\d[\d,-]*\s)[^\n]*)?)[`'\"]?\s*",
    re.IGNORECASE | re.ASCII,
)
_OPTION = re.compile(r"\s-{1,2}[A-Za-z]|^\s*uname\b|\b(hist|top|run|record)\b")
_MACHINE = r"(?:x86_64|amd64|i[3-6]86|aarch64|arm64|armv\w+|riscv\d*|ppc\w*|mips\w*|s390x?|loongarch\w*)"
_UNAME = re.compile(
    rf"\s*(?:uname(?: -\w+)?:?\s+)?Linux\s+(?:[\w.-]+\s+)?(?P<release>\d+\.\d+\S*)\s+(?P<version>#\S+.*?)"
    rf"(?:\s+(?P<machine>{_MACHINE})(?:\s.*)?)?\s*",
    re.ASCII,
)
_VERSION = re.compile(r"\s*Linux version (?P<release>\d+\.\d+\S*)(?: \(.*\))?(?:,?\s*(?P<version>#.*?))?\s*", re.ASCII)
_PROGRAM = re.compile(
    r"\s*(?P<program>cyclictest|cyclicdeadline|signaltest|pmqtest|ptsematest|svsematest|sigwaittest|hwlatdetect|hackbench|"
    r"stress-ng|rteval|rtla),? (?:V|version) ?(?P<version>\d+\.\d[\w.-]{0,20})(?: \(.{1,80}\))?\s*",
    re.ASCII,
)
_RELEASE = re.compile(r"\s*(?P<release>\d{1,2}\.\d{1,3}(\.\d{1,3})?(-[\w.+~-]{1,60})?\+?)\s*", re.ASCII)
_RELEASE_ALONE = re.compile(r"\s*(?P<release>[2-9]\.\d{1,3}\.\d{1,3}(?:-[\w.+~-]{1,60})?\+?)\s*", re.ASCII)
_CMDLINE = re.compile(r"\s*(BOOT_IMAGE=\S+ .*|(?:\S+ )*root=\S+( \S+)*)\s*", re.ASCII)
_FACT = re.compile(
    r"[\s*#|-]*(?P<name>kernel(?: (?:version|release|command ?line|cmdline))?|linux(?: kernel)?|os|operating "
    r"system|distro|"
    r"distribution|machine|hardware|board|target|model(?: name)?|cpu|cpu model|processors?|architecture|arch|"
    r"cpu\(s\)|cpus|"
    r"cores|on-line cpu\(s\) list|memory|ram|governor|scaling governor|cpu governor|frequency|cpu (?:max |min )?mhz|"
    r"(?:kernel )?(?:command ?line|cmdline)|boot parameters|bootargs|platform|soc|bogomips|vendor id|vendor_id|"
    r"cpu family|"
    r"stepping|flags|features|caches?.{0,20}|l[123][di]? cache|thread\(s\) per core|core\(s\) per (?:socket|"
    r"cluster)|socket\(s\)|"
    r"numa node.{0,20}|byte order|cpu op-mode\(s\)|address sizes|cpu implementer|cpu variant|cpu part|cpu "
    r"revision|cpu cores|"
    r"siblings|microcode|vulnerability .{1,30}|virtualization.{0,10}|revision|compiler|gcc version|PRETTY_NAME|"
    r"BIOS.{0,20})"
    r"\**\s*[:=]\**\s*(?P<value>\S.*?)\s*",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\d+\.\d", re.ASCII)
_KERNELS = ("kernel", "kernel version", "kernel release", "linux", "linux kernel")
_CMDLINES = ("kernel command line", "kernel commandline", "kernel cmdline", "command line", "commandline", "cmdline",
             "boot parameters", "bootargs")  # fmt: skip
# What a tool says of its own run, and what that means for the figures.
_DMA_LATENCY = re.compile(
    r"(?=.*(?:cpu_dma_latency|PM QoS))(?:.*\b(?:warn\w*|error\w*|fail\w*|denied|permitted|no such|busy|unable|"
    r"could not|cannot|can't|not)\b.*|\s*open \S*cpu_dma_latency: .*)",
    re.IGNORECASE,
)
_SET = re.compile(r".*cpu_dma_latency set to \d+\s*us.*", re.IGNORECASE)
_DEFAULTING = re.compile(r"\s*defaulting real-?time priority to (\d{1,3})\s*", re.IGNORECASE | re.ASCII)
_WARNING = re.compile(r"\s*(#\s*)?WARN(ING)?\b:?\s(?!.*high resolution timers)", re.IGNORECASE)
# What programs and shells print when something went wrong.
_TROUBLE = re.compile(
    r"\b(fatal|error|errno|failed|failure|killed|aborted|segmentation fault|bus error|broken pipe|out of memory|"
    r"cannot|could not|unable to|not permitted|permission denied|terminated|core dumped|"
    r"high resolution timers not available)\b",
    re.IGNORECASE,
)


def classify(text: str, after: str = "") -> RecordLine:  # noqa: PLR0911 - a way out a kind
    """What a line is; `after`: the command above it whose output it may be."""
    if not text.strip():
        return RecordLine(LineKind.BLANK)
    if len(text) > LONGEST:
        return RecordLine(LineKind.UNKNOWN)
    for kind, pattern in (
        (LineKind.KERNEL, _KERNEL),
        (LineKind.TIME, _TIME),
        (LineKind.LOAD, _LOAD),
        (LineKind.REPEATED, _REPEATED),
    ):
        if pattern.fullmatch(text):
            return RecordLine(kind)
    if match := _DEFAULTING.fullmatch(text):
        said = f"its thread had priority {match[1]}, the tool's default: the command's -p came without a number"
        return RecordLine(LineKind.WARNING, said=said, doubt=True)
    if "dma_latency" in text and not _SET.fullmatch(text) and _DMA_LATENCY.fullmatch(text):
        return RecordLine(
            LineKind.WARNING,
            said="idle states were not held off (/dev/cpu_dma_latency was not to be had): the figures contain the time "
            "to leave them",
            doubt=True,
        )
    if _WARNING.match(text):
        return RecordLine(LineKind.WARNING)
    if facts := _facts(text, after):
        return RecordLine(LineKind.FACT, facts=facts)
    if command := command_in(text):
        return RecordLine(LineKind.COMMAND, command=command)
    if _EMPTY_PROMPT.fullmatch(text):
        return RecordLine(LineKind.PROSE)
    if _TROUBLE.search(text):
        return RecordLine(LineKind.FAILURE)
    return RecordLine(LineKind.UNKNOWN if any(character.isnumeric() for character in text) else LineKind.PROSE)


def command_in(text: str) -> str:
    """The command that a line shows, with a prompt or by a program's name; empty where it shows none."""
    if match := _COMMAND.fullmatch(text):
        return match["command"].strip()
    match = _BARE.fullmatch(text)
    return match["command"].strip() if match and _OPTION.search(match["command"]) else ""


def _facts(text: str, after: str) -> tuple[tuple[str, str], ...]:  # noqa: PLR0911 - a way out a kind
    if match := _UNAME.fullmatch(text) or _VERSION.fullmatch(text):
        found = match.groupdict()
        kernel = " ".join(part for part in (found["release"], found["version"]) if part)
        return (("kernel", kernel), *((("machine", found["machine"]),) if found.get("machine") else ()))
    if match := _PROGRAM.fullmatch(text):
        return ((match["program"], match["version"]),)
    uname = after.split()[:2] == ["uname", "-r"]
    if match := _RELEASE_ALONE.fullmatch(text) or (_RELEASE.fullmatch(text) if uname else None):
        return (("kernel", match["release"]),)
    if _CMDLINE.fullmatch(text) and text.count("=") > 1:
        return (("kernel_cmdline", " ".join(text.split())),)
    if match := _FACT.fullmatch(text):
        name, value = match["name"].lower(), match["value"].strip("\"'`")
        name = "kernel" if name in _KERNELS else "kernel_cmdline" if name in _CMDLINES else name
        if name == "kernel" and not _NUMBERED.search(value):
            return ()  # a heading, or the prompt of a host of that name
        return ((name, value[:500]),)
    return ()


# --- what stands before every line of a log ---------------------------------------------------------------------------

_STAMPS = tuple(
    re.compile(pattern)
    for pattern in (
        rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?[ \t]",
        rb"\[\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?[A-Z]{1,5}| ?[+-]\d\d:?\d\d)?\][ \t]?",
        rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d{1,9})?[ \t]",
        rb"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,64} [\w./()-]{1,64}(?:\[\d{1,8}\])?: ",
        rb"(?:<\d{1,3}>)?\[ {0,9}\d{1,9}\.\d{3,9}\] ",
        rb"(?:kern|user|mail|daemon|auth|syslog|local\d) {0,3}: ?[a-z]{3,7} {0,3}: ",  # dmesg -x
        rb"\[\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\][ \t]?",
        rb"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?[ \t]",
        rb"(?:INFO|DEBUG|NOTICE|info|debug)(?::[\w.-]{0,40})?(?::| -) ?",
        rb"\[[A-Za-z][\w.:-]{0,30}(?: \d{1,4})?\][ \t]?",  # a level, a machine
        rb"[A-Za-z][\w.-]{0,40} {1,30}\| ",
        rb"\|[ \t](?!.*\|)",
        rb">{1,3}(?:[ \t]|(?=\\#)|(?=\r?$))",
        rb"\\(?=#)",  # as Markdown keeps it
        rb"[*-] ",
    )
)
_FEWEST, _SHARE, _LAYERS = 2, 0.9, 5


def stamps(head: bytes) -> re.Pattern[bytes] | None:
    """What stands before the lines of a log, by the beginning of a file; None for a file that is none."""
    lines = [line for line in head.splitlines()[:400] if line.strip()]
    layers: list[re.Pattern[bytes]] = []
    while len(layers) < _LAYERS and len(lines) >= _FEWEST:
        stamp = next(
            (stamp for stamp in _STAMPS if sum(map(bool, map(stamp.match, lines))) >= _SHARE * len(lines)), None
        )
        if stamp is None:
            break
        layers.append(stamp)
        lines = [line for line in (stamp.sub(b"", line, count=1) for line in lines) if line.strip()]
    if not layers:
        return None
    return re.compile(b"^" + b"".join(b"(?:%s)?" % layer.pattern for layer in layers), re.MULTILINE)
