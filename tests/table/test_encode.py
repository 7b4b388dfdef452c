from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidInput
from mahrem.table import (
    Column,
    Hierarchy,
    Kind,
    Leaves,
    Moments,
    Numbers,
    Role,
    Words,
    encode_quasi,
    encode_sensitive,
)
from mahrem.table.columns._sensitive import fold_alike, fold_spellings

TREE = Hierarchy.from_rows([("cold", "lung", "*"), ("gout", "joint", "*"), ("flu", "lung", "*")])


def column(kind: Kind, **more: object) -> Column:
    return Column(name="x", role=Role.QUASI, kind=kind, **more)  # type: ignore[arg-type]


def places(series: pl.Series, kind: Kind, **more: object) -> list[float | None]:
    positions = encode_quasi(series, column(kind, **more)).positions
    return [None if np.isnan(place) else place for place in positions.tolist()]


def test_numbers_lie_where_they_are() -> None:
    axis = encode_quasi(pl.Series([" 7", None, "-2"]), column(Kind.NUMERIC))
    assert axis.domain == Numbers(-2, 7, whole=True)
    assert places(pl.Series([" 7", None, "-2"]), Kind.NUMERIC) == [7, None, -2]
    assert encode_quasi(pl.Series([0.5]), column(Kind.NUMERIC)).domain == Numbers(0.5, 0.5, whole=False)
    assert encode_quasi(pl.Series([1e300]), column(Kind.NUMERIC)).domain == Numbers(1e300, 1e300, whole=False)


def test_a_decimal_comma_is_read_where_it_is_said() -> None:
    axis = encode_quasi(pl.Series(["1,5", "2"]), column(Kind.NUMERIC), decimal=",")
    assert axis.positions.tolist() == [1.5, 2]


def test_a_column_of_nothing_but_missing_values_works() -> None:
    for kind in (Kind.NUMERIC, Kind.DATE, Kind.CATEGORICAL, Kind.CODE):
        for dtype in (pl.String, pl.Null):
            assert places(pl.Series([None, None], dtype=dtype), kind) == [None, None]
            assert encode_sensitive(pl.Series([None], dtype=dtype), column(kind)).size == 1


def test_days_count_from_1970_and_moments_in_microseconds() -> None:
    days = encode_quasi(pl.Series(["1970-01-02", "1969-12-31"]), column(Kind.DATE))
    assert days.positions.tolist() == [1, -1]
    assert days.domain == Moments(-1, 1, "D")
    typed = pl.Series([datetime(1970, 1, 1, 3, tzinfo=UTC)]).dt.convert_time_zone("Europe/Istanbul")
    zoned = encode_quasi(typed, column(Kind.DATE))
    assert zoned.positions.tolist() == [3 * 3600e6]  # the instant, whatever the clock shows
    assert zoned.domain == Moments(3 * 3600e6, 3 * 3600e6, "us", "Europe/Istanbul")
    assert places(pl.Series([date(1970, 1, 3)]), Kind.DATE) == [2]


def test_moments_whose_microseconds_would_blur_are_refused() -> None:
    with pytest.raises(InvalidInput, match="1 moments lie too far from 1970"):
        encode_quasi(pl.Series(["9999-12-31T23:59:59.999999"]), column(Kind.DATE))
    assert places(pl.Series(["9999-12-31T23:59:59"]), Kind.DATE) == [253402300799e6]


def test_words_are_sorted_as_text_and_ordinals_as_declared() -> None:
    text = pl.Series(["low", None, "high", "mid"])
    assert places(text, Kind.CATEGORICAL) == [1, None, 0, 2]
    assert places(text, Kind.ORDINAL, order=("low", "mid", "high")) == [0, None, 2, 1]
    assert places(text.cast(pl.Categorical), Kind.CATEGORICAL) == [1, None, 0, 2]
    assert encode_quasi(text, column(Kind.CODE)).domain == Words(("high", "low", "mid"), prefixes=True)


def test_whole_floats_beside_missing_values_are_words_without_a_point() -> None:
    axis = encode_quasi(pl.Series([2.0, None, 1.0]), column(Kind.CATEGORICAL))
    assert axis.domain == Words(("1", "2"))
    assert places(pl.Series([True, False]), Kind.CATEGORICAL) == [1, 0]


def test_a_hierarchy_places_values_along_its_tree() -> None:
    axis = encode_quasi(pl.Series(["gout", "flu", None]), column(Kind.CATEGORICAL, hierarchy=TREE))
    assert isinstance(axis.domain, Leaves)
    assert axis.positions.tolist()[:2] == [2, 1]
    assert np.isnan(axis.positions[2])
    ages = Hierarchy.from_rows([("7", "young"), ("70", "old")])
    assert places(pl.Series([70.0, None, 7.0]), Kind.NUMERIC, hierarchy=ages) == [1, None, 0]


@pytest.mark.parametrize(
    ("series", "settings_", "message"),
    [
        (
            ["7", "secret", "8"],
            {"kind": Kind.NUMERIC},
            "not numeric: 1 of 3 values cannot be read as numbers",
        ),
        ([True], {"kind": Kind.NUMERIC}, "not numeric: 1 of 1"),
        ([7], {"kind": Kind.DATE}, "not a date: 1 of 1"),
        (["secret", "2024-01-01"], {"kind": Kind.DATE}, "not a date: 1 of 2"),
        (["1", "inf", "nan"], {"kind": Kind.NUMERIC}, "2 values are not finite"),
        ([1.0, float("nan")], {"kind": Kind.NUMERIC}, "1 values are not finite"),
        ([2**53 + 1, 1], {"kind": Kind.NUMERIC}, r"1 whole numbers reach 2\*\*53"),
        ([str(2**60), "1e300"], {"kind": Kind.NUMERIC}, r"1 whole numbers reach 2\*\*53"),
        (["secret", "a"], {"kind": Kind.ORDINAL, "order": ("a",)}, "1 of 2 values are not in its order"),
        (["a"], {"kind": Kind.ORDINAL}, "need an order"),
        (["a"], {"kind": Kind.ORDINAL, "order": ("a", "a")}, "names a value twice"),
        (["secret"], {"kind": Kind.CATEGORICAL, "hierarchy": TREE}, "1 of 1 values"),
        ([["secret"]], {"kind": Kind.CATEGORICAL}, "needs text, numbers or dates"),
    ],
)
def test_what_does_not_fit_is_counted_and_not_shown(
    series: list[object], settings_: dict[str, object], message: str
) -> None:
    for encode in (encode_quasi, encode_sensitive):
        with pytest.raises(InvalidInput, match=message) as caught:
            encode(pl.Series("x", series), column(**settings_))  # type: ignore[arg-type]
        assert "secret" not in str(caught.value)


def test_sensitive_values_are_numbered_in_their_own_order() -> None:
    values = encode_sensitive(pl.Series([10, None, 9, 10]), column(Kind.NUMERIC))
    assert (values.codes.tolist(), values.size, values.codes.dtype) == ([1, 2, 0, 1], 3, np.int32)
    assert encode_sensitive(pl.Series(["10", "9"]), column(Kind.CATEGORICAL)).codes.tolist() == [0, 1]
    ordinal = encode_sensitive(pl.Series(["c", None, "b"]), column(Kind.ORDINAL, order=("c", "b", "a")))
    assert (ordinal.codes.tolist(), ordinal.size) == ([0, 3, 1], 4)
    assert encode_sensitive(pl.Series(["2.1.2024", "1.2.2024"]), column(Kind.DATE)).codes.tolist() == [0, 1]


def test_missing_has_its_own_branch_in_a_hierarchy() -> None:
    values = encode_sensitive(pl.Series(["gout", None, "cold"]), column(Kind.CATEGORICAL, hierarchy=TREE))
    assert values.codes.tolist() == [1, 2, 0]
    assert values.size == 3
    assert values.ancestors is not None
    assert values.ancestors.tolist() == [[0, 2, 3], [0, 1, 2], [0, 0, 0]]


def test_a_hierarchy_without_missing_values_has_its_leaves_only() -> None:
    values = encode_sensitive(pl.Series(["gout", "cold"]), column(Kind.CATEGORICAL, hierarchy=TREE))
    assert values.codes.tolist() == [1, 0]
    assert values.ancestors is not None
    assert values.ancestors.tolist() == [[0, 2], [0, 1], [0, 0]]


def test_times_and_durations_are_words() -> None:
    assert places(pl.Series([time(12), None, time(9)]), Kind.CATEGORICAL) == [1, None, 0]
    assert places(pl.Series([timedelta(1), timedelta(1)]), Kind.CATEGORICAL) == [0, 0]


def test_scaled_positions_lie_between_zero_and_one_also_where_widths_overflow() -> None:
    for values in ([-1.7e308, 0.0, 1.7e308, None], [1, 2, 3, None]):
        scaled = encode_quasi(pl.Series(values), column(Kind.NUMERIC)).scaled()
        assert scaled.tolist() == [0, 0.5, 1, -1]
    assert encode_quasi(pl.Series([5, None]), column(Kind.NUMERIC)).scaled().tolist() == [0, -1]


def test_nothing_of_the_data_is_printed() -> None:
    assert "31" not in repr(encode_quasi(pl.Series([31]), column(Kind.NUMERIC)))
    assert "secret" not in repr(encode_quasi(pl.Series(["secret"]), column(Kind.CATEGORICAL)))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.none() | st.text(max_size=3), min_size=1, max_size=30),
    st.sampled_from([Kind.CATEGORICAL, Kind.CODE]),
)
def test_equal_words_and_only_they_share_a_place(words: list[str | None], kind: Kind) -> None:
    axis = encode_quasi(pl.Series(words, dtype=pl.String), column(kind))
    assert isinstance(axis.domain, Words)
    assert list(axis.domain.labels) == sorted({word for word in words if word is not None})
    for word, place in zip(words, axis.positions, strict=True):
        assert np.isnan(place) if word is None else axis.domain.labels[int(place)] == word


@settings(max_examples=60, deadline=None)
@given(st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_codes_of_numbers_are_their_ranks(numbers: list[float | None]) -> None:
    values = encode_sensitive(pl.Series(numbers, dtype=pl.Float64), column(Kind.NUMERIC))
    distinct = sorted({number for number in numbers if number is not None})
    expected = [len(distinct) if number is None else distinct.index(number) for number in numbers]
    assert values.codes.tolist() == expected
    assert values.size == len(set(expected))


LETTERS = st.text(st.characters(codec="ascii", categories=["Ll"]), min_size=1, max_size=6)
SIGNS = st.sampled_from(["+", "-", " +", "  -", " + "])


@given(
    LETTERS,
    SIGNS,
    st.integers(1, 99),
    st.integers(0, 99),
    st.sampled_from(".,-/_ "),
    st.sampled_from(["", " "]),
)
def test_a_sign_behind_a_word_is_one_value_with_or_without_a_blank_and_figures_stay_apart(
    word: str, sign: str, first: int, second: int, between: str, blank: str
) -> None:
    def may_be_one(*cells: str) -> bool:
        return fold_alike(fold_spellings(pl.Series(cells))).n_unique() == 1

    assert may_be_one(f"{word}{sign.strip()}", f"{word}{sign}")
    assert not may_be_one(f"{word}+", f"{word} -")
    code = f"{word}{blank}{first}"
    disease = between == "." and re.fullmatch("[a-z][0-9]{2}", code) is not None  # J45.0 is J450
    assert may_be_one(f"{code}{between}{second}", f"{code}{second}") == disease
    assert may_be_one(f"{word}{between.strip() or ' '}{first}", f"{word}{first}")


@given(st.times(), st.integers(0, 99), st.integers(0, 99), st.sampled_from([",", "-", "/", "\u2044"]))
def test_a_clock_is_one_with_and_without_seconds_and_figures_with_and_without_blanks(
    clock: time, first: int, second: int, between: str
) -> None:
    def may_be_one(*cells: str) -> bool:
        return fold_alike(fold_spellings(pl.Series(cells))).n_unique() == 1

    short, whole = f"{clock:%H:%M}", f"{clock:%H:%M:%S}"
    assert may_be_one(short, whole) == (clock.second == 0)
    assert may_be_one(whole, f"{whole}.000")
    assert may_be_one(short, short.removeprefix("0"))
    assert not may_be_one(short, f"{(clock.hour + 1) % 24:02}:{clock:%M}")
    assert may_be_one(f"[{first}, {second}]", f"[{first},{second}]")
    assert may_be_one(f"{first}{between}{second}", f"{first} {between} {second}")
    assert not may_be_one(f"{first}{between}{second}", f"{first}{second}")
    assert may_be_one("\u00bd", "1/2", "1\u22152")
