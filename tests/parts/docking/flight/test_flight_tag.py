# SPDX-License-Identifier: MIT
"""The flight program's own SHA-256 and HMAC: against published vectors, and against Python's over random inputs."""

import hashlib
import hmac
import random
import subprocess
from collections.abc import Sequence

import pytest

from support.flight_programs import flight_program

# FIPS 180-4's examples (csrc.nist.gov, SHA256.pdf) and SHAVS's empty message.
DIGESTS = (
    (b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
        b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ),
)
# RFC 4231: key, data, HMAC-SHA-256; of its fifth case the first 128 bits are given.
TAGS = (
    (b"\x0b" * 20, b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    (b"Jefe", b"what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    (b"\xaa" * 20, b"\xdd" * 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
    (bytes(range(1, 26)), b"\xcd" * 50, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
    (b"\x0c" * 20, b"Test With Truncation", "a3b6167473100ee06e0c796c2955552b"),
    (
        b"\xaa" * 131,
        b"Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    ),
    (
        b"\xaa" * 131,
        b"This is a test using a larger than block-size key and a larger than block-size data. The key needs to be "
        b"hashed before being used by the HMAC algorithm.",
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
    ),
)


def told(name: str, asked: Sequence[tuple[bytes, bytes, int]]) -> list[tuple[str, str]]:
    """Of each key and data, taken up in pieces: the digest of the data, its HMAC."""
    text = "".join(f"{key.hex() or '-'} {data.hex() or '-'} {piece}\n" for key, data, piece in asked)
    done = subprocess.run([flight_program(name)], input=text, capture_output=True, text=True, check=True, timeout=120)
    lines = done.stdout.split()
    return list(zip(lines[::2], lines[1::2], strict=True))


def test_the_published_vectors_come_out() -> None:
    assert [one for one, _ in told("flight_tag", [(b"", data, 64) for data, _ in DIGESTS])] == [
        digest for _, digest in DIGESTS
    ]
    found = told("flight_tag", [(key, data, 1) for key, data, _ in TAGS])
    assert [tag[: len(right)] for (_, tag), (_, _, right) in zip(found, TAGS, strict=True)] == [one for *_, one in TAGS]


@pytest.mark.parametrize("name", ["flight_tag", "flight_tag-asan"])
def test_it_agrees_with_pythons(name: str) -> None:
    """Every length of data up to four blocks, and longer ones; keys of every length up to three; in pieces of any."""
    draw = random.Random(4231)  # noqa: S311
    asked = [(draw.randbytes(n % 193), draw.randbytes(n), draw.randint(1, 200)) for n in range(257)]
    asked += [
        (draw.randbytes(draw.randrange(200)), draw.randbytes(draw.randrange(4000)), draw.randint(1, 4000))
        for _ in range(3000)
    ]
    assert told(name, asked) == [
        (hashlib.sha256(data).hexdigest(), hmac.digest(key, data, "sha256").hex()) for key, data, _ in asked
    ]
