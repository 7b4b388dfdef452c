"""Files of text whose classes are written once: byte for byte what writing the whole table gives."""

from __future__ import annotations

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.drafts import _woven_file, draft, prepare, write_draft
from mahrem.errors import Infeasible, InvalidInput, InvalidParameter
from mahrem.release.decisions import policy_from
from mahrem.table.writing import write_table
from strategies import tables

SETTINGS = st.fixed_dictionaries(
    {
        "quasi": st.sampled_from(
            [["age", "born", "town", "zip"], ["born", "zip"], ["town"], ["age", "zip"], ["age", "town"]]
        ),
        "k": st.integers(1, 4),
        "format": st.sampled_from(["csv", "tsv"]),
        "cells": st.sampled_from(["text", "pairs", "midpoint"]),
        "missing": st.sampled_from(["suppress", "category", "drop"]),
        "shuffle": st.booleans(),
    }
)


@pytest.fixture(autouse=True)
def _always_woven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_woven_file, "_WORTH", 0)
    monkeypatch.setattr(_woven_file, "_ROWS", 7)


def both_ways(table: pl.DataFrame, asked: dict[str, object]) -> tuple[bytes, bytes] | None:
    """Write a draft as pieces and as one table; None where nothing can be published."""
    asked = {**asked, "sensitive": "illness", "rest": "insensitive", "suppression_limit": 1.0}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            policy = policy_from(None, asked, whole=True)
            new = draft(prepare(table, policy, to_publish=False), policy)
    except (Infeasible, InvalidInput):
        return None
    with TemporaryDirectory() as folder:
        pieces, whole = Path(folder, "pieces"), Path(folder, "whole")
        shown, order = new.table_for_file()
        write_table(shown, whole, policy.format)
        woven = write_draft(new, pieces)
        assert (order is None) == (woven is None)
        assert order is None or (order == woven).all()
        return pieces.read_bytes(), whole.read_bytes()


@settings(max_examples=60, deadline=None)
@given(tables(least=8, most=30), SETTINGS)
def test_pieces_give_the_same_bytes(table: pl.DataFrame, asked: dict[str, object]) -> None:
    found = both_ways(table, asked)
    assert found is None or found[0] == found[1]


@pytest.mark.parametrize("cells", ["text", "pairs"])
@pytest.mark.parametrize("missing", ["suppress", "category"])
def test_names_and_cells_that_need_quotes_or_run_as_formulas(cells: str, missing: str) -> None:
    table = pl.DataFrame(
        {
            "=note": ["=1+1", "a,b", 'q"q', "n\nl"] * 5,
            "age": [None, *range(18, 37)],
            "illness": ["flu", "gout"] * 10,
            "town, or so": ["x", "-y", "", "z"] * 5,
        }
    )
    found = both_ways(
        table, {"quasi": ["age", "town, or so"], "k": 2, "cells": cells, "missing": missing, "format": "csv"}
    )
    assert found is not None
    assert found[0] == found[1]
    assert found[0].startswith(b"'=note,age")


def test_a_nul_in_a_cell_is_refused(tmp_path: Path) -> None:
    table = pl.DataFrame({"age": [1, 2, 3, 4], "illness": ["flu"] * 4, "note": ["a", "b\0", "c", "d"]})
    asked = {"quasi": "age", "sensitive": "illness", "rest": "insensitive", "k": 2}
    policy = policy_from(None, asked, whole=True)
    new = draft(prepare(table, policy, to_publish=False), policy)
    with pytest.raises(InvalidParameter, match="NUL"):
        write_draft(new, tmp_path / "data.csv")
    assert not list(tmp_path.iterdir())
