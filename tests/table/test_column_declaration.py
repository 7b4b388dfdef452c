"""One declaration of a column, however it is said: by a caller, in JSON, on a command line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mahrem.errors import InvalidParameter
from mahrem.table import ColumnDeclaration, read_declarations, typed_declarations

ends = st.floats(-1e9, 1e9, allow_subnormal=False)
values = st.lists(st.text(st.characters(blacklist_characters="\0"), min_size=1), min_size=1, unique=True)


@st.composite
def declarations(draw: st.DrawFn) -> ColumnDeclaration:
    categories = draw(st.none() | values.map(tuple))
    low, high = sorted((draw(ends), draw(ends)))
    if draw(st.booleans()) or high - low < 1:
        return ColumnDeclaration(categories=categories)
    missing = draw(st.none() | st.floats(low, high))
    return ColumnDeclaration(lower=low, upper=high, missing=missing, categories=categories)


@given(declarations())
def test_what_was_written_is_read_back(declaration: ColumnDeclaration) -> None:
    assert ColumnDeclaration.from_dict(declaration.as_dict()) == declaration


@given(declarations())
def test_the_kind_is_the_way_cells_are_read(declaration: ColumnDeclaration) -> None:
    assert (declaration.kind == "category") == (declaration.categories is not None)
    assert (declaration.kind is None) == (declaration.categories is None and not declaration.bounded)


def test_a_command_line_says_the_same_as_a_caller() -> None:
    typed = typed_declarations(["cost=0:10000"], ["cost=5"], ["sex=f, m"])
    said = {"cost": {"lower": 0, "upper": 10_000, "missing": 5}, "sex": {"categories": ["f", "m"]}}
    assert read_declarations(typed) == read_declarations(said)
    assert read_declarations(said)["sex"].categories == ("f", "m")  # in their order


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"lower": 0}, "both ends"),
        ({"lower": 1, "upper": 1}, "below"),
        ({"lower": 0, "upper": float("nan")}, "finite"),
        ({"lower": 0, "upper": 1e60}, "within"),
        ({"missing": 3}, "needs bounds"),
        ({"lower": 0, "upper": 1, "missing": 3}, "missing"),
        ({"categories": "abc"}, "list"),
        ({"categories": []}, "at least one"),
        ({"categories": ["a", "a"]}, "different"),
        ({"kind": "number"}, "kind"),
    ],
)
def test_a_refusal_names_the_column_and_what_must_hold(said: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidParameter, match=reason) as refused:
        read_declarations({"cost": said})
    assert "cost" in str(refused.value)


@pytest.mark.parametrize("text", ["cost=5", "cost", "=0:1", "cost=a:b"])
def test_bounds_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(InvalidParameter, match="bounds"):
        typed_declarations(bounds=[text])
