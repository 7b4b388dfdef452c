"""The structure of a CSV is judged the same however its bytes come, and whether or not they are regular."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidInput
from mahrem.table.reading._structure import Structure

BYTES = st.lists(st.sampled_from([b",", b"a", b"\n", b"\r\n", b"a,b,c\n", b'"x,\n"', b'"']), max_size=30)


def outcome(content: bytes, size: int) -> tuple[object, ...]:
    """Give what is found out about three columns, fed so many bytes at a time."""
    structure = Structure("CSV", delimiter=44, newline=10, fields=3, line=2)
    try:
        for start in range(0, len(content), size):
            structure.feed(content[start : start + size])
        structure.finish()
    except InvalidInput as error:
        return (str(error),)
    return structure.records, structure.blank_records().tolist()


@given(BYTES, st.integers(1, 7))
@settings(max_examples=300)
def test_neither_chunks_nor_a_glance_change_what_is_said(parts: list[bytes], size: int) -> None:
    content = b"".join(parts)
    whole, in_parts = outcome(content, max(1, len(content))), outcome(content, size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Structure, "_fits", lambda *_: False)
        assert outcome(content, max(1, len(content))) == whole
        assert outcome(content, size) == in_parts
    assert in_parts == whole or len(in_parts) == len(whole) == 1  # of two faults either may be named


@given(BYTES)
@settings(max_examples=300)
def test_what_fits_is_what_python_reads(parts: list[bytes]) -> None:
    content = b"".join(parts)
    found = outcome(content, 5)
    if len(found) == 2:
        rows = list(csv.reader(io.StringIO(content.decode(), newline="")))
        assert all(len(row) == 3 for row in rows if row)
        assert len(rows) == found[0]


@given(
    st.lists(
        st.sampled_from(
            [b"a,b\n", "ç,€\n".encode(), "😀,x\n".encode(), b"\xc3,b\n", b"a,\xff\n", b"\xe2\x82"]
        )
    ),
    st.integers(1, 9),
)
def test_letters_cut_in_two_are_letters_and_other_bytes_are_refused_with_their_line(
    lines: list[bytes], size: int
) -> None:
    content = b"".join(lines)
    structure = Structure("x", delimiter=44, newline=10, fields=2, line=1, binary=False)

    def feed_all() -> None:
        for start in range(0, len(content), size):
            structure.feed(content[start : start + size])
        structure.finish()

    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
        with pytest.raises(InvalidInput, match=f"line ({line} is not UTF-8|[0-9]+ has [0-9]+ cells)"):
            feed_all()
    else:
        feed_all()
