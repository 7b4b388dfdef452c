from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidParameter
from mahrem.learning.classifiers import DeclaredEncoder, DeclaredNumbers, DeclaredWords
from mahrem.table import Hierarchy

AGE = DeclaredNumbers(lower=0, upper=100, cuts=(20, 50))
PET = DeclaredWords(values=("cat", "dog", "emu"))


def encode(cells: dict[str, list[str | None]]) -> list[list[float]]:
    agreed = {name: AGE if name == "age" else PET for name in cells}
    found = DeclaredEncoder(columns=agreed)(pl.DataFrame(cells, schema=dict.fromkeys(cells, pl.String)))
    return [[round(float(value), 4) for value in row] for row in found]


def test_an_interval_is_its_middle_and_its_share_above_each_cut() -> None:
    assert encode({"age": ["[10, 60]", "30", "*", ""]}) == [
        [-0.3, 0.0, 0.8, 0.2],
        [-0.4, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.8, 0.5],
        [0.0, 1.0, 0.0, 0.0],
    ]


def test_a_set_is_shared_among_its_members() -> None:
    assert encode({"pet": ["{cat, emu}", "dog", "", "*", "yak"]}) == [
        [0.5, 0.0, 0.5, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
        [0.3333, 0.3333, 0.3333, 0.0],
        [0.3333, 0.3333, 0.3333, 0.0],
    ]


def test_public_weights_decide_the_shares() -> None:
    weighed = DeclaredWords(values=("cat", "dog"), weights=(3, 1))
    found = DeclaredEncoder(columns={"pet": weighed})(pl.DataFrame({"pet": ["{cat, dog}"]}))
    assert found[0].round(4).tolist() == [0.75, 0.25, 0.0]


def test_a_node_of_an_agreed_tree_covers_its_leaves() -> None:
    tree = Hierarchy.from_rows([("cat", "fur", "*"), ("dog", "fur", "*"), ("emu", "wing", "*")])
    encoder = DeclaredEncoder(columns={"pet": PET}, hierarchies={"pet": tree})
    assert encoder(pl.DataFrame({"pet": ["fur"]}))[0].round(4).tolist() == [0.5, 0.5, 0.0, 0.0]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.floats(-50, 150), st.sampled_from(["cat", "dog", "emu", None])), min_size=1))
def test_width_never_depends_on_rows_and_rows_not_on_each_other(rows: list[tuple[float, str | None]]) -> None:
    encoder = DeclaredEncoder(columns={"age": AGE, "pet": PET})
    frame = pl.DataFrame(rows, schema={"age": pl.Float64, "pet": pl.String}, orient="row")
    found = encoder(frame, ())
    assert found.shape == (len(rows), encoder.width) == (len(rows), len(encoder.names))
    assert np.isfinite(found).all()
    assert np.abs(found).max() <= 1.0 + 1e-6
    assert np.array_equal(encoder(frame[-1:], ())[0], found[-1])


def test_words_that_look_like_cells_are_read_as_words_where_nothing_is_published() -> None:
    odd = DeclaredWords(values=("*", "{a, b}"))
    found = DeclaredEncoder(columns={"x": odd})(pl.DataFrame({"x": ["*", "{a, b}"]}), ())
    assert found.round(4).tolist() == [[1, 0, 0], [0, 1, 0]]


ONE_AS_NUMBERS = ("1.1", "1.10", "no", "0", "f", "NA", "2024-01-02", "2024-01-02 00:00:00")


@given(st.lists(st.sampled_from(ONE_AS_NUMBERS), min_size=1, unique=True))
def test_declared_values_are_told_apart_as_they_are_written(values: list[str]) -> None:
    agreed = DeclaredWords(values=tuple(values))
    assert agreed.named(pl.Series(values)).to_list() == values
    assert agreed.untouched(pl.Series(values)).n_unique() == len(values)
    found = DeclaredEncoder(columns={"x": agreed})(pl.DataFrame({"x": values}), ())
    assert found.tolist() == np.eye(len(values) + 1)[: len(values)].tolist()
    tree = Hierarchy.from_rows([(value, "*") for value in values])
    few = DeclaredWords(values=tuple(values[:1]))
    assert few.untouched(pl.Series(values), tree).n_unique() == len(values)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: DeclaredNumbers(lower=1, upper=1),
        lambda: DeclaredNumbers(lower=0, upper=1, cuts=(2,)),
        lambda: DeclaredNumbers(lower=0, upper=float("nan")),
        lambda: DeclaredWords(values=()),
        lambda: DeclaredWords(values=("a", "a")),
        lambda: DeclaredWords(values=("a",), weights=(0,)),
        lambda: DeclaredEncoder(columns={}),
    ],
)
def test_what_cannot_be_agreed_on_is_refused(bad: object) -> None:
    with pytest.raises(InvalidParameter):
        bad()  # type: ignore[operator]


def test_huge_numbers_are_placed_without_a_warning() -> None:
    column = DeclaredNumbers(lower=1e18, upper=9e18, cuts=(2e18, 4e18))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        block = column.block(pl.Series(["1.5e18", "3e18", "8e18"]))
    assert block[:, 2:].tolist() == [[0, 0], [1, 0], [1, 1]]
