# SPDX-License-Identifier: MIT
"""The virtual board's initial RAM file system: Debian's tools, the kernel's modules, the agent. Byte-identical
for the same packages."""

import gzip
import hashlib
import lzma
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path

from rtqual.base import named
from rtqual.base.apt import Package, fetch, fetch_closure
from rtqual.base.architecture import AMD64, ARM64, ARMHF, HERE, Architecture
from rtqual.base.cache import cache_dir, kept
from rtqual.base.errors import BadInput, RunFailed, first_line
from rtqual.base.program import run
from rtqual.base.scratch import scratch
from rtqual.protocols.part import brought

# The Debian packages that give the guest its programs.
TOOL_PACKAGES = ("busybox-static", "iperf3", "iw", "rt-tests", "stress-ng", "sysbench")
PROGRAMS = ("cyclictest", "hackbench", "iperf3", "iw", "stress-ng", "sysbench")

# Kernel modules a job may need. Modules that a kernel has built in or lacks are left out here; modprobe reports them.
DISK_MODULES = ("virtio_pci", "virtio_blk", "xhci_pci", "usb_storage", "sd_mod", "crc32c_generic", "ext4")
JOB_MODULES = ("mac80211_hwsim", "vivid", "uvcvideo", "vhci_hcd")
DISKS = ("/dev/vda", "/dev/sda")
_FOLDERS = ("bin", "dev", "etc/rtqual", "proc", "sys", "run", "tmp", "usr/bin", "var/run")
_HEADER_B, _MAGIC, _TRAILER = 110, b"070701", "TRAILER!!!"
_SIZE_AT, _NAME_AT = 54, 94  # of its fields of eight digits
_MOST_MODULE_B = 256 << 20


def guest_tools(architecture: Architecture = AMD64) -> list[Package]:
    """Those packages, with all that they need."""
    return fetch_closure(TOOL_PACKAGES, architecture=architecture)


def modules_for(places: Iterable[str]) -> list[str]:
    """Return the kernel's modules that programs of ours need, by their places in the guest."""
    return [module for place in places for table in brought("needed") for module in table.get(place, ())]


def guest_file(name: str) -> Path:
    """A file of ours that goes into the guest: `rtqual-agent` (runs programs here and there alike) or `init`."""
    from importlib.resources import as_file, files  # noqa: PLC0415 - slow to load

    place = files("rtqual") / "guest" / name
    if not place.is_file():
        target = " arm" if name.endswith((ARMHF.suffix, ARM64.suffix)) else ""
        packages = " image-packages" if name.endswith(ARM64.suffix) else ""  # with the compiler for these
        raise RunFailed(f"rtqual's {name} is not installed: run `make{packages}{target}` in rtqual's folder")
    with as_file(place) as path:
        return path


def build(
    kernel: Package,
    release: str,
    tools: Sequence[Package],
    *,
    disks: bool,
    architecture: Architecture = AMD64,
    extra: Mapping[str, Path] | None = None,
) -> Path:
    """The initramfs for one kernel, from the cache if its contents are the same."""
    programs = ("rtqual-agent", "rtqual-probe")
    own = {f"usr/bin/{name}": guest_file(name + architecture.suffix) for name in programs}
    own |= {"init": guest_file("init"), **(extra or {})}
    identity = hashlib.sha256(f"{release} {disks} {modules_for(own)}".encode())
    for sha256 in [kernel.sha256, *(tool.sha256 for tool in tools)]:
        identity.update(sha256.encode())
    for file in [*own.values(), Path(__file__)]:
        identity.update(file.read_bytes())

    def fill(root: Path) -> None:
        begin(root, _FOLDERS, [tool.tree for tool in tools], architecture, PROGRAMS)
        lay(root, own)
        copy_modules(root, kernel.tree, release, (*DISK_MODULES, *JOB_MODULES, *modules_for(own)))
        (root / "etc/rtqual/modules").write_text("".join(f"{name}\n" for name in DISK_MODULES if disks))
        (root / "etc/rtqual/disks").write_text("".join(f"{disk}\n" for disk in DISKS if disks))
        (root / "etc/passwd").write_text("root:x:0:0:root:/run:/bin/sh\n")

    return image_of(f"{identity.hexdigest()[:32]}.cpio", fill)


def image_of(name: str, fill: Callable[[Path], None], *, behind: Path | None = None, zipped: bool = False) -> Path:
    """The image of that name, from the cache; else of what `fill` lays into an empty folder, `behind` another image,
    over which Linux unpacks it."""
    image = cache_dir() / "initramfs" / name

    def make(fresh: Path) -> None:
        with scratch(image.parent) as folder, fresh.open("wb") as out:
            (folder / "root").mkdir()
            fill(folder / "root")
            packed = pack(folder / "root", folder / "packed")
            if zipped:
                packed.write_bytes(gzip.compress(packed.read_bytes(), mtime=0))
            for path in (behind, packed) if behind else (packed,):
                with path.open("rb") as content:
                    shutil.copyfileobj(content, out)

    try:
        return kept(image, make)
    except (OSError, shutil.Error) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise RunFailed(f"{image.parent}: a guest's image cannot be made: {why}") from None


def begin(
    root: Path, folders: Iterable[str], trees: Sequence[Path], architecture: Architecture, programs: Iterable[str]
) -> None:
    """Empty folders, busybox and programs."""
    for folder in folders:
        (root / folder).mkdir(parents=True)
    copy_busybox(root, trees, architecture)
    for program in programs:
        copy_program(program, root, trees, architecture.triplet)


def lay(root: Path, files: Mapping[str, Path]) -> None:
    """Copy files to their places below a root."""
    for place, file in files.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, root / place)


def find(trees: Sequence[Path], folders: Sequence[str], name: str) -> Path:
    """The file of that name in the first of the unpacked packages that has it."""
    for tree in trees:
        for folder in folders:
            if (tree / folder / name).exists():
                return tree / folder / name
    raise RunFailed(f"none of the guest's packages carries {name}: run `apt-get update` and the same command again")


def needed(program: Path) -> Iterable[str]:
    """The shared libraries and the loader an ELF file asks for; none of what is no such file."""
    from rtqual.base.elf_file import DAMAGED, loaded_with, opened  # noqa: PLC0415 - only images need it

    with program.open("rb") as file:
        try:
            return loaded_with(opened(file))
        except DAMAGED:
            return ()


def copy_busybox(root: Path, trees: Sequence[Path], architecture: Architecture) -> None:
    """busybox, with a link for all that it can be called."""
    busybox = find(trees, ("bin", "usr/bin"), "busybox")
    shutil.copy(busybox, root / "bin/busybox")
    # Debian builds the same busybox for every processor; this machine's own tells what is in it.
    own = [fetch("busybox-static", architecture=HERE).tree] if architecture.foreign else trees
    asked = find(own, ("bin", "usr/bin"), "busybox")
    for applet in run([asked, "--list"]).require(f"{asked} does not run here").stdout.split():
        if applet != "busybox":
            (root / "bin" / applet).symlink_to("busybox")


def copy_program(program: str | Path, root: Path, trees: Sequence[Path], triplet: str) -> None:
    """A program, one of the trees by its name or a file, and the libraries it loads."""
    if isinstance(program, str):
        program = find(trees, ("usr/bin", "usr/sbin", "bin", "sbin"), program)
    shutil.copy(program, root / "usr/bin" / program.name)
    waiting = list(needed(program))
    libraries = root / "lib" / triplet
    libraries.mkdir(parents=True, exist_ok=True)
    while waiting:
        name = waiting.pop()
        if (libraries / name).exists():
            continue
        found = find(trees, (f"lib/{triplet}", f"usr/lib/{triplet}", "usr/lib", "lib", "lib64"), name)
        shutil.copy(found.resolve() if found.is_symlink() else found, libraries / name)
        waiting.extend(needed(libraries / name))
        if name.startswith("ld-linux"):  # the loader's place is fixed in every program
            place = root / ("lib64" if "x86-64" in name else "lib")
            place.mkdir(exist_ok=True)
            (place / name).symlink_to(f"/lib/{triplet}/{name}")


def copy_modules(root: Path, tree: Path, release: str, wanted: Iterable[str]) -> None:
    """The wanted modules with all they depend on, uncompressed, and the index that modprobe reads."""
    source = tree / "lib/modules" / release
    if not source.exists():
        source = tree / "usr/lib/modules" / release
    target = root / "lib/modules" / release
    available = {
        path.name.split(".")[0].replace("-", "_"): path
        for path in source.rglob("*.ko*")
        if path.suffix in (".ko", ".xz")
    }
    waiting = [name for name in wanted if name in available]
    done: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in done:
            continue
        done.add(name)
        path = available[name]
        copy = target / path.relative_to(source).with_name(path.name.removesuffix(".xz"))
        copy.parent.mkdir(parents=True, exist_ok=True)
        content = _module(path)
        copy.write_bytes(content)
        told = _module_info(path, content)
        waiting.extend(dep for dep in told("depends").split(",") if dep in available)
        waiting.extend(dep for dep in told("softdep").replace("pre:", "").split() if dep in available)
    target.mkdir(parents=True, exist_ok=True)
    for index in ("modules.builtin", "modules.order", "modules.builtin.modinfo"):
        if (source / index).exists():
            (target / index).write_bytes(named.read(source / index))
    run(["depmod", "-b", root, release], package="kmod").require("depmod failed")


def _module(path: Path) -> bytes:
    """A module, unpacked. Raises BadInput where it is none."""
    try:
        content = named.read(path)
        if path.suffix != ".xz":
            return content
        unpacking = lzma.LZMADecompressor(memlimit=_MOST_MODULE_B)
        unpacked = unpacking.decompress(content, _MOST_MODULE_B)
    except (OSError, lzma.LZMAError) as error:
        raise BadInput(f"{path}: this module of the kernel cannot be read: {first_line(error)}") from None
    if not unpacking.eof:
        raise BadInput(f"{path}: this module of the kernel is cut off, or unpacks to more than {_MOST_MODULE_B:,} B")
    return unpacked


def _module_info(path: Path, module: bytes) -> Callable[[str], str]:
    """What tells a field of a module's .modinfo section (module names with '-' read as '_'). Raises BadInput."""
    from rtqual.base.elf_file import DAMAGED, octets, opened  # noqa: PLC0415

    try:
        section = opened(BytesIO(module)).get_section_by_name(".modinfo")
        entries = octets(section).decode(errors="replace").split("\0") if section else []
    except DAMAGED:
        raise BadInput(f"{path}: is no module of a kernel (ELF)") from None
    return lambda field: " ".join(
        entry.partition("=")[2] for entry in entries if entry.startswith(f"{field}=")
    ).replace("-", "_")


def pack(root: Path, image: Path) -> Path:
    """A newc archive with nothing in it of the machine that made it."""
    paths = sorted(root.rglob("*"), key=lambda path: path.relative_to(root).parts)
    for path in paths:
        os.utime(path, (0, 0), follow_symlinks=False)
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o111 else 0o644)
    names = b"".join(str(path.relative_to(root)).encode() + b"\0" for path in paths)
    command = ["cpio", "--null", "--create", "--format=newc", "--reproducible", "--owner=0:0", "--quiet"]
    with image.open("wb") as out:
        done = run(command, package="cpio", folder=root, given=names, into=out)
    done.require(f"{image.parent}: a guest's image cannot be made", then="is the disk full?")
    return image


def names(image: Path) -> frozenset[str]:
    """Of all that an archive (newc) holds, packed or not; of several behind each other, of the first."""
    found: set[str] = set()
    with image.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    with gzip.open(image) if packed else image.open("rb") as content:
        while (header := content.read(_HEADER_B)).startswith(_MAGIC):
            size, length = (int(header[at : at + 8], 16) for at in (_SIZE_AT, _NAME_AT))
            name = content.read(length)[:-1].decode(errors="replace")
            content.seek(-(_HEADER_B + length) % 4, 1)
            if name == _TRAILER:
                break
            content.seek(size + -size % 4, 1)
            found.add(name.removeprefix("./"))
    return frozenset(found)
