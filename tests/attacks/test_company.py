"""Company: people who were put into a class from afar are told from the others."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mahrem.attacks.on_releases import Company
from mahrem.matching import read_people, read_published
from mahrem.metrics import box_shrinks, take_first


def test_who_makes_a_class_wide_is_said_to_have_its_rare_value() -> None:
    original = pl.DataFrame({"age": [30, 31, 32, 60, 70, 71, 72, 40], "ill": list("aaabaaab")})
    shown = original.with_columns(age=pl.Series(["[30, 60]"] * 3 + ["[30, 60]"] + ["[65, 72]"] * 4))
    # who is 40 fits the first class only, and the second shows a value that nobody who fits it has
    release = read_published(shown, quasi=["age"], sensitive=["ill"])
    finding = Company()(release, read_people(original, release))
    assert (finding.successes, finding.trials) == (1, 2)
    assert finding.baseline == pytest.approx((2 / 5 + 0) / 2)


def test_a_word_that_nobody_else_has_makes_a_class_wide() -> None:
    original = pl.DataFrame({"job": ["cook", "cook", "cook", "judge"], "ill": list("aaab")})
    release = read_published(
        original.with_columns(job=pl.lit("{cook, judge}")), quasi=["job"], sensitive=["ill"]
    )
    finding = Company()(release, read_people(original, release))
    assert (finding.successes, finding.trials) == (1, 1)
    assert finding.baseline == pytest.approx(1 / 4)


def test_values_dealt_out_by_chance_are_not_found() -> None:
    # seed 3; an interval of 95 % is alarming by chance in at most one run of forty
    rng = np.random.default_rng(3)
    original = pl.DataFrame({"age": np.arange(600), "ill": rng.choice(["a", "b"], 600, p=[0.7, 0.3])})
    low = original["age"] // 6 * 6
    release = read_published(
        original.with_columns(age=pl.Series([f"[{one}, {one + 5}]" for one in low])),
        quasi=["age"],
        sensitive=["ill"],
    )
    finding = Company(seed=3)(release, read_people(original, release))
    assert finding.done
    assert not finding.alarming


def test_without_a_value_to_tell_apart_it_is_not_done() -> None:
    original = pl.DataFrame({"age": [1, 2], "ill": ["a", "a"]})
    release = read_published(original.with_columns(age=pl.lit("[1, 2]")), quasi=["age"], sensitive=["ill"])
    assert not Company()(release, read_people(original, release)).done
    other = read_people(original.drop("ill"), release)
    assert not Company()(release, other).done


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=20))
@settings(max_examples=60, deadline=None)
def test_a_box_shrinks_as_it_does_when_its_rows_are_looked_at(rows: list[tuple[int, int]]) -> None:
    labels, values = (np.array(one) for one in zip(*rows, strict=True))
    found = box_shrinks(values[:, None].astype(float), labels)
    shrinks = []
    for place, label in enumerate(labels):
        inside = values[labels == label].tolist()
        others = values[(labels == label) & (np.arange(len(labels)) != place)].tolist()
        width = max(inside) - min(inside)
        shrinks.append(width - (max(others) - min(others)) if others else 0)
    alone = np.bincount(labels)[labels] == 1
    assert (np.where(alone, 0, found) <= np.array(shrinks) + 1e-9).all()
    # of two who share an end neither makes the box wide
    lone = np.array([values[labels == label].tolist().count(value) == 1 for label, value in rows])
    assert found[lone & ~alone] == pytest.approx(np.array(shrinks)[lone & ~alone])
    held = np.ones(labels.max() + 1, np.int64)
    taken = take_first(found, labels, held, np.zeros(len(labels)))
    assert set(labels[taken]) == set(labels)
