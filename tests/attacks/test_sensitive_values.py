"""Homogeneity, skewness, similarity, background knowledge, minimality, downcoding, inference."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mahrem.attacks.on_releases as red
from mahrem.attacks.on_releases import (
    Downcoding,
    Homogeneity,
    Inference,
    Minimality,
    PopulationPriors,
    RuledOut,
    Similarity,
    Skewness,
)
from mahrem.attacks.on_releases._minimality import credibility
from mahrem.matching import Published, read_people, read_published
from mahrem.table import Hierarchy
from releases import crowd, halved, ranged


def shown(classes: list[list[str | None]]) -> Published:
    """A release of classes given by their sensitive values."""
    rows = [(str(number), value) for number, values in enumerate(classes) for value in values]
    return read_published(
        pl.DataFrame(rows, schema={"q": pl.String, "s": pl.String}, orient="row"),
        quasi=["q"],
        sensitive=["s"],
    )


CLASSES = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=6), min_size=1, max_size=8)


@given(CLASSES)
@settings(max_examples=40, deadline=None)
def test_homogeneity_and_ruled_out_values_are_counted_rightly(classes: list[list[str]]) -> None:
    release = shown(classes)
    total = sum(map(len, classes))
    for finding, most in ((Homogeneity()(release), 1), (RuledOut(values=2)(release), 3)):
        assert finding.successes == sum(len(values) for values in classes if len(set(values)) <= most)
        assert finding.trials == total
        assert finding.baseline == float(len({value for values in classes for value in values}) <= most)


@given(CLASSES)
@settings(max_examples=40, deadline=None)
def test_diverse_classes_are_never_homogeneous(classes: list[list[str]]) -> None:
    diverse = [[*values, "a", "b", "c"] for values in classes]
    assert Homogeneity()(shown(diverse)).successes == 0
    assert RuledOut(values=1)(shown(diverse)).successes == 0


def test_a_class_of_missing_or_hidden_values_gives_nothing_away() -> None:
    release = shown([["*", "*"], [None, None], ["a", None], ["b", "b"]])
    assert Homogeneity()(release).successes == 2


@given(CLASSES)
@settings(max_examples=40, deadline=None)
def test_skewed_rows_are_those_far_likelier_in_their_class(classes: list[list[str]]) -> None:
    table = Counter(value for values in classes for value in values)
    total = sum(table.values())
    wanted = 0
    for values in classes:
        for value, count in Counter(values).items():
            inside = count / len(values)
            wanted += count * (inside >= 2 * table[value] / total - 1e-9 and inside >= 0.5)
    assert Skewness()(shown(classes)).successes == wanted


def test_skewness_is_found_where_classes_follow_values_and_not_in_a_shuffle() -> None:
    rng = np.random.default_rng(1)
    sorted_classes = [["a"] * 4 + ["b"] for _ in range(20)] + [["b"] * 4 + ["a"] for _ in range(20)]
    sorted_classes += [["c"] * 4 + ["d"] for _ in range(20)] + [["d"] * 4 + ["c"] for _ in range(20)]
    flat = rng.permutation([value for values in sorted_classes for value in values])
    mixed = [list(part) for part in flat.reshape(-1, 5)]
    skewed, fair = Skewness()(shown(sorted_classes)), Skewness()(shown(mixed))
    assert skewed.rate == pytest.approx(0.8)
    assert skewed.alarming
    assert not fair.alarming or fair.rate < 0.5 * skewed.rate


def test_similar_numbers_and_similar_words_are_found() -> None:
    release = shown([["100", "101", "102"], ["100", "900", "500"]])
    assert Similarity(width=0.05)(release).successes == 3
    tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
    words = shown([["cold", "flu"], ["flu", "gout"]])
    assert not Similarity()(words).done
    known = read_published(words.frame, quasi=["q"], sensitive=["s"], hierarchies={"s": tree})
    assert Similarity()(known).successes == 2


def test_attacks_without_a_sensitive_column_say_so() -> None:
    release = read_published(pl.DataFrame({"q": ["1", "1"]}), quasi=["q"])
    people = read_people(pl.DataFrame({"q": [1, 1]}), release)
    for attack in (Homogeneity(), Skewness(), Similarity(), RuledOut()):
        assert "no sensitive column" in (attack(release).skipped or "")
    for attack in (Minimality(k=2), Inference()):
        assert "no sensitive column" in (attack(release, people).skipped or "")


def test_what_the_population_knows_adds_to_what_a_class_shows() -> None:
    # women of the population have a, men b; a class holds one of each
    classes = [("f", "a"), ("m", "b")] * 30
    original = pl.DataFrame(
        {"age": np.repeat(np.arange(30), 2), "sex": [sex for sex, _ in classes], "s": [s for _, s in classes]}
    )
    release = read_published(original.with_columns(sex=pl.lit("*")), quasi=["age", "sex"], sensitive=["s"])
    people = read_people(original, release)
    finding = PopulationPriors(given="sex")(release, people, original)
    assert finding.rate == 1.0
    assert finding.baseline == 1.0
    flat = original.with_columns(s=pl.Series(np.tile(["a", "a", "b", "b"], 15)))
    told = PopulationPriors(given="sex")(
        read_published(flat.with_columns(sex=pl.lit("*")), quasi=["age", "sex"], sensitive=["s"]),
        read_people(flat, release),
        flat,
    )
    assert told.rate == 1.0  # classes are homogeneous
    assert told.baseline < 0.8


@given(st.integers(2, 8), st.data(), st.integers(2, 4))
@settings(max_examples=40, deadline=None)
def test_credibility_counts_all_ways_to_deal_a_value_out(size: int, data: st.DataObject, l: int) -> None:  # noqa: E741
    times = data.draw(st.integers(0, size))
    left = data.draw(st.integers(1, size - 1))
    worlds = [
        sum(place < left for place in world)
        for world in combinations(range(size), times)
        if sum(place < left for place in world) * l > left
        or (times - sum(place < left for place in world)) * l > size - left
    ]
    found = credibility(size, times, left, l)
    if not worlds:
        assert found is None
    else:
        mean = sum(worlds) / len(worlds)
        assert found == pytest.approx((mean / left, (times - mean) / (size - left)))


def test_a_class_left_whole_for_the_sake_of_diversity_is_told_from_the_rest() -> None:
    # l = 2, k = 2: ages 1 and 11 could have been told apart, were it not that both aged 1 have the same.
    original = pl.DataFrame({"age": [1, 1, 11, 11, 11, 11], "ill": ["hiv", "hiv", "a", "b", "c", "d"]})
    release = read_published(original.with_columns(age=pl.lit("[1, 11]")), quasi=["age"], sensitive=["ill"])
    finding = Minimality(k=2, l=2)(release, read_people(original, release))
    assert (finding.successes, finding.trials) == (2, 2)
    assert finding.baseline == pytest.approx(1 / 3)
    none_left = read_published(
        original.head(3).with_columns(age=pl.lit("[1, 11]")), quasi=["age"], sensitive=["ill"]
    )
    assert not Minimality(k=2)(none_left, read_people(original.head(3), none_left)).done


def test_exact_ends_are_downcoded_and_wide_ones_are_not() -> None:
    frame = crowd(500, 4).select("age", "pay", "illness")
    labels = halved(frame, ["age", "pay"], 5)
    exact = read_published(ranged(frame, ["age", "pay"], labels), quasi=["age", "pay"])
    finding = Downcoding()(exact, read_people(frame, exact))
    assert finding.rate == 1.0
    assert finding.baseline < 1.0
    wide = pl.DataFrame({"age": ["[0, 100]"] * 500, "pay": ["[0, 100]"] * 500})
    loose = read_published(wide, quasi=["age", "pay"])
    assert Downcoding()(loose, read_people(frame, loose)).rate == 0.0


def test_a_beginning_tells_that_longer_ones_do_not_fit() -> None:
    original = pl.DataFrame({"zip": ["06100", "06200", "06300", "06300"]})
    release = read_published(pl.DataFrame({"zip": ["06***"] * 4}), quasi=["zip"])
    finding = Downcoding()(release, read_people(original, release))
    assert (finding.successes, finding.trials) == (1, 1)
    assert finding.baseline == pytest.approx(1 - (2 * 0.25**4 + 0.5**4))
    tree = Hierarchy.from_rows([["cold", "lung"], ["flu", "lung"], ["gout", "joint"]])
    words = read_published(pl.DataFrame({"ill": ["lung"] * 2}), quasi=["ill"], hierarchies={"ill": tree})
    finding = Downcoding()(words, read_people(pl.DataFrame({"ill": ["cold", "flu"]}), words))
    assert (finding.successes, finding.trials) == (1, 1)


def test_a_model_learns_what_depends_on_age() -> None:
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(2)
    age = rng.integers(20, 80, 800)
    frame = pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["f", "m"], 800),
            "ill": np.where(age < 50, "a", "b"),
        }
    )
    labels = halved(frame, ["age"], 5)
    release = read_published(ranged(frame, ["age"], labels), quasi=["age", "sex"], sensitive=["ill"])
    people = read_people(frame, release)
    finding = Inference(trees=10, trials=400)(release, people)
    assert finding.rate > 0.95
    assert finding.alarming
    strangers = read_people(frame.with_columns(sex=pl.lit("x")), release)
    world = Inference(trees=10, trials=400)(release, people, strangers)
    assert world.baseline > 0.9
    assert not world.alarming or world.rate - world.baseline < 0.1


def test_without_scikit_learn_the_model_is_left_out_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    original = pl.DataFrame({"age": [1, 2], "ill": ["a", "b"]})
    release = read_published(original, quasi=["age"], sensitive=["ill"])
    finding = Inference()(release, read_people(original, release))
    assert "scikit-learn" in (finding.skipped or "")


def test_no_finding_shows_a_value() -> None:
    frame = crowd(200, 6).with_columns(illness=pl.lit("secret-") + pl.col("illness"))
    release = read_published(
        ranged(frame, ["age", "pay"], halved(frame, ["age", "pay"], 5)),
        quasi=["age", "pay"],
        sensitive=["illness"],
    )
    people = read_people(frame, release)
    findings = [attack(release) for attack in (Homogeneity(), Skewness(), RuledOut())]
    findings += [
        attack(release, people)
        for attack in (red.Linkage(), red.SinglingOut(), red.Order(), Downcoding(), Minimality(k=5))
    ]
    assert "secret" not in "".join(str(finding.as_dict()) for finding in findings)
    assert "secret" not in repr(release)
    assert "secret" not in repr(people)
