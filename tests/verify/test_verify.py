from __future__ import annotations

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
@given(tables(), st.integers(0, 5))
def test_the_verifier_agrees_with_a_slow_oracle_in_any_number_of_passes(
    frame: pl.DataFrame, passes: int
) -> None:
    shown = frame.select("town", "zip", "illness")
    expected = levels(shown, ["town", "zip"], "illness")
    for name, reached in check(shown, ["town", "zip"], passes=passes).items():
        assert reached == pytest.approx(expected[name], abs=1e-9), name


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
