# SPDX-License-Identifier: MIT
"""`rtqual image`."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from rtqual.engine.mission import DEFAULT_SCALE, Mission, load_mission
from rtqual.face.commands.app import LITERAL, Json, print_json, tell


def image(
    mission: Path,
    /,
    *,
    kernel: str | None = None,
    out: Path,
    flavour: Literal["minimal", "debian", "both"] = "minimal",
    architecture: Literal["amd64", "arm64", "armhf"] | None = None,
    form: Literal["disk", "initramfs"] = "disk",
    package: tuple[str, ...] = (),
    module: tuple[str, ...] = (),
    overlay: Path | None = None,
    firmware: Path | None = None,
    board: str | None = None,
    key: Path | None = None,
    address: str = "",
    gateway: str = "",
    self_measuring: Annotated[bool, Parameter(negative="")] = False,
    scale: str = DEFAULT_SCALE,
    run_programs: Annotated[bool, Parameter(negative="")] = False,
    boot: Annotated[bool, Parameter(negative="")] = False,
    as_json: Json = False,
) -> int:
    """Make a system image for a flight disk, with a list of what is inside (docs/image.md).

    Parameters
    ----------
    mission
        The mission file; its needs say which drivers and packages go in.
    kernel
        A candidate of the mission, or a Debian package of a kernel; with --self-measuring, the plans' candidates.
    out
        The image's file; with --flavour both, the folder of the two.
    flavour
        The root: busybox only, Debian, or both of them, booted and compared.
    architecture
        amd64 unless given; arm64 is laid out for the Raspberry Pi 3 and 4, armhf for the 2 to 4.
    form
        A disk with a boot partition and a root, or an initial RAM file system alone.
    package
        A further Debian package; may be repeated.
    module
        A further kernel module, loaded at boot; may be repeated.
    overlay
        A folder whose files are laid over the root: flight software, keys.
    firmware
        The Raspberry Pi's: a folder, or Debian's package raspi-firmware.
    board
        A board of the mission: the image is its known-good system, reached over ssh.
    key
        The file of the public key that may log in to the board.
    address
        The board's, as 192.168.7.20/24; by DHCP unless given.
    gateway
        The board's way out, beside its address.
    self_measuring
        For a board without a network: a card that runs the board's plans by itself (docs/boards.md).
    scale
        With --self-measuring: how much to measure, a [scale.NAME] of the mission.
    run_programs
        With --self-measuring: let the programs and loads run there that the mission brings (docs/programs.md).
    boot
        Boot the image in QEMU and say how much memory it takes; a Raspberry Pi's on an emulated one, and what works
        there: with --self-measuring until its first cell is measured.
    """
    from rtqual.base.architecture import AMD64  # noqa: PLC0415
    from rtqual.base.errors import BadInput  # noqa: PLC0415
    from rtqual.parts.images import image_trial, two_roots  # noqa: PLC0415
    from rtqual.parts.images.assembly import build  # noqa: PLC0415
    from rtqual.parts.images.known_good import for_board  # noqa: PLC0415
    from rtqual.parts.images.request import request_for  # noqa: PLC0415
    from rtqual.parts.images.words import as_dict, print_images  # noqa: PLC0415

    loaded, whose = load_mission(mission), None
    if self_measuring:
        return _card(loaded, scale, board, out, firmware, lets=run_programs, boot=boot, as_json=as_json)
    if kernel is None:
        raise BadInput("--kernel is missing: a candidate of the mission, or a Debian package of a kernel")
    if board is not None:
        named = {board.name: board.settings for board in loaded.boards}
        whose = for_board(named, board, flavour=flavour, form=form, key=key, address=address, gateway=gateway)
        if architecture not in (None, whose.settings.architecture.name):
            raise BadInput(f"--architecture {architecture}: board {board} is {whose.settings.architecture.name}")
    elif key or address or gateway:
        raise BadInput("--key, --address and --gateway are for --board")
    request = request_for(
        loaded,
        kernel,
        architecture=whose.settings.architecture.name if whose else architecture or AMD64.name,
        flavour="minimal" if flavour == "both" else flavour,
        form=form,
        packages=package,
        modules=module,
        overlay=overlay,
        firmware=firmware,
        board=whose,
    )
    if flavour == "both":
        measured = two_roots.two_roots(request, out, tell)
    else:
        made = build(request, out, tell)
        if boot:
            tell("booting the image")
        measured = {flavour: two_roots.MeasuredImage(made, image_trial.boot(made) if boot else None)}
    if as_json:
        print_json(as_dict(measured))
    else:
        print_images(LITERAL, measured)
    return (
        1 if any(image.booted and image.booted.tried and image.booted.tried.fails for image in measured.values()) else 0
    )


def _card(
    mission: Mission,
    scale: str,
    board: str | None,
    out: Path,
    firmware: Path | None,
    *,
    lets: bool,
    boot: bool,
    as_json: bool,
) -> int:
    from rtqual.base.errors import BadInput  # noqa: PLC0415
    from rtqual.parts.images.cards import card_trial  # noqa: PLC0415
    from rtqual.parts.images.cards import stage as card  # noqa: PLC0415
    from rtqual.parts.images.cards.words import card_dict, card_lines  # noqa: PLC0415

    if board is None:
        raise BadInput("--self-measuring: --board is missing: the board without a network")
    made = card.write(mission, scale, board, out, firmware, tell, run_programs=lets, to_try=boot)
    if boot:
        tell("the card measures its first cell in QEMU")
    tried = card_trial.boot(made) if boot else None
    if as_json:
        print_json(card_dict(made, tried))
    else:
        for line in card_lines(made, tried):
            LITERAL.print(line, soft_wrap=True, highlight=False)
    return 0
