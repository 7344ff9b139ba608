# SPDX-License-Identifier: MIT
"""An image put together: root, modules, kernel, boot partition, the list of what is inside, and what it weighs."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid5

from rtqual import __version__
from rtqual.base.apt import Package
from rtqual.base.architecture import AMD64, Architecture
from rtqual.base.cache import sha256_file
from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.program import run
from rtqual.base.scratch import scratch
from rtqual.engine.candidates.roots import modules_for, packages_for
from rtqual.engine.initramfs import contents
from rtqual.engine.kernel.config import parse
from rtqual.engine.mission import Need
from rtqual.parts.images import debian_root, initrd, minimal, sbom
from rtqual.parts.images.archive import write_cpio
from rtqual.parts.images.bootpart import BootFiles, boot_files
from rtqual.parts.images.elf import check_programs
from rtqual.parts.images.ext4 import write_ext4
from rtqual.parts.images.flash import Identity, write_disk, write_fat
from rtqual.parts.images.known_good import MODULES, ForBoard
from rtqual.parts.images.overlay import lay_over
from rtqual.parts.images.root import Root, TreeSize, epoch_s, gathered, size

FLAVOURS, FORMS = ("minimal", "debian"), ("disk", "initramfs")
MINIMAL_ROOT_AT_MOST_B = 4 * 10**6  # the goal for a minimal root without kernel modules
_NAMESPACE = UUID("5d3f1bb0-7f0e-4d2c-9c53-2d4b8f9a6e11")
_LAYOUT = "2"  # another one: the same inputs give another image


@dataclass(frozen=True)
class Request:
    """What an image is made of. `kernel` is a package, or a folder laid out like one."""

    kernel: Package
    architecture: Architecture
    flavour: str = "minimal"
    form: str = "disk"
    needs: tuple[Need, ...] = ()
    packages: tuple[str, ...] = ()  # Debian's, besides those of the needs
    modules: tuple[str, ...] = ()  # of the kernel, besides those of the needs
    parameters: tuple[str, ...] = ()  # of the kernel
    overlay: Path | None = None  # files laid over the root
    firmware: Path | None = None  # the Raspberry Pi's
    board: ForBoard | None = None  # whose known-good system it is to be

    @property
    def uefi(self) -> bool:
        """Started by UEFI, not by the Raspberry Pi's firmware."""
        return self.architecture == AMD64 or (self.board is not None and self.board.settings.switch == "systemd-boot")


@dataclass(frozen=True)
class Image:
    """A finished image, measured. Sizes in bytes; `root` is without the kernel's modules."""

    path: Path
    sbom: Path
    kernel: Path | None  # beside an initramfs, which does not hold it
    flavour: str
    form: str
    architecture: Architecture
    release: str
    parameters: str  # the command line it boots with
    sha256: str
    image_b: int
    kernel_b: int
    initrd_b: int
    root: TreeSize
    modules: TreeSize
    packages: int
    missing: tuple[str, ...]
    needs: tuple[Need, ...] = ()  # of the mission
    for_pi: bool = False  # started by the Raspberry Pi's firmware
    host_key: str = ""  # of a board's image: public
    room_b: int = 0  # left for candidates on its boot partition

    @property
    def installed_b(self) -> int:
        """All that lies on the flight disk: root, modules, kernel and its initial file system."""
        return self.root.content_b + self.modules.content_b + self.kernel_b + self.initrd_b


def build(request: Request, out: Path, tell: Callable[[str], None] = lambda _: None) -> Image:
    """Write the image to `out` and what is inside to `out`.spdx.json; the previous files stay until both are whole."""
    _check(request, out)
    try:
        with scratch(out.parent) as work:
            return _Assembly(request, work, tell).finish(out)
    except OSError as error:
        raise RunFailed(f"the image {out} cannot be written: {error.strerror or error}; what was there stays") from None


@dataclass(frozen=True)
class Filled:
    """A root with the kernel's modules, before it is put into an image. Sizes as in Image."""

    root: Root
    packages: tuple[Package, ...]
    content: TreeSize
    modules: TreeSize


def fill(request: Request, work: Path) -> Filled:
    """The root of an image, in a folder of `work`."""
    return _Assembly(request, work, lambda _: None).fill()


def _check(request: Request, out: Path) -> None:
    if request.flavour not in FLAVOURS or request.form not in FORMS:
        raise BadInput(f"no image is {request.flavour}, {request.form}: {', '.join(FLAVOURS)}; {', '.join(FORMS)}")
    if not out.parent.is_dir():
        raise BadInput(f"--out {out}: there is no folder {out.parent}")
    if out.is_dir() or (out.exists() and not out.is_file()):
        raise BadInput(f"--out {out}: there is something else than a file; an image is written to a file")
    if request.firmware and request.uefi:
        raise BadInput("--firmware: UEFI's machines have their own; it is the Raspberry Pi's, for --architecture arm64")
    if request.overlay and not request.overlay.is_dir():
        raise BadInput(f"--overlay {request.overlay}: it is no folder")


class _Assembly:
    def __init__(self, request: Request, work: Path, tell: Callable[[str], None]) -> None:
        self._request, self._work, self._tell = request, work, tell
        images = sorted((request.kernel.tree / "boot").glob("vmlinuz-*"))
        if len(images) != 1:
            raise BadInput(f"kernel {request.kernel.name}: {len(images)} kernel images, one is needed")
        self._kernel = images[0]
        self._release = images[0].name.removeprefix("vmlinuz-")
        self._config = parse((images[0].parent / f"config-{self._release}").read_text(), request.kernel.name)
        self._host_key, self._room_b = "", request.board.room_b(images[0].stat().st_size) if request.board else 0

    def fill(self) -> Filled:
        self._tell(f"the {self._request.flavour} root")
        root, packages = self._root()
        content = size(root.folder)
        self._modules(root)
        whole = size(root.folder)
        modules = TreeSize(whole.content_b - content.content_b, whole.files - content.files)
        return Filled(root, tuple(packages), content, modules)

    def finish(self, out: Path) -> Image:
        request, filled = self._request, self.fill()
        root = filled.root
        identity = Identity(uuid5(_NAMESPACE, self._digest(root)))
        if request.board:
            request.board.mount(root, request.flavour, identity.boot)
        self._tell("the image")
        path, boot = (self._disk if request.form == "disk" else self._archive)(root, identity)
        self._tell("the list of what is inside")
        parts = self._parts(root, [*filled.packages, *boot.packages])
        content = sbom.document(out.name, parts, {"": root, **self._beside(boot)})
        listing = sbom.write(self._work / "sbom", content)
        beside = self._keep(out, path, listing)
        initrd_b = (self._work / "initrd.img").stat().st_size if (self._work / "initrd.img").exists() else 0
        return Image(
            path=out,
            sbom=_beside(out, ".spdx.json"),
            kernel=beside,
            flavour=request.flavour,
            form=request.form,
            architecture=request.architecture,
            release=self._release,
            parameters=self._parameters(identity),
            sha256=sha256_file(out),
            image_b=out.stat().st_size,
            kernel_b=self._kernel.stat().st_size,
            initrd_b=initrd_b,
            root=filled.content,
            modules=filled.modules,
            packages=len(parts),
            missing=(*boot.missing, *(request.board.missing(self._release) if request.board else ())),
            needs=request.needs,
            for_pi=request.form == "disk" and not request.uefi,
            host_key=self._host_key,
            room_b=self._room_b,
        )

    @property
    def _wanted(self) -> tuple[str, ...]:
        """The modules of a minimal root."""
        more = MODULES if self._request.board else ()
        return self._present(modules_for(self._request.needs, (*self._request.modules, *more)))

    def _keep(self, out: Path, path: Path, listing: Path) -> Path | None:
        beside = None
        if self._request.form == "initramfs":
            beside = _beside(out, ".vmlinuz")
            shutil.copyfile(self._kernel, self._work / "vmlinuz")
            (self._work / "vmlinuz").replace(beside)
        if self._request.board:
            path.chmod(0o600)  # the host key is in it
        for file in (path, listing):
            with file.open("rb") as opened:
                os.fsync(opened.fileno())  # a full disk is noticed here, before anything is replaced
        listing.replace(_beside(out, ".spdx.json"))
        path.replace(out)
        return beside

    def _root(self) -> tuple[Root, list[Package]]:
        request, folder = self._request, self._work / "root"
        more = request.packages + (request.board.packages(request.flavour) if request.board else ())
        if request.flavour == "minimal":
            root, packages = minimal.fill(
                folder, architecture=request.architecture, packages=more, modules=self._wanted
            )
        else:
            wanted = packages_for(request.needs, more)
            # udev loads those of the needs' modules whose device is there; only modules asked for by name are forced.
            root = debian_root.fill(
                folder, architecture=request.architecture, packages=wanted, modules=self._present(request.modules)
            )
            packages = []
            root.copy(contents.guest_file(f"rtqual-probe{request.architecture.suffix}"), "usr/bin/rtqual-probe")
        if request.overlay:
            lay_over(root, request.overlay)
        if request.board:
            self._host_key = request.board.lay(root, request.flavour, self._work)
        check_programs(root, request.architecture, request.overlay)
        return root, packages

    def _present(self, modules: Sequence[str]) -> tuple[str, ...]:
        """Those that the kernel has as modules. If it lacks one asked for by name, that is bad input."""
        tree = self._module_tree()
        have = {path.name.split(".")[0].replace("-", "_") for path in tree.rglob("*.ko*")} if tree else set()
        index = tree / "modules.builtin" if tree else None
        built_in = index.read_text().split() if index and index.exists() else []
        inside = {Path(line).name.split(".")[0].replace("-", "_") for line in built_in}
        for name in self._request.modules:
            if name.replace("-", "_") not in have | inside and tree is not None:
                raise BadInput(f"--module {name}: the kernel {self._request.kernel.name} has none of that name")
        return tuple(name for name in modules if name.replace("-", "_") in have)

    def _module_tree(self) -> Path | None:
        places = (self._request.kernel.tree / place / self._release for place in ("lib/modules", "usr/lib/modules"))
        return next((place for place in places if place.is_dir()), None)

    def _modules(self, root: Root) -> None:
        """One tree of modules, this kernel's: all of it for Debian's root, what is wanted for the minimal one.

        It is made in a folder of its own, for the programs that make it follow the root's links onto this machine.
        """
        root.inside.remove("lib/modules")
        tree = self._module_tree()
        if tree is None:
            return
        made = self._work / "modules"
        if self._request.flavour == "minimal":
            if not self._wanted:
                return
            contents.copy_modules(made, self._request.kernel.tree, self._release, self._wanted)
        else:
            skipped = shutil.ignore_patterns("build", "source")  # links to where it was built
            target = made / "lib/modules" / self._release
            shutil.copytree(tree, target, ignore=skipped, copy_function=_link, symlinks=True)
            run(["depmod", "-b", made, self._release], package="kmod").require("depmod failed")
        root.inside.take(made / "lib/modules", "lib/modules")

    def _digest(self, root: Root) -> str:
        """The hash of everything the image is made of; the disk's identifiers come from it."""
        digest = hashlib.sha256(f"{__version__} {_LAYOUT} {epoch_s()} {self._request.kernel.sha256}".encode())
        digest.update(json.dumps([self._request.form, self._request.parameters, self._request.needs]).encode())
        for place in root.paths():
            path = root.folder / place
            digest.update(f"\0{place}\0{root.attributes(place)}\0".encode(errors="surrogateescape"))
            if path.is_symlink():
                digest.update(str(path.readlink()).encode())
            elif path.is_file():
                digest.update(path.read_bytes())
        return digest.hexdigest()

    def _parameters(self, identity: Identity) -> str:
        """Without the console, which the machine decides."""
        mode = "rw" if self._request.flavour == "debian" else "ro"
        root = (f"root=PARTUUID={identity.root_partition}", "rootfstype=ext4", "rootwait", mode)
        more = self._request.board.parameters(self._config) if self._request.board else ()
        return " ".join((*(root if self._request.form == "disk" else ()), *more, *self._request.parameters))

    def _disk(self, root: Root, identity: Identity) -> tuple[Path, BootFiles]:
        request, work = self._request, self._work
        first = None
        if initrd.is_needed(self._config):
            first = initrd.write_initrd(
                work / "initrd", work / "initrd.img", request.kernel.tree, self._release, request.architecture,
                identity.uuid,
            )  # fmt: skip
        boot = boot_files(
            work, request.kernel, request.architecture, uefi=request.uefi, initrd=first,
            parameters=self._parameters(identity), firmware=request.firmware, needs=request.needs,
        )  # fmt: skip
        boot.files["vmlinuz"] = self._kernel
        if first:
            boot.files["initrd.img"] = first
        # A root that is only read needs no journal; a root that is written to may lose power at any time.
        journal = request.flavour == "debian"
        ext4 = write_ext4(root, work / "root.img", uuid=identity.uuid, label="root", journal=journal)
        fat = write_fat(boot.files, work / "boot.img", identity.boot, spare_b=self._room_b)
        return write_disk(fat, ext4, work / "disk.img", identity, efi=request.uefi), boot

    def _archive(self, root: Root, _: Identity) -> tuple[Path, BootFiles]:
        packed = self._config.get("RD_GZIP") == "y"
        return write_cpio(root, self._work / "archive", compress=packed), BootFiles()

    def _parts(self, root: Root, packages: Sequence[Package]) -> list[sbom.ImagePackage]:
        request = self._request
        ours = ("usr/bin/rtqual-probe", "usr/lib/rtqual/report", "etc/init.d/rcS")
        modules = tuple(place for place in root.paths() if place.startswith(("lib/modules/", "usr/lib/modules/")))
        parts = [
            sbom.of_kernel(request.kernel, request.architecture, (*modules, "boot/vmlinuz")),
            sbom.ImagePackage("rtqual", __version__, licence="MIT", places=ours),
            *(sbom.of_package(package, request.architecture) for package in packages),
            *(sbom.installed(root) if request.flavour == "debian" else ()),
        ]  # fmt: skip
        return list({part.name: part for part in parts}.values())

    def _beside(self, boot: BootFiles) -> Mapping[str, Root]:
        """The boot partition's files, gathered to be listed."""
        return {"boot/": gathered(self._work / "listed", boot.files or {"vmlinuz": self._kernel})}


def _beside(out: Path, ending: str) -> Path:
    return out.with_name(out.name + ending)


def _link(source: str, target: str) -> None:
    """A file of the cache in the tree without copying it, where both are on one disk."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
