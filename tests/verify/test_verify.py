from __future__ import annotations

import unicodedata
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.errors import InvalidParameter
from mahrem.models import (
    AlphaK,
    BasicLikeness,
    DeltaDisclosure,
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    EqualCloseness,
    KAnonymity,
    KLCloseness,
    Promise,
)
from mahrem.table import Column, Kind, Role
from mahrem.verify import Claims, published_classes, verify
from oracle import levels
from strategies import tables

ILLNESS = Column(name="illness", role=Role.SENSITIVE, kind=Kind.CATEGORICAL)
MODELS = {
    "k": KAnonymity(3),
    "distinct": DistinctDiversity(2),
    "entropy": EntropyDiversity(1.5),
    "equal": EqualCloseness(0.3),
    "kl": KLCloseness(0.5),
    "alpha": AlphaK(0.6, 2),
    "beta": BasicLikeness(2.0),
    "delta": DeltaDisclosure(1.0),
}


def check(frame: pl.DataFrame, quasi: list[str], **more: object) -> dict[str, float | None]:
    promises = [Promise(model, None if name == "k" else "illness") for name, model in MODELS.items()]
    verdict = verify(
        frame.lazy(), Claims(quasi=quasi, promises=promises, sensitive={"illness": ILLNESS}), **more
    )
    return {name: outcome.reached for name, outcome in zip(MODELS, verdict.outcomes, strict=True)}


@settings(deadline=None, max_examples=60)
@given(tables(), st.integers(0, 5), st.sets(st.sampled_from(["town", "zip", "illness"])))
def test_the_verifier_agrees_with_a_slow_oracle_in_any_number_of_passes(
    frame: pl.DataFrame, passes: int, numbered: set[str]
) -> None:
    shown = frame.select("town", "zip", "illness")
    expected = levels(shown, ["town", "zip"], "illness")
    shown = shown.with_columns(
        pl.col(name).cast(pl.Categorical(pl.Categories.random(physical=pl.UInt8))) for name in numbered
    )
    for name, reached in check(shown, ["town", "zip"], passes=passes).items():
        assert reached == pytest.approx(expected[name], abs=1e-9), name


@settings(deadline=None, max_examples=40)
@given(frame=tables(), passes=st.integers(1, 3), each=st.integers(1, 5), numbered=st.booleans())
def test_people_are_counted_alike_in_any_number_of_passes(
    *, frame: pl.DataFrame, passes: int, each: int, numbered: bool
) -> None:
    shown = frame.select("town", "zip", "illness")
    people = (np.arange(shown.height) * 7 // each % max(1, shown.height)).astype(np.int32)
    expected = check(shown, ["town", "zip"], subjects=people)
    if numbered:
        numbers = pl.Categorical(pl.Categories.random(physical=pl.UInt8))
        shown = shown.with_columns(pl.col("town", "zip").cast(numbers))
    reached = check(shown, ["town", "zip"], subjects=people, passes=passes)
    for name, level in expected.items():
        assert reached[name] == pytest.approx(level, abs=1e-9), name


@settings(deadline=None, max_examples=40)
@given(tables(), st.randoms())
def test_neither_the_order_of_rows_nor_the_names_of_columns_matter(
    frame: pl.DataFrame, random: object
) -> None:
    shown = frame.select("town", "zip", "illness")
    order = list(range(frame.height))
    random.shuffle(order)  # type: ignore[attr-defined]
    renamed = shown[order].rename({"town": "a", "zip": "b"})
    assert check(shown, ["town", "zip"]) == pytest.approx(check(renamed, ["a", "b"]))


SPELLINGS = (
    str.upper,
    str.title,
    lambda word: f" {word}\u00a0",
    lambda word: f"\u200f{word[:1]}\u200b\u00ad{word[1:]}",
    lambda word: f"{word}.",
    lambda word: f"'{word}'",
    lambda word: unicodedata.normalize("NFD", word),
    lambda word: "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in word),
    lambda word: word.replace("o", "\u043e").replace("i", "\u0456"),
)


@settings(deadline=None, max_examples=60)
@given(tables(), st.randoms(), st.integers(0, 2))
def test_no_spelling_makes_a_value_another_one(frame: pl.DataFrame, random: Random, passes: int) -> None:
    words = dict(
        zip(frame["illness"].unique().drop_nulls(), ("grippe", "café-fièvre", "so ill"), strict=False)
    )
    plain = frame.select("town", "zip", pl.col("illness").replace_strict(words, default="other"))
    spelt = [None if word is None else random.choice(SPELLINGS)(word) for word in plain["illness"].to_list()]
    empty = [random.choice((None, "", "*", " \u200b", "**", "NA")) for _ in spelt]
    respelt = [
        word if was is not None else none
        for word, was, none in zip(spelt, frame["illness"], empty, strict=True)
    ]
    plain = plain.with_columns(pl.when(frame["illness"].is_not_null()).then("illness"))
    shown = plain.with_columns(pl.Series("illness", respelt, dtype=pl.String))
    # towns without a star: rows that show nothing at all are no class
    expected = check(plain.with_columns(town=pl.lit("x")), ["town", "zip"], passes=passes)
    assert check(shown.with_columns(town=pl.lit("x")), ["town", "zip"], passes=passes) == pytest.approx(
        expected
    )


@pytest.mark.parametrize("empty", ["*", "", "  ", "\u200b", "***", "NA", "n/a", "null", "?", None])
def test_a_cell_without_a_value_is_no_second_value(empty: str | None) -> None:
    frame = pl.DataFrame({"zip": ["1"] * 4, "illness": ["hiv", "hiv", empty, empty]})
    reached = check(frame, ["zip"])
    assert reached["distinct"] == 1
    assert reached["entropy"] == pytest.approx(1)
    assert reached["alpha"] == 1


def test_joined_spellings_are_told_by_their_column_alone() -> None:
    frame = pl.DataFrame({"zip": ["1", "1", "2"], "illness": ["hiv", "HIV ", "flu"]})
    claims = Claims(
        quasi=["zip"], promises=[Promise(DistinctDiversity(2), "illness")], sensitive={"illness": ILLNESS}
    )
    verdict = verify(frame.lazy(), claims)
    assert [note.as_dict() for note in verdict.notes] == [
        {"code": "warning.spellings", "values": {"column": "illness"}}
    ]
    assert not verify(frame[1:].lazy(), claims).notes


def test_rows_with_missing_cells_are_counted_like_any_other() -> None:
    frame = pl.DataFrame({"zip": [None, "1", "1"], "illness": ["flu", "flu", "gout"]})
    verdict = verify(
        frame.lazy(),
        Claims(quasi=["zip"], promises=[Promise(KAnonymity(2), None)], sensitive={"illness": ILLNESS}),
    )
    assert not verdict.holds
    assert verdict.outcomes[0].reached == 1
    assert (verdict.outcomes[0].violating_classes, verdict.outcomes[0].violating_rows) == (1, 1)


def test_a_row_that_shows_nothing_is_suppressed_and_one_that_shows_its_illness_is_not() -> None:
    frame = pl.DataFrame({"zip": ["*", "*", "1", "1"], "illness": ["*", "flu", "flu", "gout"]})
    verdict = verify(
        frame.lazy(),
        Claims(quasi=["zip"], promises=[Promise(KAnonymity(2), None)], sensitive={"illness": ILLNESS}),
    )
    assert verdict.suppressed == 1
    assert sorted(verdict.sizes.tolist()) == [1, 2]
    assert not verdict.holds


def test_missing_words_do_not_hide_somebody_who_stands_alone() -> None:
    frame = pl.DataFrame({"zip": [None, "1", "1"], "illness": [None, "flu", "gout"]})
    claims = Claims(quasi=["zip"], promises=[Promise(KAnonymity(2), None)], sensitive={"illness": ILLNESS})
    verdict = verify(frame.lazy(), claims, suppressed=np.ones(3, np.bool_))  # any row may have been meant to
    assert verdict.suppressed == 0
    assert not verdict.holds


def test_people_are_counted_once_however_many_rows_they_have() -> None:
    frame = pl.DataFrame({"zip": ["1", "1", "1", "2", "2"]})
    promise = [Promise(KAnonymity(2), None)]
    people = np.array([7, 7, 7, 1, 2], np.int32)
    assert verify(frame.lazy(), Claims(quasi=["zip"], promises=promise)).holds
    counted = verify(frame.lazy(), Claims(quasi=["zip"], promises=promise), subjects=people)
    assert not counted.holds
    assert counted.outcomes[0].reached == 1


def test_an_empty_table_breaks_no_promise() -> None:
    frame = pl.DataFrame({"zip": pl.Series([], dtype=pl.String)})
    verdict = verify(frame.lazy(), Claims(quasi=["zip"], promises=[Promise(KAnonymity(2), None)]))
    assert verdict.holds
    assert verdict.outcomes[0].reached is None


def test_three_of_four_possible_people_give_a_presence_of_three_quarters() -> None:
    frame = pl.DataFrame({"age": ["[20, 29]"] * 3, "town": ["{a, b}"] * 3})
    everyone = pl.DataFrame({"age": [20, 24, 29, 22, 31], "town": ["a", "b", "a", "b", "a"]})
    for high, holds in ((0.75, True), (0.7, False)):
        verdict = verify(
            frame.lazy(),
            Claims(quasi=["age", "town"], promises=[Promise(DeltaPresence(0.0, high), None)]),
            population=everyone,
        )
        assert verdict.outcomes[0].reached == 0.75
        assert verdict.holds is holds


def test_presence_cannot_be_checked_without_a_population() -> None:
    frame = pl.DataFrame({"age": ["1"]})
    with pytest.raises(InvalidParameter, match="population"):
        verify(frame.lazy(), Claims(quasi=["age"], promises=[Promise(DeltaPresence(0.0, 1.0), None)]))


@settings(deadline=None, max_examples=40)
@given(tables())
def test_classes_are_exactly_the_rows_that_show_the_same(frame: pl.DataFrame) -> None:
    labels, sizes = published_classes(frame, ["town", "zip"])
    shown = frame.select("town", "zip").rows()
    assert sizes.sum() == frame.height
    assert {(row, label) for row, label in zip(shown, labels.tolist(), strict=True)} == set(
        zip(shown, labels.tolist(), strict=True)
    )
    assert len(set(shown)) == len(sizes)
    assert len({(row, label) for row, label in zip(shown, labels.tolist(), strict=True)}) == len(sizes)
