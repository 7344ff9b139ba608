# SPDX-License-Identifier: MIT
"""What the flight program's packets are made of: times, checksums, authentication tags, and the ways in which tests
damage them."""

import hashlib
import hmac
from collections.abc import Iterator

from rtqual.engine.dialogue.octets import crc16, packet_length

TIME_FIELD = 0x2F  # CUC: an epoch of one's own, 4 octets of seconds, 3 of fractions
COUNTER_OCTETS, TAG_OCTETS = 8, 16
CRC_OCTETS = 2
TC_HEADER, TM_HEADER = 11, 21  # with the secondary header


def sealed(packet: bytes) -> bytes:
    """With its checksum."""
    return packet + crc16(packet).to_bytes(CRC_OCTETS, "big")


def time_octets(time_ns: int) -> bytes:
    """CUC with P-field of ns since the epoch."""
    seconds, rest = divmod(time_ns, 10**9)
    return bytes([TIME_FIELD]) + seconds.to_bytes(4, "big") + ((rest << 24) // 10**9).to_bytes(3, "big")


def time_ns(octets: bytes) -> int:
    """The reverse, to 60 ns. Raises ValueError for another form of time."""
    if len(octets) != 8 or octets[0] != TIME_FIELD:
        raise ValueError("no CUC time with 4 octets of seconds and 3 of fractions")
    fraction = int.from_bytes(octets[5:], "big") * 10**9
    return int.from_bytes(octets[1:5], "big") * 10**9 + (fraction + (1 << 23) >> 24)


def packets(stream: bytearray) -> Iterator[bytes]:
    """The whole packets at the front of a stream, which are taken out of it. A TCP stream has no other framing."""
    while (length := packet_length(stream)) is not None and length <= len(stream):
        yield bytes(stream[:length])
        del stream[:length]


def authenticated(packet: bytes, key: bytes, counter: int) -> bytes:
    """A telecommand without its checksum gets a counter, which has to rise from one to the next, and the first half of
    HMAC-SHA256 over everything before; the header's length is set to what it will be."""
    whole = bytearray(packet + counter.to_bytes(COUNTER_OCTETS, "big"))
    whole[4:6] = (len(whole) + TAG_OCTETS + CRC_OCTETS - 7).to_bytes(2, "big")
    return bytes(whole) + hmac.digest(key, whole, hashlib.sha256)[:TAG_OCTETS]


def damaged(packet: bytes, how: str) -> bytes:
    """A telecommand as it must not be run. `how`: one of DAMAGES, or tag, where it has one; all but crc and truncated
    have a right checksum."""
    raw = bytearray(packet)
    match how:
        case "crc":
            raw[-1] ^= 1
            return bytes(raw)
        case "truncated":
            return bytes(raw[: max(len(raw) // 2, 1)])
        case "length":
            raw[4:6] = (int.from_bytes(raw[4:6], "big") + 1).to_bytes(2, "big")
        case "apid":
            raw[1] ^= 1
        case "version":
            raw[0] ^= 0x20
        case "flags":
            raw[2] &= 0x3F
        case "tag":
            raw[-CRC_OCTETS - 1] ^= 1
        case _:
            raise ValueError(f"there is no damage {how}: {', '.join(DAMAGES)}, tag")
    return sealed(bytes(raw[:-CRC_OCTETS]))


DAMAGES = ("crc", "length", "apid", "version", "truncated", "flags")
