# SPDX-License-Identifier: MIT
"""What rtqual runs and loads: Debian's packages, QEMU, the programs, Python's libraries."""

import importlib
import io
import os
import platform
import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import redirect_stdout
from importlib.util import find_spec

from rtqual.base.apt import KERNELS, names
from rtqual.base.architecture import ARM64, ARMHF, Architecture
from rtqual.base.cache import cache_dir
from rtqual.base.errors import RunFailed, first_line
from rtqual.base.libraries import install_command
from rtqual.engine.boards.machine import plugin
from rtqual.engine.boards.trial import try_guest
from rtqual.engine.initramfs.contents import guest_file
from rtqual.engine.mission import Mission
from rtqual.protocols.board.registry import BoardProgram, BoardRow, all_boards
from rtqual.stages.doctor.looked_at import DoctorCheck, as_root, install, said

_QEMU_PACKAGE = "qemu-system-x86"
_QEMU_SERIES = "7.2."  # Debian 12's, which the figures in the documents were made with
_MACHINE = ("-machine", "pc-i440fx-7.2", "-accel", "tcg", "-icount", "shift=1,sleep=off", "-smp", "2")
_TCG_TIMEOUT_S = 20.0
_SYSTEM_PATH = "/usr/sbin:/sbin:/usr/bin:/bin"  # where rtqual looks for programs that are not in every user's PATH
_KERNELS = ("linux-image-amd64", "linux-image-rt-amd64")  # of the demo
_PANGO_PACKAGES = "libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"
_FONT_PACKAGE = "fonts-dejavu-core"
_CARGOS = ("cargo-web", "cargo")  # Debian 12 has 1.85 or newer as the first, 13 as the second


# What needs them -> they; "": any campaign, "guest": one of the virtual boards. A guest brings instruments and loads of
# its own: those here are for measuring this machine.
_PROGRAMS = {
    "guest": (BoardProgram("dpkg-deb", "dpkg", "Debian's kernels and tools", demo=True),),
    "this-machine": (
        BoardProgram("cyclictest", "rt-tests", "measuring this machine"),
        BoardProgram("hackbench", "rt-tests", "measuring, loading this machine"),
        BoardProgram("sysbench", "sysbench", "measuring this machine"),
        BoardProgram("stress-ng", "stress-ng", "loading this machine"),
    ),
    "ssh": (BoardProgram("ssh", "openssh-client", "boards over ssh; signing records"),),
    "rtos": (
        BoardProgram("arm-none-eabi-gcc", "gcc-arm-none-eabi", "FreeRTOS"),
        BoardProgram("make", "make", "FreeRTOS; tailoring a kernel"),
    ),
    "tailor": (
        BoardProgram("gcc", "gcc", "tailoring a kernel"),
        BoardProgram("bc", "bc", "tailoring a kernel"),
        BoardProgram("bison", "bison", "tailoring a kernel"),
        BoardProgram("flex", "flex", "tailoring a kernel"),
        BoardProgram("patch", "patch", "tailoring a kernel"),
        BoardProgram("xz", "xz-utils", "tailoring a kernel"),
        BoardProgram("zstd", "zstd", "tailoring a kernel"),
        BoardProgram("ccache", "ccache", "tailoring a kernel: the second build takes a tenth"),
    ),
    "root": (
        BoardProgram("mmdebstrap", "mmdebstrap", "system images: Debian's root"),
        BoardProgram("mcopy", "mtools", "system images"),
        BoardProgram("mkfs.fat", "dosfstools", "system images"),
        BoardProgram("sfdisk", "fdisk", "system images"),
        BoardProgram(
            "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu", "system images: our programs in those for arm64"
        ),
    ),
    "yamcs": (
        BoardProgram("java", "default-jre-headless", "Yamcs as the flight program's ground"),
        BoardProgram("mvn", "maven", "Yamcs as the flight program's ground"),
    ),
}
# What is built here is built with: no program to look for.
_HEADERS = {
    "rtos": ("libnewlib-arm-none-eabi",),
    "tailor": ("make", "libc6-dev", "libelf-dev", "libssl-dev"),
    "module": ("gcc", "libc6-dev", "make"),
}
_COMPILERS = {ARMHF.name: "arm-linux-gnueabihf-gcc", ARM64.name: "aarch64-linux-gnu-gcc"}
_OWN = {
    "rtqual-agent": "starting programs, here and in guests",
    "rtqual-clock.so": "virtual board",
    "rtqual-used.so": "tailoring a kernel: --trim",
    "rtqual-watch.so": "explaining late samples",
    "rtqual-probe": "the probe, here and in guests",
    "ds325-emulator": "the software depth camera",
    "ds325-stream": "depth frames to ranges",
    "ds325-pose": "ranges to pose",
}


def examine() -> Iterator[DoctorCheck]:
    yield _apt()
    yield _qemu()
    yield from map(_program, programs())
    yield from map(_own, _OWN)
    yield from map(_own_for, (ARMHF, ARM64))
    yield _freertos()
    yield _instruction_clock()
    yield _libraries()
    yield _pango()
    yield _fonts()


def programs() -> Iterator[BoardProgram]:
    """All that are looked for."""
    for row in all_boards():
        yield from row.programs
    for some in _PROGRAMS.values():
        yield from some


def missing_for(mission: Mission) -> tuple[str, ...]:
    """Return the Debian packages that a mission's campaigns need and this machine lacks."""
    places = {
        place
        for scale in mission.scales.values()
        for plan in scale.plan
        for candidate in mission.candidates_of(plan)
        for place in mission.places_of(plan, candidate)
    }
    wanted = {*_wanted(mission, places)}
    looked_for = [program for key in _PROGRAMS if key in wanted for program in _PROGRAMS[key]]
    looked_for += [
        program
        for row in all_boards()
        if row in places or (row.leads and "guest" in wanted)
        for program in row.programs
    ]
    checks = [*map(_program, looked_for), _pango(), _fonts(), *([_qemu()] if "guest" in wanted else ())]
    packages = [name for check in checks if check.state != "ok" for name in check.package.split()]
    packages += [name for key in _HEADERS if key in wanted for name in _HEADERS[key] if not _is_installed(name)]
    return tuple(dict.fromkeys(packages))


def _wanted(mission: Mission, places: Collection[BoardRow]) -> Iterator[str]:
    """Keys of _PROGRAMS and _HEADERS."""
    kinds = {candidate.kind.key for candidate in mission.candidates}
    yield from kinds
    if any(place.repeats for place in places):
        yield "guest"
    if any(candidate.root for candidate in mission.candidates):
        yield "root"
    if mission.boards:
        yield "ssh"
    names = {name for scale in mission.scales.values() for plan in scale.plan for name in plan.instruments}
    if any(mission.instrument(name).program.endswith(".ko") for name in names):
        yield "module"


def _is_installed(package: str) -> bool:
    """Held ones too (tools/debian-packages, likewise)."""
    return said("dpkg-query", "--show", "--showformat=${db:Status-Abbrev}", package)[1:2] == "i"


def _apt() -> DoctorCheck:
    name, matters = "apt", "Debian's kernels and tools"
    if not shutil.which("apt-cache") or not shutil.which("apt-get"):
        return DoctorCheck(name, "missing", "no apt: this is not Debian", matters, demo=True)
    known = _known(KERNELS)
    unknown = [package for package in _KERNELS if package not in known]
    try:
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        system = "unknown system"
    if not unknown:
        return DoctorCheck(name, "ok", f"{system}, with package lists", matters, demo=True)
    found = f"{system}; its package lists have no {', no '.join(unknown)}"
    return DoctorCheck(name, "missing", found, matters, as_root("apt-get update"), demo=True)


def _known(start: str) -> tuple[str, ...]:
    try:
        return names(start)
    except RunFailed:
        return ()


def _qemu() -> DoctorCheck:
    name, matters = "QEMU", "virtual board"
    version = _qemu_version()
    if not version:
        fix = install(_QEMU_PACKAGE)
        return DoctorCheck(name, "missing", "no qemu-system-x86_64 that runs", matters, fix, _QEMU_PACKAGE, demo=True)
    if version.startswith(_QEMU_SERIES):
        return DoctorCheck(name, "ok", version.split()[0], matters, demo=True)
    found = f"{version}: gives other figures than the documented ones, made with {_QEMU_SERIES}x"
    return DoctorCheck(name, "warning", found, matters, demo=True)


def _qemu_version() -> str:
    return said("qemu-system-x86_64", "--version").partition("\n")[0].removeprefix("QEMU emulator version ")


def _program(program: BoardProgram) -> DoctorCheck:
    path = shutil.which(program.name) or shutil.which(program.name, path=_SYSTEM_PATH)
    if path:
        return DoctorCheck(program.name, "ok", path, program.matters, demo=program.demo)
    fix = install(program.package)
    return DoctorCheck(program.name, "missing", "not found", program.matters, fix, program.package, program.demo)


def _own(name: str) -> DoctorCheck:
    try:
        guest_file(name)
    except (RunFailed, OSError):
        return DoctorCheck(name, "missing", "not built", _OWN[name], "make", demo=True)
    return DoctorCheck(name, "ok", "built", _OWN[name], demo=True)


def _own_for(architecture: Architecture) -> DoctorCheck:
    """Our programs for its guests: a wheel carries them, `make` builds them where there is a compiler."""
    name, matters = f"our programs for {architecture.name}", "virtual ARM board"
    try:
        for program in ("rtqual-agent", "rtqual-probe"):
            guest_file(program + architecture.suffix)
    except (RunFailed, OSError):
        compiler = _COMPILERS[architecture.name]
        if not shutil.which(compiler):
            return DoctorCheck(name, "warning", f"not built: no {compiler}", matters, "make image-packages arm")
        return DoctorCheck(name, "missing", "not built, and their compiler is here", matters, "make")
    return DoctorCheck(name, "ok", "built", matters)


def _freertos() -> DoctorCheck:
    """The kernel's source is kept once fetched; cargo 1.85 is the first that reads the crate which carries it."""
    name, matters = "FreeRTOS's kernel", "FreeRTOS"
    if os.environ.get("FREERTOS_KERNEL_PATH"):
        return DoctorCheck(name, "ok", "FREERTOS_KERNEL_PATH", matters)
    if any((cache_dir() / "freertos").glob("freertos-next-*/tasks.c")):
        return DoctorCheck(name, "ok", "in the cache", matters)
    version = re.search(r"cargo 1\.(\d+)", said("cargo", "--version"))
    if version and int(version[1]) >= 85:
        return DoctorCheck(name, "ok", f"{version[0]} fetches it", matters)
    found = f"{version[0]} is too old to fetch it" if version else "no cargo to fetch it"
    package = next((package for package in _CARGOS if package in _known("cargo")), "")
    fix = install(package) if package else "install Rust 1.85 or newer, or set FREERTOS_KERNEL_PATH"
    return DoctorCheck(name, "warning", found, matters, fix, package)


def _instruction_clock() -> DoctorCheck:
    """Two CPUs under the instruction clock with our plugin, for which QEMU must be built with TCG plugins."""
    name, matters = "instruction clock", "virtual board"
    try:
        clock = str(plugin("rtqual-clock", _qemu_version())).replace(",", ",,")  # a comma parts options
    except (RunFailed, OSError) as error:
        return DoctorCheck(name, "missing", f"not tried: {error}", matters, "make", demo=True)
    trial = try_guest([*_MACHINE, "-plugin", f"file={clock}"], _TCG_TIMEOUT_S)
    if trial.failure:
        return DoctorCheck(name, "missing", f"a guest with two CPUs {trial.failure}", matters, demo=True)
    return DoctorCheck(name, "ok", f"a guest with two CPUs answers in {trial.took_s:.1f} s", matters, demo=True)


def _libraries() -> DoctorCheck:
    name, matters = "Python libraries", "analysis and report"
    wanted = ("numpy", "duckdb", "scipy", "matplotlib", "jinja2", "weasyprint", "youplot", "prometheus_client")
    absent = [library for library in wanted if find_spec(library) is None]
    if not absent:
        return DoctorCheck(name, "ok", ", ".join(wanted), matters, demo=True)
    return DoctorCheck(name, "missing", f"no {', no '.join(absent)}", matters, install_command(absent), demo=True)


def _pango() -> DoctorCheck:
    """Loading WeasyPrint loads Pango; the demo ends with a PDF, so it fails without.

    What it prints then is not ours: a shell reads what `--install` prints, and a program what `--json` does.
    """
    name, matters = "Pango", "the PDF report"
    try:
        with redirect_stdout(io.StringIO()):
            importlib.import_module("weasyprint")
    except ModuleNotFoundError:
        return DoctorCheck(name, "missing", "not tried: weasyprint is missing", matters, demo=True)
    except (ImportError, OSError) as error:
        found = f"WeasyPrint cannot load it: {first_line(error)}"
        return DoctorCheck(name, "missing", found, matters, install(_PANGO_PACKAGES), _PANGO_PACKAGES, demo=True)
    return DoctorCheck(name, "ok", "WeasyPrint loads it", matters, demo=True)


def _fonts() -> DoctorCheck:
    name, matters = "DejaVu fonts", "the PDF report"
    if said("fc-list", "DejaVu Sans"):
        return DoctorCheck(name, "ok", "DejaVu Sans", matters)
    return DoctorCheck(
        name, "warning", "not found: other letters, or none", matters, install(_FONT_PACKAGE), _FONT_PACKAGE
    )
