# SPDX-License-Identifier: MIT
"""A mail as it was sent is made plain, and each of its lines keeps its number; what is no mail stays as it is."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtqual.base.errors import BadInput
from rtqual.parts.importers.detect import detect
from rtqual.parts.importers.mail import coding, head_lines, plain

HEAD = b"Message-ID: <1@example.org>\nSubject: late\n by 3 us\nContent-Transfer-Encoding: %s\n\n"
LINE = b"T: 0 ( 4541) P:99 I:1000 C: 773124 Min:      1 Act:    6 Avg:    3 Max:   "


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (HEAD % b"quoted-printable" + b"a =3D b=\n c\nd\n", b"\n" * 6 + b"a = b c\nd\n"),
        (HEAD % b"8bit" + b"a =3D b=\n c\n", b"\n" * 5 + b"a =3D b=\n c\n"),
        (
            LINE + b"=\n53381\n" + LINE + b"=\r\n 4619\n",
            b"\n" + LINE + b"53381\n\n" + LINE + b" 4619\n",
        ),  # its head cut off
        (LINE + b"=\n53381\n=3D> f\n", b"\n" + LINE + b"53381\n=> f\n"),
        (HEAD % b"quoted-printable" + b"a=\nthe end=", b"\n" * 6 + b"athe end="),
        (b"=" * 76 + b"\nkey: 1=\n", b"=" * 76 + b"\nkey: 1=\n"),
        (b"Model name: A72\nCPU(s): 4\n\nT: 0\n", b"Model name: A72\nCPU(s): 4\n\nT: 0\n"),
    ],
)
def test_lines_are_whole_again_where_they_ended(sent: bytes, read: bytes) -> None:
    assert plain(sent) == read


@given(
    st.lists(
        st.sampled_from([b"a =3D b=", b"x" * 70 + b"=", b"", b"=", b"Received: by b", b" c", b"=3", b"=0A", b"T: 0"])
    )
)
def test_no_line_is_lost_or_added(lines: list[bytes]) -> None:
    for sent in (b"\n".join(lines), HEAD % b"quoted-printable" + b"\n".join(lines)):
        assert plain(sent).count(b"\n") == sent.count(b"\n")
        assert plain(sent).endswith(b"\n") == sent.endswith(b"\n")
        assert head_lines(sent) or coding(sent) or plain(sent) == sent


def test_a_mail_in_base64_is_told(tmp_path: Path) -> None:
    path = tmp_path / "mail"
    path.write_bytes(HEAD % b"base64" + b"VDogMCA=\n")
    with pytest.raises(BadInput, match="is a mail in base64: save its text first"):
        detect(path)
