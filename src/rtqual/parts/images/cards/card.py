# SPDX-License-Identifier: MIT
"""The card of a board without a network: candidates, jobs, and a boot loader that starts the first; and its results.

One FAT partition. What its jobs are and how they run is card_board.py; here it is written, and read again.
"""

import hashlib
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid5

from rtqual import __version__
from rtqual.base import unlinked
from rtqual.base.apt import Package
from rtqual.base.cache import sha256_file
from rtqual.base.errors import BadInput, RunFailed, naming
from rtqual.base.program import find
from rtqual.base.scratch import scratch
from rtqual.engine.boards.remote import tune
from rtqual.engine.boards.remote.link import FILE_MOST_B
from rtqual.engine.boards.remote.settings import STORE, Settings
from rtqual.engine.boards.remote.staged import NONCE, StagedFiles
from rtqual.engine.boards.remote.switch import VOLUME
from rtqual.engine.initramfs import remote
from rtqual.engine.initramfs.contents import names
from rtqual.parts.images import sbom
from rtqual.parts.images.bootpart import UEFI, BootFiles, add_device_trees, add_firmware, add_loader
from rtqual.parts.images.cards import card_board as card
from rtqual.parts.images.flash import Identity, for_mtools, write_disk, write_fat
from rtqual.parts.images.minimal import used
from rtqual.parts.images.root import epoch_s, gathered

_NAMESPACE = UUID("2f0a6f0e-0d0a-4b7c-9b2e-6c7f5f1f4c55")
_RESULT_B, _RESULTS_B = 2**20, 16 * 2**20  # left for results: of each cell, and besides
_KEY = re.compile(r"[0-9a-f]{32}")
_MOST_LISTED_B, _MOST_CARD_B = 10_000_000, 4 * 2**30  # of names; of results


@dataclass(frozen=True)
class Planned:
    """A cell: its candidate, its job's name, how long it may take, and what lies in the job's folder."""

    candidate: StagedFiles
    key: str
    most_s: int
    texts: Mapping[str, str]


@dataclass(frozen=True)
class Card:
    """A finished card."""

    path: Path
    sbom: Path
    sha256: str
    image_b: int
    cells: int
    candidates: tuple[str, ...]
    missing: tuple[str, ...]


def write(
    settings: Settings, cells: Sequence[Planned], firmware: Path | None, out: Path, tell: Callable[[str], None]
) -> Card:
    """The previous file stays until the new one is whole."""
    if not out.parent.is_dir():
        raise BadInput(f"--out {out}: there is no folder {out.parent}")
    if out.exists() and not out.is_file():
        raise BadInput(f"--out {out}: there is something else than a file; an image is written to a file")
    tell("preparing the card")
    candidates = list({planned.candidate.identity: planned.candidate for planned in cells}.values())
    try:
        with scratch(out.parent) as work:
            identity = _identity(settings, cells)
            boot = _files(settings, candidates, cells, identity, firmware, work)
            spare_b = _RESULTS_B + len(cells) * _RESULT_B
            fat = write_fat(boot.files, work / "boot.img", identity.boot, spare_b=spare_b)
            uefi = settings.switch == "systemd-boot"
            listing = sbom.write(work / "sbom", _inside(settings, candidates, boot, out.name, work))
            made = write_disk(fat, None, work / "disk.img", identity, efi=uefi)
            listing.replace(beside := out.with_name(f"{out.name}.spdx.json"))
            made.replace(out)
    except OSError as error:
        raise RunFailed(f"the card {out} cannot be written: {error.strerror or error}; what was there stays") from None
    names = tuple(candidate.kernel.candidate for candidate in candidates)
    return Card(out, beside, sha256_file(out), out.stat().st_size, len(cells), names, tuple(boot.missing))


def _inside(
    settings: Settings, candidates: Sequence[StagedFiles], boot: BootFiles, name: str, work: Path
) -> dict[str, object]:
    """The packages of kernels, boot loader and the candidates' systems, and each file of the card."""
    architecture = settings.architecture
    kernels = {
        candidate.kernel.package: Package(
            candidate.kernel.package, candidate.kernel.version, "", 0, candidate.kernel.image.parents[1]
        )
        for candidate in candidates
    }
    present = {Path(name).name for candidate in candidates for name in names(candidate.files["initramfs"])}
    parts = [
        *(sbom.of_kernel(package, architecture) for package in kernels.values()),
        sbom.ImagePackage("rtqual", __version__, licence="MIT"),
        *(
            sbom.of_package(package, architecture)
            for package in [*boot.packages, *used(remote.packages(architecture), present)]
        ),
    ]
    return sbom.document(name, parts, {"": gathered(work / "listed", boot.files)})


def _identity(settings: Settings, cells: Sequence[Planned]) -> Identity:
    """From all that lies on the card, so that the same inputs give the same bytes."""
    whole = hashlib.sha256(f"{settings!r} {epoch_s()}".encode())
    for planned in cells:
        whole.update(
            f"{planned.candidate.identity} {planned.key} {planned.most_s} {sorted(planned.texts.items())}".encode()
        )
    return Identity(uuid5(_NAMESPACE, whole.hexdigest()))


def _files(
    settings: Settings,
    candidates: Sequence[StagedFiles],
    cells: Sequence[Planned],
    identity: Identity,
    firmware: Path | None,
    work: Path,
) -> BootFiles:
    made, uefi = BootFiles(), settings.switch == "systemd-boot"
    texts = {
        f"{STORE}/{card.SCRIPT}": card.script(settings),
        f"{STORE}/{card.CELLS}": "".join(
            f"{planned.candidate.identity} {planned.key} {planned.most_s}\n" for planned in cells
        ),
        **{
            f"{STORE}/{card.JOBS}/{planned.key}/{name}": text
            for planned in cells
            for name, text in planned.texts.items()
        },
    }
    if settings.tune:
        texts[f"{STORE}/{card.TUNE}"] = tune.script()
    first = card.default(settings, candidates[0].identity)
    if uefi:
        add_loader(made, settings.architecture)
        texts["loader/loader.conf"] = f"{first}timeout 0\n"
    else:
        add_firmware(made, firmware)
        config = ("arm_64bit=1", "upstream_kernel=1", "enable_uart=1", first.rstrip(), "kernel=kernel")
        texts["config.txt"] = "\n".join((*config, "cmdline=cmdline.txt", "initramfs initramfs followkernel", ""))
    for candidate in candidates:
        folder = f"{STORE}/{candidate.identity}"
        made.files |= {f"{folder}/{name}": path for name, path in candidate.files.items()}
        parameters = _parameters(settings, candidate, identity)
        if uefi:
            lines = (f"title {candidate.kernel.candidate}", f"linux /{folder}/kernel", f"initrd /{folder}/initramfs")
            texts[f"{card.ENTRIES}/{candidate.identity}+{card.STARTS}.conf"] = "\n".join(
                (*lines, f"options {parameters}", "")
            )
        else:
            texts[f"{folder}/cmdline.txt"] = f"{parameters}\n"
            add_device_trees(made, candidate.kernel.image.parents[1], candidate.kernel.candidate, f"{folder}/")
    for number, (name, text) in enumerate(texts.items()):
        made.files[name] = work / f"text{number}"
        made.files[name].write_text(text)
    return made


def _parameters(settings: Settings, candidate: StagedFiles, identity: Identity) -> str:
    number = identity.boot.upper()
    watchdog = [f"rtqual.watchdog={settings.watchdog_s:.0f}"] if settings.watchdog_s else []
    own = [f"{VOLUME}={number[:4]}-{number[4:]}", f"{NONCE}={candidate.identity}", card.ASKED]
    # Which of them a board has is not known; the last is the one that card.sh writes to.
    consoles = "console=ttyS1,115200 console=tty0"
    if settings.switch == "systemd-boot":
        consoles = f"console=tty0 console={UEFI[settings.architecture].console}"
    return " ".join([consoles, "panic=5", *candidate.parameters, *watchdog, *own])


def results(source: Path, folder: Path) -> tuple[Path, list[str]]:
    """The folder that has a card's results, and the names of the jobs there. `source`: where the card is mounted, its
    device, or its image, whose results copy() puts below `folder`."""
    if source.is_dir():
        return source, [name for name in unlinked.names(source, f"{STORE}/{card.JOBS}") if _KEY.fullmatch(name)]
    if not source.exists():
        raise BadInput(f"{source}: there is no such card: a folder, a device or an image")
    if not (source.is_file() or source.is_block_device()):
        raise BadInput(f"{source}: is neither a folder, a device nor an image: mtools would wait for ever")
    listed = _mtools("mdir", "-b", source, "", _MOST_LISTED_B)
    if listed is None:
        raise BadInput(f"{source}: is no card that `rtqual image --self-measuring` made: it has no {STORE}/{card.JOBS}")
    if len(listed) > _MOST_LISTED_B:
        raise BadInput(f"{source}: has more jobs than a card can have")
    found = (line.strip().rstrip("/").rpartition("/")[2] for line in listed.decode(errors="replace").splitlines())
    return folder, sorted({name for name in found if _KEY.fullmatch(name)})


def copy(source: Path, folder: Path, keys: Sequence[str]) -> None:
    """Results of these jobs, to where results() says; nothing on the card says where. One that is longer than any is
    cut, and so no longer what the board packed."""
    left_b = _MOST_CARD_B
    for key in () if source.is_dir() else keys:
        for name in (card.SUM, card.RESULT):
            content = _mtools("mtype", "", source, f"/{key}/{name}", min(FILE_MOST_B, left_b))
            if content is None:
                break
            left_b = max(0, left_b - len(content))
            unlinked.write(folder, f"{STORE}/{card.JOBS}/{key}/{name}", content)


def _mtools(program: str, option: str, disk: Path, place: str, most_b: int) -> bytes | None:
    """What mtools prints of a place among the card's jobs, `most_b` + 1 bytes at most; None where there is none."""
    with for_mtools(disk) as (part, beside):
        words = [find(program, "mtools"), *([option] if option else []), "-i", part, f"::{STORE}/{card.JOBS}{place}"]
        with (
            naming(disk),
            subprocess.Popen(
                words, cwd=beside, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            ) as process,
        ):
            assert process.stdout  # noqa: S101 a pipe
            content = process.stdout.read(most_b + 1)
            if len(content) > most_b:
                process.kill()
    return content if process.returncode == 0 or len(content) > most_b else None
