# SPDX-License-Identifier: MIT
"""`rtqual serial`."""

import os
import socket
from contextlib import suppress

from rtqual.base.errors import BadInput
from rtqual.face.commands.app import tell


def serial(line: str, /, *, port: int = 10025, baud: int = 115200) -> int:
    """Carry the flight program's serial line to a TCP port, for Yamcs and others (docs/docking/ground.md).

    Parameters
    ----------
    line
        A device, as /dev/ttyUSB0; or HOST:PORT, as of a guest's `-chardev socket,server=on`.
    port
        Where grounds connect to, on this machine only.
    baud
        The device's speed; 0 leaves it.
    """
    from rtqual_docking.yamcs.serial import BAUDS, Carrier, opened  # noqa: PLC0415

    if baud and baud not in BAUDS:
        raise BadInput(f"--baud {baud}: no such speed; write one of {', '.join(map(str, sorted(BAUDS)))}")
    if not 0 < port < 65536:
        raise BadInput(f"--port {port}: write a TCP port, 1 to 65535")
    fd = opened(line, baud)
    try:
        try:
            server = socket.create_server(("127.0.0.1", port))
        except OSError as error:
            raise BadInput(f"--port {port}: {error.strerror}; give another") from None
        with server:
            tell(f"{line}: carried to 127.0.0.1:{port}; Ctrl-C ends it")
            with suppress(KeyboardInterrupt):
                Carrier(fd, server, tell).run()
    finally:
        os.close(fd)
    return 0
