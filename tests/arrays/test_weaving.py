"""Rows put together from pieces, against joining them one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.arrays.weaving import Strand, _weave, weave

PIECES = st.lists(st.binary(max_size=9), min_size=1, max_size=5)


@pytest.fixture(autouse=True)
def _threads_for_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_weave, "_FEW", 3)


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=4), st.integers(0, 12), st.integers(0, 2**32 - 1))
def test_every_row_has_its_piece_of_every_strand(strands: list[list[bytes]], rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = [rng.integers(0, len(pieces), rows) for pieces in strands]
    woven = weave(
        [
            Strand(
                np.frombuffer(b"".join(pieces), np.uint8),
                np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])]).astype(np.int64),
                place,
            )
            for pieces, place in zip(strands, places, strict=True)
        ]
    )
    wanted = b"".join(
        pieces[place[row]] for row in range(rows) for pieces, place in zip(strands, places, strict=True)
    )
    assert woven.tobytes() == wanted
