# SPDX-License-Identifier: MIT
"""The ground receives files by CFDP class 2: from the flight program over a link that loses packets, and from PDUs that
another library makes and reads."""

import random
import socket
import subprocess
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from spacepackets.cfdp import ChecksumType, ConditionCode, DeliveryCode, TransmissionMode
from spacepackets.cfdp.conf import PduConfig
from spacepackets.cfdp.defs import FileStatus
from spacepackets.cfdp.pdu import (
    AckPdu,
    DirectiveType,
    EofPdu,
    FileDataPdu,
    FinishedPdu,
    MetadataPdu,
    NakPdu,
    TransactionStatus,
)
from spacepackets.cfdp.pdu.file_data import FileDataParams
from spacepackets.cfdp.pdu.helper import PduFactory
from spacepackets.cfdp.pdu.metadata import MetadataParams
from spacepackets.util import ByteFieldU8, ByteFieldU32

from rtqual.engine.dialogue.octets import crc16
from rtqual.engine.procedure.transfers import CONDITIONS, File
from rtqual_docking.packets import packet_octets as octets
from support.built import built
from support.flight_link import DEFINITION, PATIENCE_S, Program, command, start
from support.flight_programs import flight_program
from support.ground_log import TOP

__all__ = ["start"]  # a fixture

FRAME_BYTES = 307_200


@contextmanager
def ground(folder: Path, port: int, script: str, *options: str) -> Iterator[Path]:
    """Its log, which has each line at once; the ground is ended by force."""
    program = built(TOP / "docking/ground", "rtqual-ground-asan") / "rtqual-ground-asan"
    (folder / "script").write_text(f"{script}600000000000 end\n")
    log = folder / "log"
    log.write_text("")
    played = subprocess.Popen(
        [program, f"--port={port}", f"--script={folder}/script", f"--log={log}", "--now-ns=1", *options]
    )
    yield log
    assert played.poll() is None, "no sanitizer ended it"
    played.kill()
    played.wait()


def files(log: Path, count: int = 1) -> list[File]:
    """The first so many that ended."""
    end = time.monotonic() + PATIENCE_S
    while len(rows := [one.split(" ", 2)[2] for one in log.read_text().splitlines() if " file " in one]) < count:
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.05)
    read = [File.read(row) for row in rows[:count]]
    assert all(read), rows
    return [one for one in read if one]


def sent_by(program: Program, folder: Path, share: int) -> File:
    (folder / "frame").write_bytes(random.Random(4).randbytes(FRAME_BYTES))  # noqa: S311
    script = f"0 lose {share}\n0 send {command('SEND_FILE', 1, file='FRAME').hex()}\n"
    with ground(folder, program.port, script, f"--file={folder}/frame", "--patience-ms=60000") as log:
        return files(log)[0]


@pytest.mark.guest
@pytest.mark.parametrize("share", [0, 10, 40])
def test_a_file_comes_whole_whatever_is_lost(start: Callable[..., Program], tmp_path: Path, share: int) -> None:
    file = sent_by(start(f"--frame={tmp_path}/frame"), tmp_path, share)
    assert (file.wrong, file.name, file.octets, file.differ) == ("", "frame", FRAME_BYTES, 0)
    assert file.missing == 0
    assert (file.lost > 2 * share, file.asked > 2 * share) == (share > 0, share > 0)
    if not share:
        assert file.packets == 1 + 320 + 1 + 1, "metadata, pieces, its end, and an answer"


@pytest.mark.guest
@pytest.mark.parametrize(("which", "why"), [(7, "1 of its octets differ from the board's"), (8, CONDITIONS[7])])
def test_a_sabotaged_program_is_found_out(start: Callable[..., Program], tmp_path: Path, which: int, why: str) -> None:
    """7 sends a wrong octet with a checksum that fits it; 8 sends nothing again."""
    program = start(f"--frame={tmp_path}/frame", executable=flight_program(f"ds325-flight-sabotage{which}"))
    assert sent_by(program, tmp_path, 10).wrong == why


class Board:
    """A flight program's end of the link, by hand."""

    def __init__(self, link: socket.socket) -> None:
        self._link, self._stream, self._sent = link, bytearray(), 0
        self._came: list[bytes] = []
        self.of = PduConfig(ByteFieldU8(1), ByteFieldU8(2), ByteFieldU32(77), TransmissionMode.ACKNOWLEDGED)

    def send(self, pdu: bytes, *, skipped: int = 0) -> None:
        self._sent += skipped
        head = (DEFINITION.apid + 1).to_bytes(2, "big") + (0xC000 | self._sent).to_bytes(2, "big")
        self._link.sendall(octets.sealed(head + (len(pdu) + 1).to_bytes(2, "big") + pdu))
        self._sent += 1

    def metadata(self, size: int, name: str = "frame", kind: ChecksumType = ChecksumType.CRC_32) -> None:
        self.send(bytes(MetadataPdu(self.of, MetadataParams(False, kind, size, name, name)).pack()))

    def data(self, content: bytes, at: int) -> None:
        self.send(bytes(FileDataPdu(self.of, FileDataParams(content, at)).pack()))

    def end(self, content: bytes, size: int | None = None) -> None:
        self.send(bytes(EofPdu(self.of, zlib.crc32(content), len(content) if size is None else size).pack()))

    def acknowledge(self) -> None:
        pdu = AckPdu(self.of, DirectiveType.FINISHED_PDU, ConditionCode.NO_ERROR, TransactionStatus.TERMINATED)
        self.send(bytes(pdu.pack()))

    def next(self, kind: type) -> object:
        """The next of this kind; each one that comes is a packet and a PDU of this transaction."""
        while True:
            while self._came:
                packet = self._came.pop(0)
                assert crc16(packet) == 0 and packet[:2] == (0x1000 | DEFINITION.apid + 1).to_bytes(2, "big")
                pdu = PduFactory.from_raw(packet[6:-2])
                assert pdu is not None and pdu.transaction_seq_num == self.of.transaction_seq_num
                if isinstance(pdu, kind):
                    return pdu
            got = self._link.recv(65536)
            assert got
            self._stream += got
            self._came += octets.packets(self._stream)


@contextmanager
def board(folder: Path, content: bytes = b"") -> Iterator[tuple[Board, Path]]:
    (folder / "file").write_bytes(content)
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        ground(folder, listener.getsockname()[1], "", f"--file={folder}/file") as log,
    ):
        listener.settimeout(PATIENCE_S)
        with listener.accept()[0] as link:
            link.settimeout(PATIENCE_S)
            yield Board(link), log


def test_what_is_missing_is_asked_for_and_said_in_ccsds_words(tmp_path: Path) -> None:
    content = random.Random(2).randbytes(2500)  # noqa: S311
    with board(tmp_path, content) as (link, log):
        link.data(content[500:1200], 500)
        link.data(content[900:1700], 900)  # some of it again
        link.end(content)
        acknowledged, asked = link.next(AckPdu), link.next(NakPdu)
        assert isinstance(acknowledged, AckPdu) and isinstance(asked, NakPdu)
        assert acknowledged.directive_code_of_acked_pdu == DirectiveType.EOF_PDU
        assert (asked.start_of_scope, asked.end_of_scope) == (0, 2500)
        assert asked.segment_requests == [(0, 0), (0, 500), (1700, 2500)]
        again = link.next(NakPdu)
        assert isinstance(again, NakPdu) and again.segment_requests == asked.segment_requests, "nobody answered"
        link.metadata(2500, "a b/../\x1b[2J")
        link.data(content[1700:], 1700)
        link.data(content[:500], 0)
        for _ in range(2):  # it says so until that is heard
            finished = link.next(FinishedPdu)
            assert isinstance(finished, FinishedPdu)
            assert (finished.condition_code, finished.delivery_code, finished.file_status) == (
                ConditionCode.NO_ERROR, DeliveryCode.DATA_COMPLETE, FileStatus.FILE_STATUS_UNREPORTED,
            )  # fmt: skip
        link.acknowledge()
        (file,) = files(log)
    assert file == File(77, 0, "a_b_..___2J", 2500, 0, 7, 0, 0, file.asked)
    assert file.asked >= 6
    assert f"{zlib.crc32(content):08x}" in log.read_text()
    assert not [one for one in tmp_path.iterdir() if one.name not in ("file", "log", "log.start", "script")]


CONTENT = bytes(range(200)) * 4
ENDINGS: dict[str, tuple[Callable[[Board], None], int]] = {
    "another checksum": (lambda link: (link.data(CONTENT, 0), link.end(CONTENT[::-1]))[0], 5),
    "longer than said": (lambda link: link.data(CONTENT, 1), 6),
    "shorter than said": (lambda link: (link.data(CONTENT[:10], 0), link.end(CONTENT[:10]))[0], 6),
    "beyond all files": (lambda link: link.data(CONTENT, 2**32 - 500), 4),
    "an unknown checksum": (lambda link: link.metadata(800, kind=ChecksumType.MODULAR), 11),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_not_the_file_is_told_with_its_condition(tmp_path: Path, ending: str) -> None:
    done, condition = ENDINGS[ending]
    with board(tmp_path, CONTENT) as (link, log):
        if condition != 11:
            link.metadata(800)
        done(link)
        finished = link.next(FinishedPdu)
        assert isinstance(finished, FinishedPdu) and finished.condition_code == condition
        assert finished.delivery_code is DeliveryCode.DATA_INCOMPLETE
        link.acknowledge()
        (file,) = files(log)
    assert (file.condition, file.wrong) == (condition, CONDITIONS[condition])


def test_packets_that_never_came_and_octets_that_differ_are_counted(tmp_path: Path) -> None:
    with board(tmp_path, CONTENT[:-3] + b"xx") as (link, log):
        link.metadata(800)
        link.send(bytes(FileDataPdu(link.of, FileDataParams(CONTENT, 0)).pack()), skipped=5)
        link.end(CONTENT)
        link.next(FinishedPdu)
        link.acknowledge()
        (file,) = files(log)
    assert (file.condition, file.missing, file.differ) == (0, 5, 3)
    assert "never came" in file.wrong


def test_what_is_no_pdu_of_a_file_stands_in_the_log_as_it_came(tmp_path: Path) -> None:
    with board(tmp_path) as (link, log):
        link.send(bytes(20))
        end = time.monotonic() + PATIENCE_S
        while " recv 0043" not in log.read_text():
            assert time.monotonic() < end
            time.sleep(0.05)
        link.metadata(0)
        link.end(b"")
        link.next(FinishedPdu)
        link.acknowledge()
        assert files(log)[0].wrong == ""
