"""Few texts are looked at by another engine than many: what is found must not depend on which."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelled_columns import labelled_columns
from mahrem.contents import _distinct, count_distinct, look_into_column
from mahrem.contents._distinct import contains

COLUMNS = list(labelled_columns(17, sizes=(40,)))
PATTERNS = [
    *(_distinct.UNTIDY, _distinct.LABEL, _distinct.DECIMAL),
    *(
        r"^[0-9]{1,2}\.",
        r"0$",
        r",[0-9]{3}\b",
        r"(?i)\bno\s*\d",
        r"(?i)is|k\b",
        r"[\s()./\-]",
        r"^(?i:na|ß)$",
        r"\W\w\D\d\S",
    ),
]
odd = st.lists(
    st.text(max_size=12) | st.text("0aA ß.\n\t,-\u0131\u0130\u017f\u212a\u0301\u00adisk", max_size=8),
    max_size=8,
)


def test_columns_hold_the_same_whichever_engine_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    for column in COLUMNS:
        told = []
        for few in (0, 10**6):
            monkeypatch.setattr(_distinct, "FEW", few)
            told.append(look_into_column(count_distinct(column.cells)))
        assert told[0] == told[1], column.kind


@pytest.mark.parametrize("pattern", PATTERNS)
@given(odd)
@settings(deadline=None, max_examples=300)
def test_a_pattern_is_found_in_the_same_texts(pattern: str, texts: list[str]) -> None:
    column = pl.Series(texts, dtype=pl.String)
    assert contains(column, pattern).tolist() == column.str.contains(pattern).to_list()
