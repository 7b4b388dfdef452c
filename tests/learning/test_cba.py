from __future__ import annotations

import json
import pickle
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from mahrem.errors import ColumnNotFound, InvalidInput, InvalidParameter
from mahrem.learning.rules import (
    CBA,
    MINERS,
    CbaSettings,
    EqualWidthBins,
    QuantileBins,
    RuleList,
    SupervisedBins,
    as_cells,
    cba,
    class_rules,
    least_rows,
    pessimistic_error,
    supervised_cuts,
)
from mahrem.table import Hierarchy

SKY = pl.DataFrame({"sky": ["blue", "blue", "grey", "grey", "grey"], "wind": ["y", "n", "y", "n", "n"]})
WET = ["dry", "dry", "wet", "wet", "dry"]


@st.composite
def labelled(draw: st.DrawFn, most: int = 60) -> tuple[pl.DataFrame, list[str]]:
    """Small tables of cells with gaps and a class that leans on them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows, columns = draw(st.integers(1, most)), draw(st.integers(1, 4))
    values = rng.integers(0, draw(st.integers(1, 3)), (rows, columns))
    noise = rng.random(rows) < 0.3
    target = np.where(noise, rng.integers(0, 3, rows), values[:, 0])
    cells = pl.DataFrame(
        {
            f"c{place}": [None if rng.random() < 0.1 else f"v{value}" for value in values[:, place]]
            for place in range(columns)
        },
        schema=dict.fromkeys([f"c{place}" for place in range(columns)], pl.String),
    )
    return cells, [f"k{label}" for label in target]


def slow_cba(
    cells: pl.DataFrame, target: list[str], support: float, confidence: float, by: str, cut: str
) -> object:
    """CBA written out with sets and fractions."""
    rows = [
        frozenset(pair for pair in zip(cells.columns, row, strict=True) if pair[1]) for row in cells.rows()
    ]
    items = sorted({pair for row in rows for pair in row})
    classes = sorted(set(target))
    need = max(Fraction(1), Fraction(str(support)) * len(rows))
    rules = []
    for size in range(1, cells.width + 1):
        for left in combinations(items, size):
            hit = [label for row, label in zip(rows, target, strict=True) if set(left) <= row]
            counts = [hit.count(label) for label in classes]
            most = max(counts)
            enough = (most if by == "rule" else len(hit)) >= need
            if enough and most and Fraction(most, len(hit)) >= Fraction(str(confidence)):
                rules.append((-Fraction(most, len(hit)), -most, size, left, classes[counts.index(most)]))
    rules.sort(key=lambda rule: rule[:4])
    left_over, kept, errors = list(range(len(rows))), [], 0
    default = max(classes, key=lambda c: (target.count(c), -classes.index(c)))
    ends = [(len(target) - target.count(default), 0, default)]  # error, rules, default of each possible list
    for *_, left, label in rules:
        hit = [row for row in left_over if set(left) <= rows[row]]
        if not any(target[row] == label for row in hit):
            continue
        errors += sum(target[row] != label for row in hit)
        left_over = [row for row in left_over if row not in hit]
        kept.append((left, label))
        rest = [target[row] for row in left_over] or target
        now = max(classes, key=lambda c: (rest.count(c), -classes.index(c)))
        total = errors + (len(left_over) - [target[row] for row in left_over].count(now))
        ends.append((total, len(kept), now))
    if not kept:
        return [], default
    least = min(total for total, _, _ in ends[1:])
    if cut == "least":
        _, last, now = next(end for end in ends[1:] if end[0] == least)
    else:
        spread = Fraction(least) * (1 - Fraction(least, len(target)))
        _, last, now = next(end for end in ends if end[0] <= least or (end[0] - least) ** 2 <= spread)
    return kept[:last], now


@settings(max_examples=40, deadline=None)
@given(
    labelled(),
    st.sampled_from([0.05, 0.2, 0.5]),
    st.sampled_from([0.0, 0.5, 0.8]),
    st.sampled_from(["left", "rule"]),
    st.sampled_from(["least", "shortest"]),
)
def test_cba_is_cba_written_out_slowly_with_every_miner_and_cover(
    drawn: tuple[pl.DataFrame, list[str]],
    support: float,
    confidence: float,
    by: str,
    cut: str,
) -> None:
    cells, target = drawn
    slow = slow_cba(cells, target, support, confidence, by, cut)
    found = {
        cba(
            cells,
            target,
            CbaSettings(
                support=support,
                confidence=confidence,
                support_of=by,  # type: ignore[arg-type]
                cut=cut,  # type: ignore[arg-type]
                miner=miner,
                cover=cover,
            ),
        )
        for miner in MINERS
        for cover in ("m1", "m2")
    }
    assert len(found) == 1
    model = found.pop()
    assert ([(rule.left, rule.right) for rule in model.rules], model.default) == slow


@settings(max_examples=30, deadline=None)
@given(labelled())
def test_rules_that_are_outdone_are_never_kept(drawn: tuple[pl.DataFrame, list[str]]) -> None:
    from mahrem.arrays.mining import cover_first, eclat_sets, pack_bits
    from mahrem.learning.rules import learn_items, number_classes

    cells, target = drawn
    items, codes = learn_items(cells)
    names, classes = number_classes(pl.Series(target))
    table = pack_bits(codes, len(items), classes, len(names))
    sets, counts = eclat_sets(table, items.place, 1, cells.width)
    kept = []
    for lean in (False, True):
        ranked = class_rules(sets, counts, confidence=0.3, lean=lean)
        mask, covered = cover_first(table, ranked.left, ranked.right)
        kept.append((ranked.left[mask].tolist(), covered[mask].tolist()))
    assert kept[0] == kept[1]


def test_duplicate_rows_count_as_often_as_they_occur() -> None:
    many = pl.concat([SKY[:1]] * 9 + [SKY[2:3]])
    model = cba(many, ["dry"] * 9 + ["wet"], CbaSettings(support=0.5))
    assert model.rows == 10
    assert model.rules[0].counts == (9, 0)
    assert model.rules[0].support == 0.9


def test_no_rule_leaves_the_majority_as_default() -> None:
    model = cba(SKY, WET, CbaSettings(support=0.9))
    assert (len(model), model.default, model.rest) == (0, "dry", (3, 2))


def test_a_first_rule_that_covers_all_rows_has_the_majority_behind_it() -> None:
    model = cba(pl.DataFrame({"a": ["x"] * 4}), ["k", "k", "k", "j"], CbaSettings())
    assert [str(rule) for rule in model.rules] == ["if a = x then k  (support 0.7500, confidence 0.7500)"]
    assert model.default == "k"


def test_one_class_only_is_always_said() -> None:
    model = CBA().fit(SKY, ["dry"] * 5)
    assert model.predict(SKY).tolist() == ["dry"] * 5
    assert model.predict_proba(SKY).tolist() == [[1.0]] * 5


def test_pruning_leaves_out_a_rule_that_is_worse_than_its_part() -> None:
    sets = np.array([[0, -1], [1, -1], [0, 1]], np.int32)
    counts = np.array([[90, 10], [50, 50], [8, 3]])
    assert len(class_rules(sets, counts, confidence=0.5)) == 3
    assert class_rules(sets, counts, confidence=0.5, prune=True).left.tolist() == [[0, -1], [1, -1]]


def test_the_pessimistic_error_is_above_the_error_and_falls_with_more_rows() -> None:
    rows = np.array([4, 40, 400, 4000])
    limit = pessimistic_error(rows // 4, rows)
    assert (limit > 0.25).all()
    assert (np.diff(limit) < 0).all()
    assert np.isclose(pessimistic_error(np.array([0]), np.array([1]))[0], 0.75)


def test_a_share_of_rows_is_not_lost_to_rounding() -> None:
    assert [least_rows(0.1, rows) for rows in (10, 30, 70, 1000)] == [1, 3, 7, 100]


def test_rules_travel_as_json_and_as_pickle() -> None:
    model = CBA(support=0.1).fit(SKY, WET)
    assert RuleList.from_json(model.rules_.to_json()) == model.rules_
    assert pickle.loads(pickle.dumps(model)).predict(SKY).tolist() == model.predict(SKY).tolist()  # noqa: S301 - our own
    assert json.loads(model.rules_.to_json())["rules"][0]["if"] == [["sky", "blue"]]
    assert str(model.rules_).splitlines()[-1].strip() == f"else {model.rules_.default}"


@pytest.mark.parametrize(
    ("old", "new"), [('"support": 0.4', '"support": 4.0'), ('"then": "dry"', '"then": "?"'), ("{", "[")]
)
def test_rules_that_cannot_be_are_refused(old: str, new: str) -> None:
    text = CBA(support=0.1).fit(SKY, WET).rules_.to_json()
    assert old in text
    with pytest.raises(InvalidInput):
        RuleList.from_json(text.replace(old, new))


def test_exact_values_match_the_published_cells_they_lie_in() -> None:
    published = pl.DataFrame(
        {
            "age": ["[20, 29]", "[20, 29]", "[30, 45]", "[30, 45]"],
            "job": ["{clerk, nurse}", "{clerk, nurse}", "smith", "smith"],
            "zip": ["06***", "06***", "34***", "34***"],
        }
    )
    target = ["a", "a", "b", "b"]
    for column, inside, outside in (
        ("age", "25", "35"),
        ("job", "nurse", "smith"),
        ("zip", "06420", "34000"),
    ):
        model = CBA().fit(published.select(column), target)
        asked = pl.DataFrame({column: [inside, outside]})
        assert model.predict(asked).tolist() == ["a", "b"]
    ages = CBA().fit(published.select("age"), target)
    assert (
        ages._coded_rules.first(
            as_cells(pl.DataFrame({"age": ["[22, 25]", "[25, 40]", "*", None]}))
        ).tolist()[0]
        == 0
    )
    assert ages.predict(pl.DataFrame({"age": [20, 29, 30]})).tolist() == ["a", "a", "b"]


def test_leaves_match_the_nodes_they_hang_under() -> None:
    tree = Hierarchy.from_rows([("flu", "cold"), ("cough", "cold"), ("gout", "joints"), ("rash", "skin")])
    rows = pl.DataFrame({"illness": ["cold", "cold", "joints", "skin"]})
    model = CBA(hierarchies={"illness": tree}).fit(rows, ["x", "x", "y", "y"])
    asked = pl.DataFrame({"illness": ["flu", "gout", "cold", "unheard"]})
    assert model.predict(asked).tolist() == ["x", "y", "x", "y"]


def test_a_suppressed_cell_is_no_item() -> None:
    model = CBA(support=0.1).fit(pl.DataFrame({"a": ["*", "*", "x", "x"]}), [1, 1, 0, 0])
    assert [rule.left for rule in model.rules_.rules] == [(("a", "x"),)]


def test_cba_works_inside_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    ages = rng.integers(0, 100, (200, 2))
    target = np.where(ages[:, 0] > 40, 10, 2)
    steps = Pipeline([("bins", SupervisedBins()), ("rules", CBA(support=0.05))])
    search = GridSearchCV(steps, {"rules__support": [0.05, 0.9]}, cv=3).fit(ages, target)
    assert search.best_params_ == {"rules__support": 0.05}
    assert search.score(ages, target) > 0.95
    shares = search.predict_proba(ages)
    assert np.allclose(shares.sum(axis=1), 1.0)
    assert search.classes_[shares.argmax(axis=1)].tolist() == search.predict(ages).tolist()
    assert clone(CBA(longest=2)).get_params()["longest"] == 2


def test_pandas_and_arrays_give_the_same_model() -> None:
    frames = (SKY, SKY.to_pandas())
    assert len({CBA(support=0.1).fit(frame, WET).rules_ for frame in frames}) == 1
    assert (
        CBA(support=0.1).fit(SKY.to_numpy(), WET).predict(SKY.to_numpy()).tolist()
        == CBA(support=0.1).fit(SKY, WET).predict(SKY).tolist()
    )


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="fit first"):
        CBA().predict(SKY)
    with pytest.raises(InvalidParameter, match="support"):
        CBA(support=1.5).fit(SKY, WET)
    with pytest.raises(InvalidInput):
        CBA().fit(SKY, WET[:2])
    with pytest.raises(InvalidInput):
        CBA().fit(SKY[:0], [])
    with pytest.raises(ColumnNotFound):
        CBA(support=0.1).fit(SKY, WET).predict(SKY.drop("sky"))
    with pytest.raises(InvalidInput, match="classes missing"):
        cba(SKY, ["a", "b", None, "a", "b"], CbaSettings())  # type: ignore[list-item]
    with pytest.raises(InvalidParameter, match="no setting"):
        CBA().set_params(supprt=1)


def test_supervised_cuts_fall_where_the_class_changes() -> None:
    values = np.concatenate([np.arange(50.0), np.arange(50.0) + 100])
    assert supervised_cuts(values, (values > 60).astype(np.int64)).tolist() == [74.5]
    rng = np.random.default_rng(0)
    assert len(supervised_cuts(rng.random(300), rng.integers(0, 2, 300))) == 0


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-50, 50) | st.none(), min_size=1, max_size=60), st.integers(2, 6))
def test_every_number_has_one_bin_and_bins_follow_the_order(values: list[float | None], bins: int) -> None:
    frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64), "word": ["w"] * len(values)})
    target = [0 if (value or 0) < 0 else 1 for value in values]
    for method in (QuantileBins(bins), EqualWidthBins(bins), SupervisedBins()):
        cut = method.fit_transform(frame, target)
        assert cut["word"].to_list() == frame["word"].to_list()
        assert cut["x"].is_null().to_list() == frame["x"].is_null().to_list()
        cuts = method.cuts_["x"]
        assert (np.diff(cuts) > 0).all()
        known = frame["x"].drop_nulls().to_numpy()
        names = cut["x"].drop_nulls().to_list()
        places = np.searchsorted(cuts, known, side="right")
        assert (
            len(set(zip(places.tolist(), names, strict=True))) == len(set(places.tolist())) == len(set(names))
        )


def test_bins_refuse_what_they_cannot_cut() -> None:
    with pytest.raises(InvalidInput, match="numbers"):
        QuantileBins(columns=["sky"]).fit(SKY)
    with pytest.raises(ColumnNotFound):
        QuantileBins(columns=["rain"]).fit(SKY)
    with pytest.raises(InvalidParameter, match="classes"):
        SupervisedBins().fit(pl.DataFrame({"a": [1, 2]}))
    with pytest.raises(InvalidParameter, match="fit first"):
        EqualWidthBins().transform(SKY)


@pytest.mark.data
def test_mushroom_is_learnt_as_in_print(benchmark_data: Path) -> None:
    frame = pl.read_csv(benchmark_data / "mushroom.csv", infer_schema_length=0)
    model = CBA().fit(frame.drop("class"), frame["class"])
    assert model.score(frame.drop("class"), frame["class"]) > 0.97  # Buyuktanir 2022 prints .98


def test_a_code_with_leading_zeros_is_not_the_number() -> None:
    rows = pl.DataFrame({"zip": ["01"] * 5 + ["1"] * 5})
    model = CBA(support=0.1).fit(rows, [0] * 5 + [1] * 5)
    assert model.score(rows, [0] * 5 + [1] * 5) == 1.0
    floats = (
        CBA(support=0.1).fit(pl.DataFrame({"age": [1, 2]}), [0, 1]).predict(pl.DataFrame({"age": [1.0, 2.0]}))
    )
    assert floats.tolist() == [0, 1]


@pytest.mark.parametrize("y", [[None, "a"], [np.nan, 1.0], np.array(["a", np.nan], object), [None, None]])
def test_rows_without_a_class_are_refused(y: Any) -> None:
    with pytest.raises(InvalidInput, match="class"):
        CBA().fit([["a"], ["b"]], y)


def test_supervised_cuts_stand_many_classes() -> None:
    values = np.repeat(np.arange(1400.0), 2)
    cuts = supervised_cuts(values, np.repeat(np.arange(700), 4))
    assert (np.diff(cuts) > 0).all()


def test_chances_add_up_and_the_largest_is_the_prediction() -> None:
    rng = np.random.default_rng(4)
    cells = pl.DataFrame({name: rng.choice(["a", "b", "c"], 200) for name in ("x", "y", "z")})
    target = np.where(rng.random(200) < 0.4, rng.integers(0, 3, 200), cells["x"].rank("dense").to_numpy() - 1)
    model = CBA(support=0.05, confidence=0.3).fit(cells, target.astype(int))
    chances = model.predict_proba(cells)
    assert np.allclose(chances.sum(axis=1), 1)
    assert np.array_equal(model.classes_[chances.argmax(axis=1)], model.predict(cells))
