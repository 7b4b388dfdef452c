from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidParameter
from mahrem.metrics import cell_losses
from mahrem.recode import Nodes, Prefixes, Recoding, Sets, Whole
from mahrem.table import Axis, Cells, Column, Hierarchy, Kind, Numbers, Prefix, Role, encode_quasi, read_cell

TREE = Hierarchy.from_rows(
    [("cold", "lung"), ("flu", "lung"), ("gout", "joint"), ("knee", "joint"), ("rash", "skin")]
)


def shown(
    values: list[str | None],
    labels: list[int],
    recoding: Recoding,
    kind: Kind = Kind.CATEGORICAL,
    **more: object,
) -> Cells:
    column = Column(name="x", role=Role.QUASI, kind=kind, **more)  # type: ignore[arg-type]
    return recoding(
        encode_quasi(pl.Series("x", values, dtype=pl.String), column), np.array(labels), max(labels) + 1
    )


def test_a_set_holds_exactly_the_values_of_its_class() -> None:
    cells = shown(["a", "c", "a", "b", "d"], [0, 0, 0, 1, 2], Sets())
    assert cells.text.to_list() == ["{a, c}", "b", "d"]
    assert cell_losses(cells).ncp.tolist() == [0.5, 0, 0]
    assert cell_losses(cells).iloss.tolist() == [0.25, 0, 0]
    assert cell_losses(cells).exact.tolist() == [False, True, True]
    assert cells.low is None


def test_all_values_together_say_nothing() -> None:
    cells = shown(["a", "b", "a"], [0, 0, 1], Sets())
    assert cells.text.to_list() == ["*", "a"]
    assert cell_losses(cells).ncp.tolist() == [1, 0]
    assert cells.suppressed.tolist() == [True, False]


def test_missing_is_a_member_of_a_set() -> None:
    cells = shown(["a", None, "b", None, "c"], [0, 0, 1, 2, 1], Sets())
    assert cells.text.to_list() == ["{a, }", "{b, c}", None]
    assert cell_losses(cells).ncp.tolist() == [0.5, 0.5, 0]


def test_members_are_quoted_where_they_must() -> None:
    assert shown(["a,b", "c", "d"], [0, 0, 1], Sets()).text[0] == '{"a,b", c}'
    assert shown(["*", "c"], [0, 1], Sets()).text[0] == '"*"'


def test_ordinals_show_the_run_between_their_ends() -> None:
    order = ("none", "low", "mid", "high", "full")
    cells = shown(["low", "high", "none", None], [0, 0, 1, 0], Sets(), Kind.ORDINAL, order=order)
    assert cells.text.to_list() == ["{low, mid, high, }", "none"]
    assert cell_losses(cells).ncp.tolist() == [4 / 5, 0]


def test_nodes_are_the_lowest_over_the_class() -> None:
    cells = shown(["cold", "flu", "gout", "rash", "knee"], [0, 0, 1, 2, 2], Nodes(), hierarchy=TREE)
    assert cells.text.to_list() == ["lung", "gout", "*"]
    losses = cell_losses(cells, TREE)
    assert losses.ncp.tolist() == [2 / 5, 0, 1]
    assert losses.iloss.tolist() == [1 / 5, 0, 1]
    assert losses.exact.tolist() == [False, True, False]


def test_codes_show_their_common_beginning() -> None:
    cells = shown(["06100", "06130", "34000", "3", "06900"], [0, 0, 1, 1, 2], Prefixes(), Kind.CODE)
    assert cells.text.to_list() == ["061**", "3****", "06900"]
    assert cell_losses(cells).ncp.tolist() == pytest.approx([2 / 5, 4 / 5, 0])


def test_codes_that_share_nothing_say_nothing() -> None:
    assert shown(["06100", "34000"], [0, 0], Prefixes(), Kind.CODE).text.to_list() == ["*"]


def test_a_suppressed_attribute_says_nothing_at_all() -> None:
    cells = shown(["a", None], [0, 1], Whole())
    assert cells.text.to_list() == ["*", "*"]
    assert cell_losses(cells).ncp.tolist() == [1, 1]


@pytest.mark.parametrize("recoding", [Sets(), Nodes(), Prefixes()])
def test_numbers_are_no_words(recoding: Recoding) -> None:
    with pytest.raises(InvalidParameter, match="recoding="):
        recoding(Axis("x", np.zeros(1), Numbers(0, 0, whole=True)), np.zeros(1, np.int64), 1)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.text("01é𝄞", max_size=5), min_size=1, max_size=20), st.data())
def test_beginnings_are_as_long_as_can_be_and_lose_what_they_hide(
    codes: list[str], data: st.DataObject
) -> None:
    labels = data.draw(st.lists(st.integers(0, 2), min_size=len(codes), max_size=len(codes)))
    cells = shown(list(codes), labels, Prefixes(), Kind.CODE)
    for label in set(labels):
        mine = [code for code, where in zip(codes, labels, strict=True) if where == label]
        shared = next(
            i for i in range(6, -1, -1) if len({code[:i] for code in mine}) == 1 and i <= min(map(len, mine))
        )
        cell = read_cell(cells.text[label])
        if len(set(mine)) > 1 and shared:
            assert cell == Prefix(mine[0][:shared], max(map(len, codes)))
            hidden = 1 - shared / max(map(len, codes))
            assert cell_losses(cells).ncp[label] == pytest.approx(hidden)
