# SPDX-License-Identifier: MIT
"""How packets lie on a link: whatever pieces a stream comes in, and whatever its octets are."""

import random
from contextlib import suppress

import pytest

from rtqual.engine.dialogue.framing import Cut, OutOfStep, framed
from rtqual.engine.mission.language_table import Framing

PACKETS = [bytes([8, 42, 192, n, 0, n]) + bytes(range(n + 1)) for n in range(20)]
STREAMS = [Framing.SPACE_PACKETS, Framing.FPRIME, Framing.COBS]


def taken(framing: Framing, pieces: list[bytes]) -> list[bytes]:
    cut = Cut(framing)
    return [packet for piece in pieces for packet in cut.take(piece)]


@pytest.mark.parametrize("framing", STREAMS)
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_packets_come_whole_out_of_any_pieces(framing: Framing, size: int) -> None:
    stream = b"".join(framed(packet, framing) for packet in PACKETS)
    assert taken(framing, [stream[at : at + size] for at in range(0, len(stream), size)]) == PACKETS


def test_a_datagram_is_a_packet() -> None:
    assert taken(Framing.DATAGRAMS, [b"ab", b"c"]) == [b"ab", b"c"]


@pytest.mark.parametrize(
    ("framing", "octets", "why"),
    [
        (Framing.FPRIME, b"\xde\xad\xbe\xee", "no frame begins"),
        (Framing.FPRIME, b"\xde\xad\xbe\xef\xff\xff\xff\xff", "a frame of 4,294,967,295 octets"),
        (Framing.FPRIME, framed(b"abc", Framing.FPRIME)[:-1] + b"\0", "wrong checksum"),
        (Framing.COBS, b"\x05a\0", "damaged"),
    ],
)
def test_a_stream_out_of_step_is_told(framing: Framing, octets: bytes, why: str) -> None:
    with pytest.raises(OutOfStep, match=why):
        taken(framing, [octets])


@pytest.mark.parametrize("framing", STREAMS)
def test_a_stream_that_never_ends_is_not_kept(framing: Framing) -> None:
    """An octet that is no frame's end, again and again."""
    cut = Cut(framing)
    with suppress(OutOfStep):
        for _ in range(70):
            list(cut.take(b"\x01" * 65536))
    assert len(cut.held) < 3 << 20


@pytest.mark.parametrize("framing", STREAMS)
def test_any_octets_are_cut_or_refused(framing: Framing) -> None:
    rng = random.Random(5)  # noqa: S311
    good = b"".join(framed(packet, framing) for packet in PACKETS)
    for _ in range(500):
        octets = bytearray(good)
        for _ in range(rng.randint(1, 8)):
            octets[rng.randrange(len(octets))] = rng.randrange(256)
        with suppress(OutOfStep):
            taken(framing, [bytes(octets)])
