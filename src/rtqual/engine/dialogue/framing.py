# SPDX-License-Identifier: MIT
"""How packets lie on a link: what is put round one that is sent, and how the octets that come are cut."""

import zlib
from collections.abc import Iterator

from rtqual.engine.dialogue.octets import cobs, from_cobs, packet_length
from rtqual.engine.mission.language_table import Framing

MOST_OCTETS = 1 << 20  # of a packet; what says that it is longer is no packet
_START, _START_OCTETS, _SIZE_AT, _HEAD, _CRC = 0xDEADBEEF, 4, 4, 8, 4


class OutOfStep(ValueError):
    """A stream in which no packet can be found any more."""


def framed(packet: bytes, framing: Framing) -> bytes:
    """Return the octets that go onto the link."""
    match framing:
        case Framing.FPRIME:
            whole = _START.to_bytes(4, "big") + len(packet).to_bytes(4, "big") + packet
            return whole + zlib.crc32(whole).to_bytes(_CRC, "big")
        case Framing.COBS:
            return cobs(packet)
    return packet


class Cut:
    """Cuts what comes, piece by piece. `held`: octets that are no whole packet yet."""

    def __init__(self, framing: Framing) -> None:
        self._framing, self.held = framing, bytearray()

    def take(self, octets: bytes) -> Iterator[bytes]:
        """Yield the packets that are whole now. Raises OutOfStep, after which nothing of the stream is taken."""
        if self._framing is Framing.DATAGRAMS:
            yield octets
            return
        self.held += octets
        while (packet := self._next()) is not None:
            yield packet

    def _next(self) -> bytes | None:
        match self._framing:
            case Framing.FPRIME:
                return self._frame()
            case Framing.COBS:
                end = self.held.find(0)
                if end < 0:
                    return self._waiting()
                packet = from_cobs(self._out(end + 1)[:-1])
                if packet is None:
                    raise OutOfStep("a frame of COBS that is damaged")
                return packet
        size = packet_length(self.held)
        return self._out(size) if size is not None and size <= len(self.held) else self._waiting()

    def _frame(self) -> bytes | None:
        if self.held[:_START_OCTETS] != _START.to_bytes(4, "big")[: len(self.held)]:
            raise OutOfStep(f"no frame begins with {self.held[:_HEAD].hex()}")
        if len(self.held) < _HEAD:
            return None
        size = int.from_bytes(self.held[_SIZE_AT:_HEAD], "big")
        if size > MOST_OCTETS:
            raise OutOfStep(f"a frame of {size:,} octets")
        if len(self.held) < _HEAD + size + _CRC:
            return self._waiting()
        whole = self._out(_HEAD + size + _CRC)
        if zlib.crc32(whole[:-_CRC]) != int.from_bytes(whole[-_CRC:], "big"):
            raise OutOfStep("a frame with a wrong checksum")
        return whole[_HEAD:-_CRC]

    def _waiting(self) -> bytes | None:
        if len(self.held) > MOST_OCTETS + _HEAD + _CRC:
            raise OutOfStep(f"no packet ends within {MOST_OCTETS:,} octets")
        return None

    def _out(self, octets: int) -> bytes:
        whole = bytes(self.held[:octets])
        del self.held[:octets]
        return whole
