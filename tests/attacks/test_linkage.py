"""Linkage, singling out, order, membership, composition: attacks that find people."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem as mh
from mahrem.attacks.on_releases import Composition, Linkage, Membership, Order, SinglingOut, row_numbers
from mahrem.errors import ColumnNotFound, InvalidInput, InvalidParameter
from mahrem.matching import Published, read_people, read_published
from releases import crowd, halved, ranged


def release_of(frame: pl.DataFrame, k: int, columns: tuple[str, ...] = ("age", "pay")) -> Published:
    shown = ranged(frame, list(columns), halved(frame, list(columns), k))
    return read_published(shown.drop("zip"), quasi=list(columns), sensitive=["illness"])


@given(st.integers(0, 50), st.integers(2, 9), st.sampled_from([None, 1, 2]), st.sampled_from([0.0, 0.3]))
@settings(max_examples=30, deadline=None)
def test_nobody_is_linked_with_a_chance_above_one_over_k(
    seed: int, k: int, known: int | None, noise: float
) -> None:
    frame = crowd(120, seed)
    release = release_of(frame, k)
    finding = Linkage(known=known, noise=noise, seed=seed)(release, read_people(frame, release))
    smallest = int(release.sizes.min())
    assert smallest >= k
    assert finding.details["highest"] <= 1 / smallest + 1e-12
    assert finding.details["expected"] <= 1 / smallest + 1e-12
    assert finding.details["promised"] == 1 / smallest


def test_linkage_by_hand() -> None:
    shown = pl.DataFrame({"age": ["[20, 29]"] * 2 + ["[30, 39]"] * 4, "sex": ["f", "m", "f", "f", "m", "m"]})
    release = read_published(shown, quasi=["age", "sex"])
    original = pl.DataFrame({"age": [20, 29, 30, 31, 35, 39], "sex": ["f", "m", "f", "f", "m", "m"]})
    people = read_people(original, release)
    both = Linkage()(release, people)
    assert both.details["expected"] == pytest.approx((1 + 1 + 4 * 0.5) / 6)
    assert both.baseline == pytest.approx(1 / 6)
    one = Linkage(known=1)(release, people)
    # knowing age: 2 people among 2 rows, 4 among 4; knowing sex: 3 among 3; half of the trials each
    assert 1 / 4 <= one.details["expected"] <= 1 / 2
    assert one.trials == 6


def test_wrong_knowledge_finds_fewer_people() -> None:
    frame = crowd(400, 1)
    release = release_of(frame, 4)
    people = read_people(frame, release)
    right, wrong = (Linkage(noise=noise)(release, people).details["expected"] for noise in (0.0, 0.5))
    assert wrong < 0.7 * right


def test_raw_data_link_everybody_who_stands_alone() -> None:
    frame = pl.DataFrame({"age": range(50)})
    release = read_published(frame, quasi=["age"])
    finding = Linkage()(release, read_people(frame, release))
    assert finding.rate == 1.0
    assert finding.alarming


def test_an_original_with_other_columns_and_impossible_knowledge_are_refused() -> None:
    frame = crowd(30)
    release = release_of(frame, 5)
    with pytest.raises(ColumnNotFound):
        read_people(frame.drop("pay"), release)
    with pytest.raises(InvalidParameter, match="known=3"):
        Linkage(known=3)(release, read_people(frame, release))
    with pytest.raises(InvalidParameter, match="names no column"):
        read_published(frame, quasi=[])


def test_singling_out_by_hand() -> None:
    shown = pl.DataFrame({"age": ["[1, 2]"] * 2 + ["[3, 4]"] * 2, "ill": ["flu", "gout", "flu", "flu"]})
    release = read_published(shown, quasi=["age"], sensitive=["ill"])
    original = pl.DataFrame({"age": [1, 2, 3, 4], "ill": ["flu", "gout", "flu", "flu"]})
    people = read_people(original, release)
    finding = SinglingOut()(release, people)
    assert finding.successes == 2
    weights = np.array([0.5 * 0.75, 0.5 * 0.25, 0.5 * 0.75, 0.5 * 0.75])
    assert finding.baseline == pytest.approx((4 * weights * (1 - weights) ** 3).mean())
    assert SinglingOut(sensitive=False)(release, people).successes == 0


def test_kept_order_and_a_column_of_row_numbers_are_found_and_a_shuffle_is_not() -> None:
    frame = crowd(600, 2)
    labels = halved(frame, ["age", "pay"], 5)
    shown = ranged(frame, ["age", "pay"], labels).with_row_index("index")
    order = np.random.default_rng(5).permutation(frame.height)
    people = read_people(frame, read_published(shown, quasi=["age", "pay"]))
    kept = Order()(read_published(shown.drop("index"), quasi=["age", "pay"]), people)
    assert kept.rate == 1.0
    assert kept.details["by"] == "row order"
    numbered = Order()(read_published(shown[order], quasi=["age", "pay"]), people)
    assert numbered.rate == 1.0
    assert numbered.details["by"] == "index"
    shuffled = Order()(read_published(shown[order].drop("index"), quasi=["age", "pay"]), people)
    assert shuffled.interval is not None
    assert shuffled.interval[0] <= shuffled.baseline + 0.02
    assert not list(row_numbers(shown.select("age", "pay", "zip")))


def test_row_numbers_that_begin_at_one_are_read_as_such() -> None:
    frame = pl.DataFrame({"age": [30, 40, 50, 60]})
    shown = frame.with_columns(id=pl.Series(["1", "2", "3", "4"]))[[2, 0, 3, 1]]
    release = read_published(shown, quasi=["age"])
    finding = Order()(release, read_people(frame, release))
    assert (finding.rate, finding.details["by"]) == (1.0, "id")


def test_membership_is_certain_where_a_class_holds_all_it_fits() -> None:
    population = pl.DataFrame({"age": [1, 2, 3, 4, 5, 6, 7, 8]})
    members = np.array([True, True, False, False, True, True, False, False])
    shown = pl.DataFrame({"age": ["[1, 2]", "[1, 2]", "[5, 8]", "[5, 8]"]})
    release = read_published(shown, quasi=["age"])
    finding = Membership()(release, read_people(population, release), members)
    # 1 and 2 are in for sure, 3 and 4 out for sure, the others have a chance of one half
    assert finding.successes == 2 + 2 + 2
    assert finding.baseline == 0.5
    assert finding.details["certain"] == pytest.approx(0.5)
    assert (finding.details["highest"], finding.details["lowest"]) == (1.0, 0.0)


def test_a_population_smaller_than_the_release_is_refused() -> None:
    release = read_published(pl.DataFrame({"age": ["1", "1", "2"]}), quasi=["age"])
    people = read_people(pl.DataFrame({"age": [1, 2]}), release)
    with pytest.raises(InvalidParameter, match="smaller than the release"):
        Membership()(release, people, np.array([True, True]))
    with pytest.raises(InvalidParameter, match="as many as the people"):
        Membership()(release, people, np.array([True]))


@pytest.mark.parametrize("sensitive", [["illness"], []])
def test_two_releases_of_the_same_people_drop_below_k_together(sensitive: list[str]) -> None:
    frame = crowd(400, 3)
    releases = [
        read_published(
            ranged(frame, ["age", "pay"], halved(frame, columns, 5)),
            quasi=["age", "pay"],
            sensitive=sensitive,
        )
        for columns in (["age", "pay"], ["pay", "age"])
    ]
    assert min(int(release.sizes.min()) for release in releases) >= 5
    finding = Composition(k=5)(releases[0], releases[1], read_people(frame, releases[0]))
    assert finding.baseline == 0.0
    assert finding.rate > 0.1
    assert finding.alarming
    assert finding.details["smallest"] < 5
    same = Composition(k=5)(releases[0], releases[0], read_people(frame, releases[0]))
    assert same.rate == 0.0


def test_composition_by_hand() -> None:
    first = pl.DataFrame({"age": ["[1, 2]"] * 2 + ["[3, 4]"] * 2, "ill": ["flu", "gout", "cold", "none"]})
    second = pl.DataFrame({"age": ["[1, 3]"] * 3 + ["4"], "ill": ["flu", "cold", "acne", "none"]})
    one, two = (read_published(shown, quasi=["age"], sensitive=["ill"]) for shown in (first, second))
    finding = Composition(k=2)(one, two, read_people(pl.DataFrame({"age": [1, 2, 3, 4]}), one))
    # both have flu for 1 and 2, cold for 3, none for 4: one candidate each
    assert finding.successes == 4
    assert finding.details["certain"] == 1.0
    assert finding.baseline == pytest.approx(1 / 4)


def test_people_with_several_rows_are_looked_for_once_and_found_by_any_row() -> None:
    shown = pl.DataFrame({"age": ["[1, 4]"] * 4 + ["[5, 8]"] * 2})
    release = read_published(shown, quasi=["age"])
    frame = pl.DataFrame({"age": [1, 2, 3, 4, 5, 6]})
    people = replace(read_people(frame, release), owners=np.array([0, 0, 0, 1, 2, 3]))
    finding = Linkage()(release, people)
    assert finding.trials == 4
    assert finding.details["highest"] == pytest.approx(3 / 4)  # three of four rows are one person's
    assert finding.details["expected"] == pytest.approx((3 / 4 + 1 / 4 + 1 / 2 + 1 / 2) / 4)


def test_durations_are_refused_with_what_to_do() -> None:
    shown = pl.DataFrame({"stay": ["[1, 2]", "[1, 2]"]})
    original = pl.DataFrame({"stay": [dt.timedelta(days=1), dt.timedelta(days=2)]})
    with pytest.raises(InvalidInput, match=r"stay.*durations.*write them as numbers"):
        mh.attack(shown, original=original, quasi="stay")
