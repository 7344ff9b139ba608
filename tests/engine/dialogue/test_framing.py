# SPDX-License-Identifier: MIT
"""How packets lie on a link: whatever pieces a stream comes in, and whatever its octets are."""

import random
import re
from collections import Counter
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


def changed(stream: bytes, rng: random.Random) -> tuple[bytes, int]:
    """The stream with up to eight places changed, lost, there twice or added, and the first of these."""
    octets, first = bytearray(stream), len(stream)
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(octets))
        first = min(first, at)
        octets[at : at + rng.randint(0, 9)] = (
            rng.randbytes(rng.randint(0, 3)),
            octets[at : at + rng.randint(1, 30)] * 2,
            b"\0\xde\xad\xbe\xef\xff"[rng.randrange(6) :],
        )[rng.randrange(3)]
        octets = octets or bytearray(b"\0")
    return bytes(octets), first


def cut(framing: Framing, pieces: list[bytes]) -> tuple[list[bytes], str, int]:
    """The packets that come out, why no more does, and how many octets are left."""
    cutter, found = Cut(framing), []
    try:
        for piece in pieces:
            found += cutter.take(piece)
    except OutOfStep as why:
        return found, str(why), 0
    return found, "", len(cutter.held)


def fuzz(framing: Framing, count: int) -> Counter[str]:
    """What a changed stream gives depends on its octets alone, not on the pieces that they come in, and all packets
    before the first change come whole."""
    packets, told = PACKETS[:6], Counter[str]()
    ends = [len(b"".join(framed(packet, framing) for packet in packets[: n + 1])) for n in range(len(packets))]
    good = b"".join(framed(packet, framing) for packet in packets)
    for seed in range(count):
        rng = random.Random(seed)  # noqa: S311
        stream, first = changed(good, rng)
        whole = cut(framing, [stream])
        size = rng.randint(1, 40)
        told[re.sub(r"\d.*| with [\da-f]*$", "", whole[1]) or "read to its end"] += 1
        told["packets"] += len(whole[0])
        before = sum(end <= first for end in ends)
        assert whole[0][:before] == packets[:before], seed
        in_pieces = cut(framing, [stream[at : at + size] for at in range(0, len(stream), size)])
        assert in_pieces[0] == whole[0], seed
        assert in_pieces[2] == whole[2], seed
    return told


@pytest.mark.parametrize("framing", STREAMS)
def test_any_octets_are_cut_or_refused(framing: Framing) -> None:
    told = fuzz(framing, 500)
    assert told["packets"] > 500, "the cutter is not reached"
    assert told["read to its end"] > 10


@pytest.mark.manual  # `make fuzz-dictionaries`: two or three minutes of processor each
@pytest.mark.parametrize("framing", STREAMS)
def test_a_million_changed_streams(framing: Framing) -> None:
    print(framing, dict(fuzz(framing, 1_000_000)))
