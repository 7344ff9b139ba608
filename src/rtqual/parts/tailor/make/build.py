# SPDX-License-Identifier: MIT
"""A kernel built from a tree and a configuration: out of tree, reproducibly, once.

A finished kernel lies in the cache under the hash of what it was made of, laid out like a Debian kernel package (boot/,
lib/modules/RELEASE/) so that both can be used alike. It is built beside that place and then renamed, so a failed build
leaves what was there.
"""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from rtqual.base.cache import CachePlace, cache_dir, idle, locked
from rtqual.base.errors import RunFailed
from rtqual.base.program import run
from rtqual.base.units import format_duration
from rtqual.engine.kernel.config import parse
from rtqual.parts.tailor.configure.tree import Tree, complaint

# Nothing of the machine and the moment goes into the image (Documentation/kbuild/reproducible-builds.rst).
_FIXED = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
    "KBUILD_BUILD_USER": "rtqual",
    "KBUILD_BUILD_HOST": "rtqual",
    "KBUILD_BUILD_VERSION": "1",
}
_RECIPE = "4"  # increased when kernels are built differently: those in the cache are then not used
_OBJECTS_B = 3 * 2**30  # of Debian's own configuration without debugging information; a tailored one takes 0.3 GB
_IMAGES = {"x86_64": ("bzImage", "arch/x86/boot/bzImage"), "arm64": ("Image.gz", "arch/arm64/boot/Image.gz")}
# Programs that kbuild calls, and Debian's packages of them.
_PROGRAMS = {
    **{name: name for name in ("make", "bc", "flex", "bison", "zstd")},
    "ld": "binutils",
    "depmod": "kmod",
}
_HEADERS = {
    "gelf.h": "libelf-dev",
    "libelf.h": "libelf-dev",
    "openssl/": "libssl-dev",
}  # of libraries kbuild's tools use
_PASSING = (".new", ".objects")  # of folders beside a kernel's place while it is built
_STEP = re.compile(r"^  (?:HOST)?(?:CC|AS|LD)\b")
_TELLING = 20  # files, before their pace is meaningful
_OBJECTS_OF_A_SYMBOL = 2.5  # compiled files for each symbol that is on, as seen with tailored configurations


@dataclass(frozen=True)
class BuiltKernel:
    """A kernel in the cache."""

    folder: Path  # boot/ and lib/modules/RELEASE/, as in Debian's packages
    release: str
    version: str  # of the tree
    compiler: str
    objects: int  # files compiled
    sha256: str  # of all files in the folder: equal inputs give equal hashes, wherever and whenever they are built

    @property
    def image(self) -> Path:
        return self.folder / "boot" / f"vmlinuz-{self.release}"

    @property
    def config(self) -> str:
        return (self.folder / "boot" / f"config-{self.release}").read_text()

    @property
    def system_map(self) -> Path:
        return self.folder / "boot" / f"System.map-{self.release}"

    @property
    def exported(self) -> Path:
        """Module.symvers: what kernel and modules export; our modules are built against it."""
        return self.folder / "boot" / f"Module.symvers-{self.release}"

    @property
    def modules(self) -> Path | None:
        """The module tree; none of a kernel that loads no modules."""
        place = self.folder / "lib/modules" / self.release
        return place if place.exists() else None

    @property
    def installed_size_b(self) -> int:
        """Bytes on a flight disk: all but what modules are built with and System.map, as in Debian's packages."""
        left_out = (self.system_map, self.exported)
        files = (path for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink())
        return sum(path.stat().st_size for path in files if path not in left_out)


class Watch:
    """What a build reports while it runs; the default is silence."""

    def step(self, done: int, about: int, left_s: float) -> None:
        """So many files compiled, of about so many; seconds left at this pace."""


def as_steps(tell: Callable[[str], None], what: str) -> Watch:
    """A watch that reports a line at every twentieth of the way."""

    class Lines(Watch):
        told = -1

        def step(self, done: int, about: int, left_s: float) -> None:
            part = 20 * done // max(about, 1)
            if part != self.told and done >= _TELLING:
                self.told = part
                tell(f"{what}: {done} of about {about} files, about {format_duration(left_s)} left")

    return Lines()


def build(
    tree: Tree,
    config: str,
    *,
    watch: Watch | None = None,
    ccache: bool = True,
    jobs: int | None = None,
    kept_objects: Path | None = None,
) -> BuiltKernel:
    """The kernel of a tree and a .config, from the cache where it was built before.

    `jobs`: compilers at a time, one a processor unless given. `kept_objects`: a folder of object files that stays for
    a next build of the same tree: kbuild compiles again what another configuration changes. Raises RunFailed with the
    build's first complaint; the whole output is kept beside the place in the cache.
    """
    _check_programs(tree)
    compiler = _compiler(tree)
    place = cache_dir() / "kernels" / _identity(tree, config, compiler)
    with locked(place) as cached:
        if not cached.is_sound():
            _sweep(place.parent)
            with locked(kept_objects) if kept_objects else nullcontext():
                _make(
                    *(tree, config, compiler, cached, watch or Watch(), kept_objects),
                    ccache=ccache, jobs=jobs or os.cpu_count() or 1,
                )  # fmt: skip
    return _read(place, tree.version)


def compile_objects(tree: Tree, config: str, folder: Path, watch: Watch, *, jobs: int | None = None) -> None:
    """Leave the object files of a kernel in `folder`, which may hold those of another one of the tree. Raises as
    `build` does."""
    _check_programs(tree)
    _need_space(cache_dir(), config)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".config").write_text(config)
    tree.make(folder, "olddefconfig")
    _compile(tree, folder, config, folder.with_suffix(".log"), watch, ccache=True, jobs=jobs or os.cpu_count() or 1)


def _identity(tree: Tree, config: str, compiler: str) -> str:
    recipe = f"{_RECIPE} with device trees" if _device_trees(tree) else _RECIPE
    parts = (recipe, tree_identity(tree.path), tree.arch, config, compiler)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _device_trees(tree: Tree) -> bool:
    """Whether boards of its architecture are described by files that come with the kernel."""
    return (tree.path / "arch" / tree.folder / "boot/dts").is_dir()


def tree_identity(path: Path) -> str:
    """What a tree is known by: the hash in its name where rtqual unpacked it, else that of all its files."""
    if path.parent == cache_dir() / "kernel-trees":
        return path.name
    return hash_of(path)


def hash_of(folder: Path) -> str:
    """SHA-256 of names and contents below a folder, git's own files left out."""
    identity = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if name.parts[0] == ".git" or (path.is_dir() and not path.is_symlink()):
            continue
        content = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        identity.update(f"{name} {len(content)}\n".encode() + content)
    return identity.hexdigest()


def _check_programs(tree: Tree) -> None:
    tree.check_compiler()
    for program, package in _PROGRAMS.items():
        if shutil.which(program) is None and shutil.which(program, path="/usr/sbin:/sbin") is None:
            raise RunFailed(f"{program} is missing, which a kernel is built with: `apt-get install {package}`")


def _compiler(tree: Tree) -> str:
    """Versions of compiler and linker: they decide the image."""
    said = [run([f"{tree.cross_compile}{name}", "--version"]).stdout.splitlines()[:1] for name in ("gcc", "ld")]
    return "; ".join(line for lines in said for line in lines)


def _make(
    tree: Tree,
    config: str,
    compiler: str,
    cached: CachePlace,
    watch: Watch,
    kept: Path | None,
    *,
    ccache: bool,
    jobs: int,
) -> None:
    place = cached.path
    fresh, objects = (place.with_suffix(ending) for ending in _PASSING)
    objects = kept or objects
    log = place.with_suffix(".log")
    passing = (fresh,) if kept else (fresh, objects)
    for stale in passing:
        shutil.rmtree(stale, ignore_errors=True)
    _need_space(place.parent, config)
    try:
        objects.mkdir(parents=True, exist_ok=True)
        (objects / ".config").write_text(config)
        tree.make(objects, "olddefconfig")
        settled = (objects / ".config").read_text()
        compiled = _compile(tree, objects, settled, log, watch, ccache=ccache, jobs=jobs)
        _install(tree, objects, fresh)
        (fresh / "built").write_text(f"{hash_of(fresh)}\n{compiler}\n{compiled}\n")
        cached.take(fresh)
        log.unlink()
    except OSError as error:
        raise RunFailed(f"{place.parent}: the kernel cannot be built there: {error.strerror or error}") from None
    finally:
        for rest in passing:
            shutil.rmtree(rest, ignore_errors=True)


def _sweep(kernels: Path) -> None:
    """What builds left that were killed: gigabytes, and nobody holds their locks."""
    for left in sorted({path.with_suffix("") for ending in _PASSING for path in kernels.glob(f"*{ending}")}):
        with idle(left) as is_left:
            for ending in _PASSING if is_left else ():
                shutil.rmtree(left.with_suffix(ending), ignore_errors=True)


def _need_space(folder: Path, config: str) -> None:
    wanted_b = _OBJECTS_B * min(1.0, max(0.1, len(parse(config, "the configuration")) / 8_000))
    free_b = shutil.disk_usage(folder).free
    if free_b < wanted_b:
        raise RunFailed(
            f"{folder} has {free_b // 2**20} MiB free of the {wanted_b / 2**20:.0f} MiB that building it takes: "
            "make room or set XDG_CACHE_HOME"
        )


def _compile(tree: Tree, objects: Path, config: str, log: Path, watch: Watch, *, ccache: bool, jobs: int) -> int:
    """Run make to its end. Returns how many files it compiled."""
    modular = "CONFIG_MODULES=y" in config
    targets = [_IMAGES[tree.arch][0], *(["modules"] if modular else []), *(["dtbs"] if _device_trees(tree) else [])]
    command = [
        word for word in tree.command(objects, *targets, variables=_variables(tree, ccache=ccache)) if word != "-s"
    ]
    command.insert(1, f"-j{jobs}")
    about = expected(config)
    done, started = 0, time.monotonic()
    with log.open("w", buffering=1) as kept, _started(command, tree.environment(_environment())) as process:
        assert process.stdout is not None, "a pipe"  # noqa: S101
        for line in process.stdout:
            kept.write(line)
            if _STEP.match(line):
                done += 1
                about = max(about, done + 1)
                watch.step(done, about, (time.monotonic() - started) / done * (about - done))
    if process.returncode:
        raise RunFailed(
            f"Linux {tree.version} does not build: {_why(log.read_text(errors='replace'))}; all of it: {log}"
        )
    return done


def _variables(tree: Tree, *, ccache: bool) -> dict[str, str]:
    """make's variables. A compiler behind ccache compiles the same."""
    if not (ccache and shutil.which("ccache")):
        return {}
    return {"CC": f"ccache {tree.cross_compile}gcc", "HOSTCC": "ccache gcc"}


def _environment() -> dict[str, str]:
    return {**_FIXED, "CCACHE_DIR": str(cache_dir() / "ccache"), "CCACHE_MAXSIZE": "2G"}


@contextmanager
def _started(command: list[str], environment: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """make with all it starts in one group, which ends with us; `setpriv` ends it should we be killed."""
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "TERM", *command],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        yield process
        process.wait()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()


def expected(config: str) -> int:
    """About how many files a configuration compiles: as many for each symbol as the last build of all did."""
    symbols = sum(value in ("y", "m") for value in parse(config, "the configuration").values())
    kept = sorted((cache_dir() / "kernels").glob("*/built"), key=lambda path: path.stat().st_mtime)
    for path in reversed(kept):
        boot = next(iter((path.parent / "boot").glob("config-*")), None)
        of_it = boot and sum(value in ("y", "m") for value in parse(boot.read_text(), str(boot)).values())
        compiled = int(path.read_text().splitlines()[2])
        if of_it and compiled > of_it:  # fewer where object files were kept
            return round(symbols * compiled / of_it)
    return round(symbols * _OBJECTS_OF_A_SYMBOL)


def _why(output: str) -> str:
    """Looks for a full disk first, since its consequences look like any error."""
    if "No space left on device" in output:
        return "the disk is full: make room or set XDG_CACHE_HOME"
    for header, package in _HEADERS.items():
        if re.search(rf"{header}.*No such file", output):
            return f"{header} is missing: `apt-get install {package}`"
    return complaint("\n".join(line for line in output.splitlines() if not line.startswith("  ")))


def _install(tree: Tree, objects: Path, folder: Path) -> None:
    """Lay the kernel out as Debian's packages do."""
    release = (objects / "include/config/kernel.release").read_text().strip()
    boot = folder / "boot"
    boot.mkdir(parents=True)
    shutil.copyfile(objects / _IMAGES[tree.arch][1], boot / f"vmlinuz-{release}")
    shutil.copyfile(objects / ".config", boot / f"config-{release}")
    shutil.copyfile(objects / "System.map", boot / f"System.map-{release}")
    if _device_trees(tree):
        place = {"INSTALL_DTBS_PATH": str(folder / "usr/lib" / f"linux-image-{release}")}
        tree.make(objects, "dtbs_install", variables=place, environment=_environment())
    if "CONFIG_MODULES=y" in (objects / ".config").read_text():
        shutil.copyfile(objects / "Module.symvers", boot / f"Module.symvers-{release}")
        into = {"INSTALL_MOD_PATH": str(folder), "INSTALL_MOD_STRIP": "1"}
        tree.make(objects, "modules_install", variables=into, environment=_environment())
        for link in ("build", "source"):  # to where it was built
            (folder / "lib/modules" / release / link).unlink(missing_ok=True)


def _read(place: Path, version: str) -> BuiltKernel:
    sha256, compiler, objects = (place / "built").read_text().splitlines()
    release = next((place / "boot").glob("vmlinuz-*")).name.removeprefix("vmlinuz-")
    return BuiltKernel(place, release, version, compiler, int(objects), sha256)
