# SPDX-License-Identifier: MIT
"""What no dictionary holds and is filled into a command last, in the order asked for: length, count, checksum."""

from collections.abc import Sequence
from functools import reduce
from operator import xor

from rtqual.engine.dialogue.octets import crc16
from rtqual.protocols.dictionary import Refused

_HEADER = 6  # of a space packet, CCSDS 133.0-B
_SEQUENCE_BITS = 14
_CFE_CHECKSUM_AT = 7  # in cFE's secondary header of commands, after the function code


def sealed(octets: bytes, seals: Sequence[str], sequence: int) -> bytes:
    """Return the octets with these seals, in this order. `sequence`: the packet's count. Raises Refused."""
    packet = bytearray(octets)
    for name in seals:
        if name not in SEALS:
            raise Refused(f"there is no seal {name!r:.40}; there is {', '.join(SEALS)}")
        least = _CFE_CHECKSUM_AT if name == "cfe-checksum" else _HEADER  # a space packet has an octet behind its header
        if len(packet) <= least:
            raise Refused(f"{len(packet)} octets are no packet that could have {name}: it needs {least + 1}")
        SEALS[name](packet, sequence)
    return bytes(packet)


def _length(packet: bytearray, _: int) -> None:
    """The length of what follows the header, less one. A checksum that comes after it counts too."""
    packet[4:6] = (len(packet) - _HEADER - 1).to_bytes(2, "big")


def _sequence(packet: bytearray, sequence: int) -> None:
    """An unsegmented packet's flags, and its count."""
    packet[2:4] = (0b11 << _SEQUENCE_BITS | sequence % (1 << _SEQUENCE_BITS)).to_bytes(2, "big")


def _cfe_checksum(packet: bytearray, _: int) -> None:
    """All octets together, and 0xFF, come to nothing: cFE's CFE_MSG_ComputeCheckSum."""
    packet[_CFE_CHECKSUM_AT] = 0
    packet[_CFE_CHECKSUM_AT] = reduce(xor, packet, 0xFF)


def _crc16(packet: bytearray, _: int) -> None:
    """Two octets behind the packet, whose length counts them."""
    packet[4:6] = (len(packet) + 2 - _HEADER - 1).to_bytes(2, "big")
    packet += crc16(bytes(packet)).to_bytes(2, "big")


SEALS = {
    "ccsds-length": _length,
    "ccsds-sequence": _sequence,
    "cfe-checksum": _cfe_checksum,
    "crc16-ccitt": _crc16,
}
