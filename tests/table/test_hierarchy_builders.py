from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidInput, InvalidParameter
from mahrem.table import (
    Axis,
    Column,
    Exact,
    Hierarchy,
    Kind,
    Leaves,
    Members,
    Moments,
    Numbers,
    Prefix,
    Range,
    Role,
    Suppressed,
    Words,
    encode_quasi,
    read_cell,
)
from mahrem.table.cells import moments_of_text
from mahrem.table.columns import plain_hierarchy, with_default_hierarchy
from mahrem.table.columns._default_hierarchy import default_hierarchy
from mahrem.table.hierarchies import (
    cut_hierarchy,
    date_hierarchy,
    group_hierarchy,
    hierarchy_facts,
    interval_hierarchy,
    learn_hierarchy,
    mask_hierarchy,
    prefix_hierarchy,
)
from strategies import DAYS, NUMBERS, WORDS, ZIPS

FEW = settings(max_examples=40, deadline=None)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)
CODES = ZIPS | st.text('ab0*{["', min_size=1, max_size=4)


def covers(label: str, value: str) -> bool:
    """Read a label the slow way and say whether the value lies in what it names."""
    match read_cell(label):
        case Suppressed():
            return True
        case Range(low, high) if "-" in low[1:] and ":" in low + value:
            low_at, at, high_at = (
                moments_of_text(pl.Series([low, value, high])).cast(pl.Datetime("us")).to_list()
            )
            return bool(low_at <= at <= high_at)
        case Range(low, high) if "-" in low[1:] and "e-" not in low:
            first, at, last = moments_of_text(pl.Series([low, value, high])).to_list()
            return bool(first <= at <= last)
        case Range(low, high):
            return float(low) <= float(value) <= float(high)
        case Members(members):
            return value in members
        case Prefix(beginning, length):
            return value.startswith(beginning) and len(value) <= length
        case Exact(text):
            return text == value or (is_number(text) and is_number(value) and float(text) == float(value))
    return False


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def assert_true_labels(tree: Hierarchy) -> None:
    for leaf, *labels in tree.rows():
        assert labels[-1] == "*"
        for label in labels:
            assert covers(label, leaf)
    assert hierarchy_facts(tree).misplaced == 0
    assert Hierarchy.from_rows(tree.rows()) == tree  # levels nest and no label has two parents


def test_a_number_on_a_line_begins_the_next_interval() -> None:
    tree = interval_hierarchy(pl.Series("age", [14, 15, 19, 20]), [5, 10])
    assert tree.rows() == [
        ("14", "[10, 14]", "[10, 19]", "*"),
        ("15", "[15, 19]", "[10, 19]", "*"),
        ("19", "[15, 19]", "[10, 19]", "*"),
        ("20", "[20, 24]", "[20, 29]", "*"),
    ]


def test_negative_and_decimal_numbers_have_intervals_too() -> None:
    tree = interval_hierarchy(pl.Series("x", ["-0.3", "-5", "0.1", "0.3"]), ["0.1", 1])
    assert tree.rows() == [
        ("-5", "[-5.0, -4.9]", "[-5, -4]", "*"),
        ("-0.3", "[-0.3, -0.2]", "[-1, 0]", "*"),
        ("0.1", "[0.1, 0.2]", "[0, 1]", "*"),
        ("0.3", "[0.3, 0.4]", "[0, 1]", "*"),
    ]


def test_numbers_with_a_decimal_comma_keep_their_text() -> None:
    assert interval_hierarchy(pl.Series(["1,5"]), [1], decimal=",").rows() == [("1,5", "[1, 2]", "*")]


@pytest.mark.parametrize(
    ("widths", "match"),
    [
        ([5, 7], "intervals=7 must be a multiple of 5"),
        ([10, 5], "must be a multiple"),
        ([0], "above 0"),
        (["x"], "must be a number"),
        (["nan"], "finite"),
        ([], "at least one level"),
        ([1e-9], "too narrow"),
    ],
)
def test_widths_that_do_not_nest_are_refused(widths: list[float | str], match: str) -> None:
    with pytest.raises(InvalidParameter, match=match):
        interval_hierarchy(pl.Series([10**12]), widths)


def test_words_have_no_intervals_and_are_not_shown() -> None:
    with pytest.raises(InvalidInput, match="1 of 2 distinct values are not finite numbers") as caught:
        interval_hierarchy(pl.Series("age", ["secret", "3"]), [5])
    assert "secret" not in str(caught.value)


def test_cuts_open_at_both_ends() -> None:
    tree = cut_hierarchy(pl.Series([-100, 17, 18, 64, 65]), [[18, 30, 65], [65]])
    assert [row[1:] for row in tree.rows()] == [
        ("[-inf, 17]", "[-inf, 64]", "*"),
        ("[-inf, 17]", "[-inf, 64]", "*"),
        ("[18, 29]", "[-inf, 64]", "*"),
        ("[30, 64]", "[-inf, 64]", "*"),
        ("[65, inf]", "[65, inf]", "*"),
    ]


@pytest.mark.parametrize(
    ("cuts", "match"),
    [
        ([[30, 18]], "ascend"),
        ([[18, 30], [20]], "some of the cuts"),
        ([[18], [18]], "not all"),
        ([[]], "one level"),
    ],
)
def test_cuts_that_do_not_nest_are_refused(cuts: list[list[float | str]], match: str) -> None:
    with pytest.raises(InvalidParameter, match=match):
        cut_hierarchy(pl.Series([1]), cuts)


def test_groups_are_neighbours_and_the_last_may_be_small() -> None:
    tree = group_hierarchy(["a", "b", "c", "d", "e"], [2, 4])
    assert tree.rows()[4] == ("e", "e", "e", "*")
    assert tree.rows()[1] == ("b", "{a, b}", "{a, b, c, d}", "*")


def test_groups_that_do_not_nest_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="multiple of 2"):
        group_hierarchy(["a", "b", "c"], [2, 3])
    with pytest.raises(InvalidParameter, match="at least 2"):
        group_hierarchy(["a", "b"], [1])
    with pytest.raises(InvalidInput, match="twice"):
        group_hierarchy(["a", "a "], [2])


def test_dates_climb_the_calendar() -> None:
    tree = date_hierarchy(
        pl.Series("d", ["29.02.2000", "1999-12-31"]), ["month", "quarter", "year", "decade"]
    )
    assert tree.rows() == [
        (
            "1999-12-31",
            "[1999-12-01, 1999-12-31]",
            "[1999-10-01, 1999-12-31]",
            "[1999-01-01, 1999-12-31]",
            "[1990-01-01, 1999-12-31]",
            "*",
        ),
        (
            "29.02.2000",
            "[2000-02-01, 2000-02-29]",
            "[2000-01-01, 2000-03-31]",
            "[2000-01-01, 2000-12-31]",
            "[2000-01-01, 2009-12-31]",
            "*",
        ),
    ]


def test_moments_have_days_and_the_last_second_of_one() -> None:
    moments = pl.Series("at", ["2024-01-01T23:59:59", "2024-01-02T00:00:00"]).str.to_datetime(time_unit="us")
    tree = date_hierarchy(moments, ["day", "week"])
    assert tree.rows()[0][1:] == (
        "[2024-01-01T00:00:00, 2024-01-01T23:59:59]",
        "[2024-01-01T00:00:00, 2024-01-07T23:59:59]",
        "*",
    )
    aware = moments.dt.replace_time_zone("Europe/Istanbul")
    assert date_hierarchy(aware, ["day", "week"]).rows()[0][1:] == (
        "[2024-01-01T00:00:00+03:00, 2024-01-01T23:59:59+03:00]",
        "[2024-01-01T00:00:00+03:00, 2024-01-07T23:59:59+03:00]",
        "*",
    )


@pytest.mark.parametrize("units", [["week", "month"], ["day", "week", "year"]])
def test_a_week_does_not_lie_in_one_month(units: list[str]) -> None:
    with pytest.raises(InvalidParameter, match="a week can lie in two"):
        date_hierarchy(pl.Series([date(2024, 1, 1)]), units)


def test_dates_must_climb_and_be_dates() -> None:
    with pytest.raises(InvalidParameter, match="must climb"):
        date_hierarchy(pl.Series([date(2024, 1, 1)]), ["year", "month"])
    with pytest.raises(InvalidParameter, match="must be one of"):
        date_hierarchy(pl.Series([date(2024, 1, 1)]), ["fortnight"])
    with pytest.raises(InvalidInput, match="1 of 1 distinct values are not"):
        date_hierarchy(pl.Series(["soon"]), ["month"])


def test_masks_hide_one_more_character_at_each_level() -> None:
    assert mask_hierarchy(pl.Series(["06100", "0613"])).rows() == [
        ("06100", "0610*", "061**", "06***", "0****", "*"),
        ("0613", "0613", "061**", "06***", "0****", "*"),
    ]
    assert mask_hierarchy(pl.Series(["123", "923"]), "left").rows() == [
        ("123", "*23", "**3", "*"),
        ("923", "*23", "**3", "*"),
    ]
    with pytest.raises(InvalidParameter, match="mask='up' must be one of right, left"):
        mask_hierarchy(pl.Series(["1"]), "up")


@pytest.mark.parametrize("lengths", [[2, 3], [0], [5], []])
def test_beginnings_must_shorten(lengths: list[int]) -> None:
    with pytest.raises(InvalidParameter, match="prefix"):
        prefix_hierarchy(pl.Series(["06100"]), lengths)


@FEW
@given(
    st.lists(NUMBERS, min_size=1, max_size=20),
    st.sampled_from([["0.5", 1, 10], [5, 10, 20], ["2.5"], [3, 9]]),
)
def test_every_number_lies_in_its_intervals(numbers: list[float], widths: list[float | str]) -> None:
    values = pl.Series([str(number) for number in numbers])
    assert_true_labels(interval_hierarchy(values, widths))
    assert_true_labels(cut_hierarchy(values, [[-1, "0.5", 7, 20], [7]]))


@FEW
@given(st.lists(CODES, min_size=1, max_size=12))
def test_every_code_has_the_beginnings_it_is_shown_with(codes: list[str]) -> None:
    assert_true_labels(mask_hierarchy(pl.Series(codes)))
    tree = mask_hierarchy(pl.Series(codes), "left")
    longest = max(map(len, tree.labels[0]))
    for leaf, *labels in tree.rows():
        for hidden, label in enumerate(labels[:-1], 1):
            assert read_cell(label) == Exact(
                leaf if len(leaf) <= longest - hidden else "*" * hidden + leaf[hidden - longest :]
            )


MOMENTS = st.integers(-(2**50), 2**51).map(lambda tick: EPOCH + timedelta(microseconds=tick))
AXES = (
    st.lists(st.none() | NUMBERS, min_size=1, max_size=25).map(
        lambda v: (Kind.NUMERIC, pl.Series("x", v, dtype=pl.Float64))
    ),
    st.lists(st.none() | st.integers(-(10**6), 10**6), min_size=1, max_size=25).map(
        lambda v: (Kind.NUMERIC, pl.Series("x", v, dtype=pl.Int64))
    ),
    st.lists(st.none() | DAYS, min_size=1, max_size=25).map(
        lambda v: (Kind.DATE, pl.Series("x", v, dtype=pl.Date))
    ),
    st.lists(st.none() | MOMENTS, min_size=1, max_size=15).map(
        lambda v: (Kind.DATE, pl.Series("x", v, dtype=pl.Datetime("us")))
    ),
    st.lists(st.none() | CODES, min_size=1, max_size=25).map(
        lambda v: (Kind.CODE, pl.Series("x", v, dtype=pl.String))
    ),
    st.lists(st.none() | WORDS, min_size=1, max_size=25).map(
        lambda v: (Kind.CATEGORICAL, pl.Series("x", v, dtype=pl.String))
    ),
    st.lists(st.none() | WORDS, min_size=1, max_size=25).map(
        lambda v: (Kind.ORDINAL, pl.Series("x", v, dtype=pl.String))
    ),
)


def column_of(kind: Kind, values: pl.Series) -> Column:
    order = tuple(values.unique(maintain_order=True).drop_nulls()) if kind is Kind.ORDINAL else None
    return Column(name="x", role=Role.QUASI, kind=kind, order=order or (("none",) if order == () else None))


@settings(max_examples=50, deadline=None)
@given(st.one_of(*AXES))
def test_a_default_hierarchy_is_a_tree_of_true_labels(case: tuple[Kind, pl.Series]) -> None:
    kind, values = case
    axis = encode_quasi(values, column_of(kind, values))
    tree = default_hierarchy(axis)
    assert_true_labels(tree)
    laid = with_default_hierarchy(axis)
    assert laid.domain == Leaves(tree)
    assert np.array_equal(np.isnan(laid.positions), np.isnan(axis.positions))
    known = ~np.isnan(axis.positions)
    assert np.array_equal(
        np.sign(np.diff(laid.positions[known])), np.sign(np.diff(axis.positions[known]))
    ) or kind in {
        Kind.CATEGORICAL,
        Kind.CODE,
        Kind.ORDINAL,
    }
    if known.any():
        again = plain_hierarchy(values, kind, order=column_of(kind, values).order or ())
        assert_true_labels(again)
        assert again.labels[1:] == tree.labels[1:]
        assert (again.codes(encoded_text(values)) >= 0).sum() == known.sum()


def encoded_text(values: pl.Series) -> pl.Series:
    return values if values.dtype != pl.Float64 else values.cast(pl.String).str.strip_suffix(".0")


def test_the_extremes_of_a_column_are_no_bounds_of_its_default_intervals() -> None:
    ages = np.array([17.0, 23.0, 51.0, 73.0, 88.0])
    tree = default_hierarchy(Axis("age", ages, Numbers(17, 88, True)))
    assert [len(level) for level in tree.labels] == [5, 5, 5, 5, 3, 1]
    bounds = {end for level in tree.labels[1:-1] for label in level for end in label.strip("[]").split(", ")}
    assert not bounds & {"17", "88"}


def test_one_value_and_no_value_have_a_tree() -> None:
    assert default_hierarchy(Axis("x", np.array([5.0, np.nan]), Numbers(5, 5, True))).rows() == [("5", "*")]
    nobody = Axis("x", np.array([np.nan]), Words(()))
    assert default_hierarchy(nobody).leaves == 1
    assert np.isnan(with_default_hierarchy(nobody).positions).all()
    assert default_hierarchy(Axis("d", np.array([3.0]), Moments(3, 3, "D"))).rows() == [("1970-01-04", "*")]


def test_a_column_with_a_hierarchy_keeps_it() -> None:
    tree = Hierarchy.from_rows([("a", "x"), ("b", "x")])
    axis = Axis("x", np.array([0.0, 1.0]), Leaves(tree))
    assert default_hierarchy(axis) is tree
    assert with_default_hierarchy(axis) is axis


@pytest.mark.parametrize(
    "values", [[1e300, -1e300, 3.0], [1e-300, 2e-300], [0.1, 0.1 + 1e-16, 5e-324], [2.0**60, 2.0**61]]
)
def test_the_widest_and_the_finest_numbers_have_true_intervals(values: list[float]) -> None:
    axis = Axis("x", np.array(values), Numbers(min(values), max(values), False))
    assert_true_labels(default_hierarchy(axis))


def test_spans_of_time_have_a_hierarchy_like_any_words() -> None:
    stay = pl.Series("stay", [timedelta(1), timedelta(3), None])
    column = {"name": "stay", "role": Role.QUASI, "kind": Kind.CATEGORICAL}
    for tree in (
        prefix_hierarchy(stay, [1]),
        learn_hierarchy(stay, pl.Series(["a", "b", "a"]), rho=[100]),
    ):
        assert [row[0] for row in tree.rows()] == ["P1D", "P3D"]
        assert hierarchy_facts(tree, stay).holds
        assert encode_quasi(stay, Column(**column, hierarchy=tree)).positions[:2].tolist() == [0.0, 1.0]


def test_lists_have_no_hierarchy() -> None:
    with pytest.raises(InvalidInput, match="needs text, numbers or dates"):
        prefix_hierarchy(pl.Series("x", [[1], [2]]), [1])
