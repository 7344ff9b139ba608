# SPDX-License-Identifier: MIT
"""What packets are made of, whatever program they are for: lengths, checksums, frames on a serial line."""

from binascii import crc_hqx

_PRIMARY_OCTETS = 6  # CCSDS 133.0-B


def crc16(data: bytes) -> int:
    """CRC-16/CCITT-FALSE (ECSS-E-ST-70-41C, annex B): 0 over a packet with its checksum."""
    return crc_hqx(data, 0xFFFF)


def packet_length(stream: bytes | bytearray) -> int | None:
    """How long the packet at the start is by its header; None: the header is not whole yet."""
    return int.from_bytes(stream[4:6], "big") + 7 if len(stream) >= _PRIMARY_OCTETS else None


def cobs(data: bytes) -> bytes:
    """Consistent overhead byte stuffing (Cheshire and Baker, 1999): no zeros; one ends the frame."""
    out, block = bytearray(), bytearray()
    for number in data:
        if number:
            block.append(number)
        if not number or len(block) == 254:
            out += bytes([len(block) + 1]) + block
            full = number != 0
            block.clear()
        else:
            full = False
    if not data or block or not full:
        out += bytes([len(block) + 1]) + block
    return bytes(out) + b"\0"


def from_cobs(frame: bytes) -> bytes | None:
    """Of a frame without the zero that ends it; None: it is damaged."""
    out, at = bytearray(), 0
    while at < len(frame):
        code = frame[at]
        if not code or at + code > len(frame):
            return None
        out += frame[at + 1 : at + code]
        at += code
        if code < 255 and at < len(frame):
            out.append(0)
    return bytes(out)
