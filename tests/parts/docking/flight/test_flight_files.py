# SPDX-License-Identifier: MIT
"""Files come down whole: the sender of CFDP class 2 against the receiver of cfdp-py, over a link that loses packets."""

import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from spacepackets import countdown
from spacepackets.cfdp import ChecksumType, ConditionCode, DeliveryCode, FileStatus
from spacepackets.cfdp.pdu import AckPdu, FinishedPdu, MetadataPdu
from spacepackets.cfdp.pdu.finished import FinishedParams
from spacepackets.cfdp.pdu.helper import PduFactory

from rtqual_docking.packets import packet_octets as octets
from support.cfdp_receiver import Receiver
from support.flight_link import DEFINITION, PATIENCE_S, Program, command, start
from support.flight_programs import flight_program

FRAME_BYTES = 307_200
FUZZ = 1_000_000

__all__ = ["start"]  # a fixture


class Sender:
    """flight_cfdp at a time of its own."""

    def __init__(self, file: Path) -> None:
        self._process = subprocess.Popen(
            [flight_program("flight_cfdp"), file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.at_ms = 0
        self.end = "."

    def say(self, text: str) -> list[bytes]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(text + "\n")
        self._process.stdin.flush()
        pdus = []
        while (line := self._process.stdout.readline().strip()) not in (".", "received", "lost"):
            assert line, "it ended"
            pdus.append(bytes.fromhex(line))
        self.end = line if line != "." else self.end
        return pdus

    def later(self, ms: int) -> list[bytes]:
        self.at_ms += ms
        return self.say(f"at {self.at_ms}")

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        assert self._process.wait() == 0
        self._process.stdout.close()


def sent_down(
    folder: Path, content: bytes, lost: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> tuple[Sender, Receiver, Counter[bool]]:
    """To the end of both. Counts PDUs by whether they were lost."""
    (folder / "here").write_bytes(content)
    there = folder / "there"
    there.mkdir()
    sender, counts = Sender(folder / "here"), Counter[bool]()
    monkeypatch.setattr(countdown, "time_ms", lambda: sender.at_ms)  # one time for both
    receiver = Receiver(there)
    down: list[bytes] = []
    for _ in range(100_000):
        down += sender.later(20)
        up: list[bytes] = []
        for pdu in [*down, None]:
            gone = pdu is not None and lost()
            counts[gone] += pdu is not None
            up += [] if gone else receiver.take(pdu)
        down = []
        for pdu in up:
            gone = lost()
            counts[gone] += 1
            down += [] if gone else sender.say(pdu.hex())
        if receiver.finished and sender.end != ".":
            break
    sender.close()
    return sender, receiver, counts


@pytest.mark.parametrize(("share", "octets"), [(0.0, FRAME_BYTES), (0.1, FRAME_BYTES), (0.4, 9601), (0.0, 0)])
def test_what_arrives_is_what_was_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float, octets: int
) -> None:
    draw = random.Random(1)  # noqa: S311 - not for secrets
    content = draw.randbytes(octets)
    sender, receiver, counts = sent_down(tmp_path, content, lambda: draw.random() < share, monkeypatch)
    assert sender.end == "received"
    assert receiver.finished is not None
    assert (tmp_path / "there/frame").read_bytes() == content
    assert bool(counts[True]) is bool(share)


def test_a_receiver_without_crc_32_gets_it_by_the_checksum_that_all_know(tmp_path: Path) -> None:
    """What Yamcs 5.13 says, said by spacepackets; then cfdp-py checks the sum."""
    content = random.Random(6).randbytes(9601)  # noqa: S311 - not for secrets; no whole number of words
    (tmp_path / "here").write_bytes(content)
    (tmp_path / "there").mkdir()
    sender = Sender(tmp_path / "here")
    first = PduFactory.from_raw(sender.later(20)[0])
    assert isinstance(first, MetadataPdu) and first.checksum_type is ChecksumType.CRC_32
    refusal = FinishedPdu(
        first.pdu_header.pdu_conf,
        FinishedParams(
            condition_code=ConditionCode.UNSUPPORTED_CHECKSUM_TYPE,
            delivery_code=DeliveryCode.DATA_INCOMPLETE,
            file_status=FileStatus.DISCARDED_DELIBERATELY,
        ),
    )
    (acknowledged,) = [PduFactory.from_raw(one) for one in sender.say(bytes(refusal.pack()).hex())]
    assert isinstance(acknowledged, AckPdu) and acknowledged.transaction_seq_num == first.transaction_seq_num
    assert sender.end == "."
    receiver, types = Receiver(tmp_path / "there"), []
    while sender.end == ".":
        for pdu in [*sender.later(20), None]:
            one = PduFactory.from_raw(pdu) if pdu else None
            types += [one.checksum_type] if isinstance(one, MetadataPdu) else []
            for answer in receiver.take(pdu):
                sender.say(answer.hex())
    assert (sender.end, types) == ("received", [ChecksumType.MODULAR])
    assert (tmp_path / "there/frame").read_bytes() == content
    sender.close()


def test_a_receiver_that_is_not_there_ends_it(tmp_path: Path) -> None:
    (tmp_path / "here").write_bytes(bytes(5000))
    sender = Sender(tmp_path / "here")
    sent = 0
    while sender.end == "." and sender.at_ms < 100_000:
        sent += len(sender.later(100))
    assert sender.end == "lost"
    assert sent == 1 + 6 + 20, "metadata, the file and twenty ends"
    sender.close()


@pytest.mark.guest
def test_a_file_comes_down_whole_though_a_tenth_of_the_packets_is_lost(
    start: Callable[..., Program], tmp_path: Path
) -> None:
    draw = random.Random(4)  # noqa: S311
    content = draw.randbytes(200_000)
    (tmp_path / "frame").write_bytes(content)
    (tmp_path / "there").mkdir()
    receiver, lost, taken = Receiver(tmp_path / "there"), 0, 0
    ground = start(f"--frame={tmp_path}/frame").connect()
    ground.send(command("SEND_FILE", 1, file="LOG"))
    ground.until("FAILED", failure="NOT_THERE")
    ground.send(command("SEND_FILE", 2, file="FRAME"))
    ground.send(command("SEND_FILE", 3, file="FRAME"))
    ground.until("FAILED", failure="BUSY")
    end, number = time.monotonic() + PATIENCE_S, 0
    while not any(one.name in ("COMPLETED", "FAILED") and one.request == b"\x18\x42\xc0\x02" for one in ground.reports):
        assert time.monotonic() < end and ground.open
        ground.take(0.05)
        for pdu in [*ground.pdus[taken:], None]:
            if pdu and draw.random() < 0.1:
                lost += 1
                continue
            for answer in receiver.take(pdu):
                number += 1
                if draw.random() < 0.1:
                    lost += 1
                else:
                    head = bytes([0x10, DEFINITION.apid + 1, 0xC0 | number >> 8, number & 255, 0, len(answer) + 1])
                    ground.send(octets.sealed(head + answer))
        taken = len(ground.pdus)
    assert lost > 10
    assert (tmp_path / "there/frame").read_bytes() == content
    assert [one.name for one in ground.reports if one.request == b"\x18\x42\xc0\x02"][-1] == "COMPLETED"


def _fuzzed(seed: int, count: int) -> None:
    command = [flight_program("flight_cfdp-asan"), "--fuzz", str(seed), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > count // 20, "most of them reach what they are for"


@pytest.mark.guest
def test_no_octets_from_a_receiver_do_harm() -> None:
    _fuzzed(1, 20_000)


@pytest.mark.manual
def test_no_octets_from_a_receiver_do_harm_a_million_times() -> None:
    _fuzzed(2, FUZZ)
